import type { StreamResponse } from "../model/events.ts";
import type { ObservationSource } from "../model/observation.ts";
import type { Task } from "../model/task.ts";
import type { Judged, JudgeFacts, Omissions } from "./judged.ts";
import type { LeaseHolder } from "./session.ts";
import { isSurprisingTransition } from "./surprise.ts";
import type { TrackedTask } from "./track.ts";

/** How something that came in is received. */
export interface Reception extends JudgeFacts {
  readonly tracked: TrackedTask;
  readonly holder: LeaseHolder;
  readonly source: ObservationSource;
  /** Asks for the live card before anybody sees what came in. */
  readonly forceCheck: (holder: LeaseHolder, cause?: unknown) => Promise<void>;
  /** What the answer could leave out. */
  readonly omissions?: Omissions;
}

/** What became of something that came in. */
export interface Received {
  /** Whether it says something new. */
  readonly isNew: boolean;
}

/**
 * Receives a whole task: the card is judged where the task surprises, then the rules, then it is folded in and kept.
 *
 * @throws CardDriftError and LeaseUnverifiableError, and then nothing of the task was taken; LifecycleMismatchError;
 * the ledger errors.
 */
export async function receiveTask(task: Task, reception: Reception): Promise<Received> {
  const { tracked, omissions = {} } = reception;
  const judged = await judge(task, reception);
  // What speaks of the past must not undo what is known; a repeated status may still bring more of the task.
  if (judged.outcome === "late") tracked.keep(judged);
  else tracked.foldTask(task, judged, omissions);
  await tracked.commit();
  return { isNew: judged.outcome === "advance" };
}

/** Receives one event of a task's stream. Throws as {@link receiveTask} does. */
export async function receiveEvent(event: StreamResponse, reception: Reception): Promise<Received> {
  const { tracked } = reception;
  if ("message" in event) {
    tracked.progress();
    return { isNew: true };
  }
  if ("task" in event) {
    await receiveTask(event.task, reception);
    return { isNew: true };
  }
  if ("statusUpdate" in event) {
    const judged = await judge(event.statusUpdate, reception);
    const isNew = judged.outcome === "advance";
    if (isNew) {
      tracked.foldStatus(event.statusUpdate, judged);
      await tracked.commit();
    } else {
      tracked.keep(judged);
    }
    return { isNew };
  }
  const { taskId, contextId } = event.artifactUpdate;
  const { last } = tracked;
  // A piece of an artifact carries no state; only whose it is can be judged.
  if (last) tracked.judge({ ...last, taskId, ...(contextId === undefined ? {} : { contextId }) });
  tracked.foldArtifact(event.artifactUpdate);
  return { isNew: true };
}

async function judge(
  seen: Task | Extract<StreamResponse, { statusUpdate: unknown }>["statusUpdate"],
  { tracked, holder, source, forceCheck, omissions, askedAtMs, beforeSend }: Reception,
): Promise<Judged> {
  const isFullHistory = source === "get" && omissions?.history !== true;
  const observation = tracked.observe(seen, source, isFullHistory);
  if (isSurprisingTransition(tracked.last, observation)) await forceCheck(holder);
  const facts = { ...(askedAtMs === undefined ? {} : { askedAtMs }), beforeSend };
  return tracked.judge(observation, facts);
}
