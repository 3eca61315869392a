import type { Observation, TaskMemory } from "../model/observation.ts";
import { isTerminalState } from "../model/states.ts";

/** Observations remembered at most. */
const maxObservations = 20;

/** What is known of a task before anything was seen of it. */
export const noMemory: TaskMemory = Object.freeze({
  observations: Object.freeze([]),
  replayCount: 0,
  lateCount: 0,
});

/** What is known after something new was seen. */
export function remember(memory: TaskMemory, seen: Observation): TaskMemory {
  const observations = Object.freeze([...memory.observations, seen].slice(-maxObservations));
  const terminal = memory.terminal ?? (isTerminalState(seen.state) ? seen : undefined);
  const hasGrown = hasHistoryGrown(memory, seen);
  const { idle: before, ...rest } = memory;
  const idle = idleAfter(hasGrown ? undefined : before, seen, memory.observations.at(-1));
  return Object.freeze({
    ...rest,
    observations,
    ...(terminal ? { terminal } : {}),
    ...(idle ? { idle } : {}),
    ...rememberHistory(memory, seen),
  });
}

/** What is known after a repetition: a whole task that repeats its status may still bring a longer history. */
export function rememberReplay(memory: TaskMemory, seen: Observation): TaskMemory {
  const known = hasHistoryGrown(memory, seen) ? rememberProgress(memory) : memory;
  return Object.freeze({ ...known, ...rememberHistory(memory, seen), replayCount: memory.replayCount + 1 });
}

/** What is known after something of the past: what was known before. */
export function rememberLate(memory: TaskMemory): TaskMemory {
  return Object.freeze({ ...memory, lateCount: memory.lateCount + 1 });
}

/** The last whole history seen, after one more look at the task. */
function rememberHistory(memory: TaskMemory, seen: Observation): Pick<TaskMemory, "history"> {
  const { state, timestamp, historyLength, newestMessageId } = seen;
  if (historyLength === undefined) return memory.history ? { history: memory.history } : {};
  const dated = timestamp === undefined ? {} : { timestamp };
  return {
    history: {
      state,
      historyLength,
      ...dated,
      ...(newestMessageId === undefined ? {} : { newestMessageId }),
    },
  };
}

/** What is known after the task made progress that is no change of status: an artifact, a message, an answer of ours. */
export function rememberProgress(memory: TaskMemory): TaskMemory {
  if (!memory.idle) return memory;
  const { idle: _over, ...rest } = memory;
  return Object.freeze(rest);
}

/** Whether a whole history shows more than the one before. */
export function hasHistoryGrown(memory: TaskMemory, seen: Observation): boolean {
  const { history } = memory;
  if (seen.historyLength === undefined || !history) return false;
  return seen.historyLength !== history.historyLength || seen.newestMessageId !== history.newestMessageId;
}

/** How often in a row the task has asked the same thing without any progress, after one more look at it. */
export function idleAfter(
  before: TaskMemory["idle"],
  seen: Observation,
  last: Observation | undefined,
): TaskMemory["idle"] {
  if (seen.state !== "TASK_STATE_INPUT_REQUIRED" || seen.question === undefined) return before;
  // An agent that dates its answers by the moment of reading shows one question with ever new dates.
  const isShownAgain = last?.state === seen.state && last.statusMessageId === seen.statusMessageId;
  if (isShownAgain && before?.question === seen.question) return before;
  const { question } = seen;
  return { question, rounds: before?.question === question ? before.rounds + 1 : 1 };
}

/**
 * After how many steps of a task's life an event stands that somebody else was faster to see; `undefined` for news.
 *
 * @param where - the steps that were taken in all, and how many of them the event's own stream has shown.
 */
export function findStep(
  { observations }: TaskMemory,
  seen: Observation,
  where: { readonly stepCount: number; readonly from: number | undefined },
): number | undefined {
  const { stepCount, from } = where;
  if (from === undefined) return undefined;
  const first = stepCount - observations.length;
  const at = observations.findIndex((item, index) => first + index >= from && isReplay(item, seen));
  return at < 0 ? undefined : first + at + 1;
}

/** Whether an observation repeats another: same state, timestamp and status message. */
export function isReplay(last: Observation, seen: Observation): boolean {
  return (
    last.state === seen.state &&
    last.raw === seen.raw &&
    last.timestamp === seen.timestamp &&
    last.statusMessageId === seen.statusMessageId
  );
}
