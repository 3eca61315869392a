import type { LifecycleRule, Observation, TaskMemory } from "../model/observation.ts";
import { isInterruptedState, isTerminalState } from "../model/states.ts";
import { timeDifference } from "../util/clock.ts";
import { hasHistoryGrown, idleAfter } from "./memory.ts";

/** What a judgement depends on beside what was seen. */
export interface JudgeContext {
  /** Id that the task must have, once it is known. */
  readonly taskId?: string;
  /** Context that it must belong to, once one was named. */
  readonly contextId?: string;
  /** Whether repetitions are told by timestamps, so that every transition needs one. Only where trust was earned. */
  readonly trustsTimestamps: boolean;
  /** Whether a history that stands still is held against the agent. Only where trust was earned. */
  readonly trustsHistory: boolean;
  /** Whether the agent claims that its history grows with the task. */
  readonly claimsHistory: boolean;
  /** How often in a row a task may ask the same thing without any progress. */
  readonly maxIdleRounds: number;
  /** Whether the request of this answer left before the last observation was folded in. */
  readonly isOvertaken?: boolean;
  /** Whether it comes by a stream that was there before the end was seen elsewhere, and has not come to it itself. */
  readonly isBeforeEnd?: boolean;
  /** For the answer to a message of ours: how the task had ended before it was sent. */
  readonly beforeSend?: Observation;
}

/** A rule that an observation breaks. */
export interface BrokenRule {
  readonly rule: LifecycleRule;
  /** What was found and what was wanted. */
  readonly message: string;
  /** Whether something depends on the rule; else it is a deviation. */
  readonly isEnforced: boolean;
}

/** One rule: nothing, or how it is broken. */
type Rule = (memory: TaskMemory, seen: Observation, context: JudgeContext) => BrokenRule | undefined;

const identity: Rule = (_memory, seen, wanted) => {
  const message = findForeign(seen, wanted);
  return message === undefined ? undefined : broken("identity", message);
};

const answered: Rule = (_memory, seen, { beforeSend }) => {
  if (!beforeSend || !isTerminalState(beforeSend.state)) return undefined;
  return broken(
    "answered",
    `found task ${seen.taskId} in ${shown(seen)} as the answer to a message, wanted a task that was not over before`,
  );
};

const terminalIsFinal: Rule = ({ terminal }, seen) => {
  if (!terminal || seen.state === terminal.state) return undefined;
  return broken(
    "terminal-is-final",
    `found ${shown(seen)} after ${shown(terminal)}, wanted nothing after it`,
  );
};

const singleTerminal: Rule = ({ terminal }, seen) => {
  // A whole task that is read again after its end is no second end.
  if (!terminal || seen.state !== terminal.state || seen.isSnapshot) return undefined;
  const isSame = seen.timestamp === terminal.timestamp && seen.statusMessageId === terminal.statusMessageId;
  return isSame ? undefined : broken("single-terminal", `found ${shown(seen)} a second time, wanted it once`);
};

const knownState: Rule = (_memory, seen) =>
  seen.state === "unknown"
    ? broken("known-state", `found the state ${JSON.stringify(seen.raw)}, wanted one of the spec's (4.1.3)`)
    : undefined;

const timestampPresent: Rule = (_memory, seen, { trustsTimestamps }) =>
  seen.timestamp === undefined
    ? broken("timestamp-present", `found ${shown(seen)} without a timestamp, wanted one`, trustsTimestamps)
    : undefined;

const timestampMonotonic: Rule = ({ observations }, seen, { trustsTimestamps }) => {
  const last = observations.at(-1);
  const difference = timeDifference(seen.timestamp, last?.timestamp);
  if (difference === undefined || difference >= 0) return undefined;
  const message = `found ${shown(seen)} at ${seen.timestamp} after ${last?.timestamp}, wanted no step back`;
  return broken("timestamp-monotonic", message, trustsTimestamps);
};

const historyProgress: Rule = (memory, seen, { claimsHistory, trustsHistory }) => {
  const { history } = memory;
  const isComparable = claimsHistory && history && seen.historyLength !== undefined;
  // The same question at another time is another one: the task went on in between. A sign of life is no change.
  const isAskedAnew = isInterruptedState(seen.state) && seen.timestamp !== history?.timestamp;
  const hasChanged = history && (seen.state !== history.state || isAskedAnew);
  if (!isComparable || !hasChanged || hasHistoryGrown(memory, seen)) return undefined;
  const message = `found ${seen.historyLength} messages of history before and after ${shown(seen)}, wanted more`;
  return broken("history-progress", message, trustsHistory);
};

const progress: Rule = (memory, seen, { maxIdleRounds }) => {
  const before = hasHistoryGrown(memory, seen) ? undefined : memory.idle;
  const idle = idleAfter(before, seen, memory.observations.at(-1));
  if (idle === before || !idle || idle.rounds < maxIdleRounds) return undefined;
  return broken(
    "progress",
    `found the same question ${idle.rounds} times in a row, wanted some progress between`,
  );
};

/** The rules that one observation can break, in the order in which the first one is told. */
export const rules: readonly Rule[] = Object.freeze([
  identity,
  answered,
  terminalIsFinal,
  singleTerminal,
  knownState,
  timestampPresent,
  timestampMonotonic,
  historyProgress,
  progress,
]);

/** How something names another task or context than it should; an absent one is no evidence. */
export function findForeign(
  found: { readonly taskId?: string; readonly contextId?: string },
  wanted: Pick<JudgeContext, "taskId" | "contextId">,
): string | undefined {
  if (found.taskId && wanted.taskId !== undefined && found.taskId !== wanted.taskId) {
    return `found task ${found.taskId}, wanted ${wanted.taskId}`;
  }
  if (found.contextId && wanted.contextId !== undefined && found.contextId !== wanted.contextId) {
    return `found context ${found.contextId}, wanted ${wanted.contextId}`;
  }
  return undefined;
}

function broken(rule: LifecycleRule, message: string, isEnforced = true): BrokenRule {
  return { rule, message, isEnforced };
}

function shown({ state, raw }: Observation): string {
  return raw ?? state;
}
