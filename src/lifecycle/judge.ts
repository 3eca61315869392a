import type { Deviation } from "../model/deviation.ts";
import type { LifecycleRule, Observation, TaskMemory } from "../model/observation.ts";
import { isTerminalState } from "../model/states.ts";
import { timeDifference } from "../util/clock.ts";
import { isReplay, noMemory, remember, rememberLate, rememberReplay } from "./memory.ts";
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
  const foreign = broken.find(({ rule }) => rule === "identity" || rule === "answered");
  const outcome = foreign ? "advance" : outcomeOf(memory, seen, context);
  const all =
    outcome === "advance" ? broken : broken.filter(({ rule }) => concerning[outcome].includes(rule));
  // What belongs to another task, and what follows the end of this one, changes nothing: the first end wins.
  const idle = all.find(({ rule }) => withoutEffect.includes(rule));
  const told = idle ? [idle] : all;
  const deviations = told.filter((item) => !item.isEnforced).map(deviationOf);
  const first = told.find((item) => item.isEnforced);
  const next = idle ? memory : after[outcome](memory, seen);
  if (!first) return { outcome, memory: next, deviations };
  const observations = Object.freeze([...memory.observations, seen]);
  return {
    outcome: "broken",
    rule: first.rule,
    message: first.message,
    observations,
    memory: next,
    deviations,
  };
}

const withoutEffect: readonly LifecycleRule[] = Object.freeze([
  "identity",
  "answered",
  "terminal-is-final",
  "single-terminal",
]);

/** Rules that can be broken by what is no step of the task: a status that is repeated may come with a history. */
const concerning: Readonly<Record<"replay" | "late", readonly LifecycleRule[]>> = Object.freeze({
  replay: ["history-progress"],
  late: [],
});

const after = Object.freeze({ advance: remember, replay: rememberReplay, late: rememberLate });

function outcomeOf(
  memory: TaskMemory,
  seen: Observation,
  context: JudgeContext,
): "advance" | "replay" | "late" {
  const last = memory.observations.at(-1);
  if (!last) return "advance";
  if (isReplay(last, seen)) return "replay";
  return isOfThePast(memory, last, { seen, context }) ? "late" : "advance";
}

/**
 * Whether an observation speaks of the past, which is no offence: a replica that lags repeats something dated that was
 * seen, or shows a finished task as it was at an earlier date; a stream may be read later than the task was; an answer whose request left before the last thing was
 * folded in may have been overtaken; where timestamps are trusted, an event with an older one was.
 */
function isOfThePast(
  { observations, terminal }: TaskMemory,
  last: Observation,
  { seen, context }: { readonly seen: Observation; readonly context: JudgeContext },
): boolean {
  const difference = timeDifference(seen.timestamp, last.timestamp);
  const isNewer = difference !== undefined && difference > 0;
  const isDated = seen.timestamp !== undefined;
  if (isDated && !isNewer && observations.some((item) => isReplay(item, seen))) return true;
  // A stream that is read after the end was seen elsewhere still has its own way there to tell, and its own end.
  const isSameEnd = seen.state === terminal?.state;
  if (context.isBeforeEnd && !isNewer && (isSameEnd || !isTerminalState(seen.state))) return true;
  // Nothing comes after an end, so an end that was not seen before can't be of the past.
  if (isTerminalState(seen.state)) return false;
  if (context.isOvertaken && !isNewer) return true;
  const isEvent = seen.source === "stream" || seen.source === "push";
  if (!terminal && !(isEvent && context.trustsTimestamps)) return false;
  const age = timeDifference(seen.timestamp, (terminal ?? last).timestamp);
  return age !== undefined && age < 0;
}

function deviationOf({ rule, message }: BrokenRule): Deviation {
  return { kind: rule, message };
}
