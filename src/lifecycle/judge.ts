import type { LifecycleRule, Observation } from "../model/observation.ts";
import { isTerminalState } from "../model/states.ts";

/** What is known of a task before the observation that is judged. */
export interface KnownTask {
  /** Id that the task must have; absent before the first answer. */
  readonly taskId?: string;
  /** Context that it must belong to, once one was named. */
  readonly contextId?: string;
  /** The last observation that was folded in. */
  readonly last?: Observation;
}

/** Whether an observation may follow what is known. */
export type LifecycleVerdict =
  /** It says something new. */
  | { readonly outcome: "advance" }
  /** It says what was said before: state, timestamp and status message are the same. */
  | { readonly outcome: "replay" }
  /** It breaks a rule. */
  | { readonly outcome: "broken"; readonly rule: LifecycleRule; readonly message: string };

/** Judges one observation. A pure function: the client throws by it, others may answer by it. */
export function judgeObservation(known: KnownTask, seen: Observation): LifecycleVerdict {
  if (known.taskId !== undefined && seen.taskId !== known.taskId) {
    return broken("identity", `found task ${seen.taskId}, wanted ${known.taskId}`);
  }
  if (known.contextId !== undefined && seen.contextId && seen.contextId !== known.contextId) {
    return broken("identity", `found context ${seen.contextId}, wanted ${known.contextId}`);
  }
  const { last } = known;
  if (last && isTerminalState(last.state) && seen.state !== last.state) {
    return broken("terminal-is-final", `found ${seen.raw ?? seen.state} after ${last.state}`);
  }
  if (seen.state === "unknown") {
    return broken(
      "known-state",
      `found the state ${JSON.stringify(seen.raw)}, wanted one of the spec's (4.1.3)`,
    );
  }
  return last && isReplay(last, seen) ? { outcome: "replay" } : { outcome: "advance" };
}

/** Whether an observation repeats another: same state, timestamp and status message. */
export function isReplay(last: Observation, seen: Observation): boolean {
  return (
    last.state === seen.state &&
    last.timestamp === seen.timestamp &&
    last.statusMessageId === seen.statusMessageId
  );
}

function broken(rule: LifecycleRule, message: string): LifecycleVerdict {
  return { outcome: "broken", rule, message };
}
