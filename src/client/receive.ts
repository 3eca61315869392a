import type { Deviation } from "../model/deviation.ts";
import type { StreamResponse, TaskStatusUpdateEvent } from "../model/events.ts";
import type { Observation, ObservationSource } from "../model/observation.ts";
import type { Task } from "../model/task.ts";
import { defined } from "../util/freeze.ts";
import type { Judged, JudgeFacts, Omissions } from "./judged.ts";
import type { Feed } from "./outputs.ts";
import type { LeaseHolder, Session } from "./session.ts";
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
  /**
   * Told what became of it as soon as it is folded in, before anything else can be. What was odd about it is kept then:
   * in what was withheld it must not show, and it is written with the rest.
   */
  readonly onFolded?: (received: Received) => void;
}

/** What became of something that came in. */
export interface Received {
  /** Whether it says something new, repeats what was said, or is of no account. */
  readonly outcome: Judged["outcome"];
  /** What it shows of the task's status. */
  readonly observation?: Observation;
  /** How far in the life of the task it is, where somebody else was faster to see it. */
  readonly position?: number | undefined;
  /** Whether its stream has still to come to the end that was seen elsewhere. */
  readonly isBeforeEnd?: boolean;
}

/**
 * Receives a whole task: the card is judged where the task surprises, then the rules, then it is folded in and kept.
 *
 * @throws CardDriftError and LeaseUnverifiableError, and then nothing of the task was taken; LifecycleMismatchError;
 * the ledger errors.
 */
export async function receiveTask(task: Task, reception: Reception, feed?: Feed): Promise<void> {
  const { tracked, omissions, mark } = reception;
  const observation = await look(task, reception);
  // From the judgement to the fold nothing may come between, so there is no waiting.
  const judged = tracked.judge(observation, reception);
  // What speaks of the past must not undo what is known; a repeated status may still bring more of the task.
  if (judged.outcome === "late" || judged.outcome === "dropped") tracked.keep(judged);
  else tracked.foldTask(task, judged, { ...omissions, ...defined({ mark, feed }) });
  reception.onFolded?.({ ...judged, observation });
  await tracked.commit();
}

/** Receives one event of a task's stream. Throws as {@link receiveTask} does. */
export async function receiveEvent(event: StreamResponse, reception: Reception, feed: Feed): Promise<void> {
  const { tracked, onFolded } = reception;
  if ("task" in event) return receiveTask(event.task, reception, feed);
  if ("statusUpdate" in event) {
    const before = tracked.last;
    const observation = await look(event.statusUpdate, reception);
    const judged = tracked.judge(observation, reception);
    if (judged.outcome === "advance") {
      tracked.foldStatus(event.statusUpdate, judged);
      onFolded?.({ ...judged, observation });
      // A status that only says more of the same state is written with the next one that does not.
      if (observation.state !== before?.state) await tracked.commit();
    } else {
      tracked.keep(judged);
      onFolded?.({ ...judged, observation });
    }
    return;
  }
  // Neither a message nor a piece of an artifact carries a state; only whose it is can be judged.
  const place = "message" in event ? event.message : event.artifactUpdate;
  if (!tracked.owns(place)) return;
  if ("message" in event) tracked.progress();
  else tracked.foldArtifact(event.artifactUpdate, feed);
  onFolded?.({ outcome: "advance" });
}

/** What came in shows of the task; where that surprises, the card is asked before anything is made of it. */
async function look(
  seen: Task | TaskStatusUpdateEvent,
  { tracked, holder, source, forceCheck, omissions }: Reception,
): Promise<Observation> {
  const isFullHistory = source === "get" && omissions?.history !== true;
  const observation = tracked.observe(seen, source, isFullHistory);
  if (isSurprisingTransition(tracked.last, observation)) await forceCheck(holder);
  return observation;
}

/** Tells of what was odd about an answer that belongs to no task. */
export function tellDeviations({ observer }: Session, deviations: readonly Deviation[]): void {
  for (const deviation of deviations) observer.emit("deviation", { deviation });
}
