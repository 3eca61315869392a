import type { Deviation } from "../model/deviation.ts";
import type { LifecycleRule, Observation, TaskMemory } from "../model/observation.ts";
import { isTerminalState } from "../model/states.ts";
import { timeDifference } from "../util/clock.ts";
import { noMemory, remember, rememberHistory } from "./memory.ts";
import { type BrokenRule, type JudgeContext, rules } from "./rules.ts";

/** Whether an observation may follow what is known, and what is known after it. */
export type LifecycleVerdict = {
  /** What is known after it. */
  readonly memory: TaskMemory;
  /** Rules that it broke without consequence, since nothing depends on them. */
  readonly deviations: readonly Deviation[];
} & (
  | {
      /** `advance`: it says something new. `replay`: it says what was said before. `late`: it speaks of the past. */
      readonly outcome: "advance" | "replay" | "late";
    }
  | {
      /** It breaks a rule. `memory` is what is known when one goes on all the same. */
      readonly outcome: "broken";
      readonly rule: LifecycleRule;
      readonly message: string;
      /** What was seen, in order; the last one broke the rule. */
      readonly observations: readonly Observation[];
    }
);

/**
 * Judges one observation by the named rules of a task's life. A pure function: the client throws by it, a webhook
 * answers by it, a probe writes it down.
 */
export function judgeObservation(
  memory: TaskMemory = noMemory,
  seen: Observation,
  context: JudgeContext,
): LifecycleVerdict {
  const broken = rules.map((rule) => rule(memory, seen, context)).filter((item) => item !== undefined);
  const deviations = broken.filter((item) => !item.isEnforced).map(deviationOf);
  const first = broken.find((item) => item.isEnforced);
  const foreign = first?.rule === "identity" || first?.rule === "answered";
  if (foreign) return brokenBy(first, memory, seen, { deviations, next: memory });
  const last = memory.observations.at(-1);
  if (last && isReplay(last, seen)) {
    // A whole task that repeats its status may still bring a longer history.
    const repeated = { ...memory, ...rememberHistory(memory, seen), replayCount: memory.replayCount + 1 };
    return { outcome: "replay", memory: Object.freeze(repeated), deviations };
  }
  if (isOfThePast(memory, seen, context)) {
    return {
      outcome: "late",
      memory: Object.freeze({ ...memory, lateCount: memory.lateCount + 1 }),
      deviations,
    };
  }
  const next = remember(memory, seen);
  if (first) return brokenBy(first, memory, seen, { deviations, next });
  return { outcome: "advance", memory: next, deviations };
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

/**
 * Whether an observation speaks of the past, which is no offence: a replica that lags repeats something dated that was
 * seen; an answer whose request left before the last thing was folded in may have been overtaken; where timestamps are
 * trusted, an event with an older one was.
 */
function isOfThePast(memory: TaskMemory, seen: Observation, context: JudgeContext): boolean {
  const last = memory.observations.at(-1);
  if (!last) return false;
  if (seen.timestamp !== undefined && memory.observations.some((item) => isReplay(item, seen))) return true;
  const difference = timeDifference(seen.timestamp, last.timestamp);
  if (context.isOvertaken && !(difference !== undefined && difference > 0)) return true;
  const isEvent = seen.source === "stream" || seen.source === "push";
  const isOlder = difference !== undefined && difference < 0;
  return isOlder && isEvent && context.trustsTimestamps && !isTerminalState(last.state);
}

function brokenBy(
  { rule, message }: BrokenRule,
  memory: TaskMemory,
  seen: Observation,
  { deviations, next }: { deviations: readonly Deviation[]; next: TaskMemory },
): LifecycleVerdict {
  const observations = Object.freeze([...memory.observations, seen]);
  return { outcome: "broken", rule, message, observations, memory: next, deviations };
}

function deviationOf({ rule, message }: BrokenRule): Deviation {
  return { kind: rule, message };
}
