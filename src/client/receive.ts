import type { StreamResponse } from "../model/events.ts";
import type { Observation, ObservationSource } from "../model/observation.ts";
import { isInterruptedState, isTerminalState } from "../model/states.ts";
import type { Task } from "../model/task.ts";
import type { LeaseHolder } from "./session.ts";
import { isSurprisingTransition } from "./surprise.ts";
import type { Omissions, TrackedTask } from "./track.ts";

/** How something that came in is received. */
export interface Reception {
  readonly tracked: TrackedTask;
  readonly holder: LeaseHolder;
  readonly source: ObservationSource;
  /** Asks for the live card before anybody sees what came in. */
  readonly forceCheck: (holder: LeaseHolder, cause?: unknown) => Promise<void>;
}

/**
 * Receives a whole task: the card is judged where the task surprises, then the rules, then it is folded in and kept.
 *
 * @throws CardDriftError and LeaseUnverifiableError, and then nothing of the task was taken; LifecycleMismatchError;
 * the ledger errors.
 */
export async function receiveTask(
  task: Task,
  reception: Reception,
  omissions?: Omissions,
): Promise<Observation> {
  const { tracked } = reception;
  const { observation } = await judged(task, reception);
  tracked.foldTask(task, observation, omissions);
  await tracked.commit();
  return observation;
}

/** What became of a stream event. */
export interface ReceivedEvent {
  /** Whether it says something new and is to be delivered. */
  readonly isNew: boolean;
  /** Whether the task is settled by it: over, or waiting for the caller. */
  readonly isSettled: boolean;
}

/** Receives one event of a task's stream. Throws as {@link receiveTask} does. */
export async function receiveEvent(event: StreamResponse, reception: Reception): Promise<ReceivedEvent> {
  const { tracked } = reception;
  if ("message" in event) return { isNew: true, isSettled: false };
  if ("task" in event) {
    const seen = await receiveTask(event.task, reception);
    return { isNew: true, isSettled: isSettling(tracked, seen) };
  }
  if ("statusUpdate" in event) {
    const { isNew, observation } = await judged(event.statusUpdate, reception);
    if (isNew) {
      tracked.foldStatus(event.statusUpdate, observation);
      await tracked.commit();
    }
    return { isNew, isSettled: isSettling(tracked, observation) };
  }
  const { taskId, contextId } = event.artifactUpdate;
  const { last } = tracked;
  // A piece of an artifact carries no state; only whose it is can be judged.
  if (last) tracked.judge({ ...last, taskId, ...(contextId === undefined ? {} : { contextId }) });
  tracked.foldArtifact(event.artifactUpdate);
  return { isNew: true, isSettled: false };
}

async function judged(
  seen: Task | Extract<StreamResponse, { statusUpdate: unknown }>["statusUpdate"],
  { tracked, holder, source, forceCheck }: Reception,
): Promise<{ observation: Observation; isNew: boolean }> {
  const observation = tracked.observe(seen, source);
  if (isSurprisingTransition(tracked.last, observation)) await forceCheck(holder);
  return { observation, isNew: tracked.judge(observation) };
}

/** A task is settled when it is over, and when it asks something that was not answered yet. */
function isSettling(tracked: TrackedTask, seen: Observation): boolean {
  return isTerminalState(seen.state) || (isInterruptedState(seen.state) && !tracked.isAnswered(seen));
}
