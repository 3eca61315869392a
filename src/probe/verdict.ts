import { judgeObservation } from "../lifecycle/judge.ts";
import { noMemory } from "../lifecycle/memory.ts";
import type { AgentCard } from "../model/card.ts";
import type { LifecycleRule, Observation } from "../model/observation.ts";
import type { ProbeCheck } from "../model/probe.ts";
import { isTerminalState } from "../model/states.ts";

/** The rules that can be judged from what was seen of a task alone. */
const judged: readonly LifecycleRule[] = Object.freeze([
  "known-state",
  "terminal-is-final",
  "single-terminal",
  "timestamp-present",
  "timestamp-monotonic",
  "history-progress",
  "progress",
  "identity",
]);

/** How often in a row a probed task may ask the same thing. */
const maxIdleRounds = 3;

interface Broken {
  readonly message: string;
  readonly evidence: readonly Observation[];
}

/**
 * Judges everything that was seen of one task as if it were all depended on. A pure function: the same judgement that
 * the client throws by, written down.
 */
export function checkProbe(card: AgentCard, transitions: readonly Observation[]): readonly ProbeCheck[] {
  const claims = claimsHistory(card);
  const broken = findBroken(transitions, claims);
  const last = transitions.at(-1);
  const end = transitions.findLast((item) => isTerminalState(item.state));
  return Object.freeze([
    ...judged.map((rule) => ruleCheck(rule, broken.get(rule), { claims, hasSeen: last !== undefined })),
    end
      ? check("reaches-terminal", "passed", `the task ended in ${end.state}`, [end])
      : check(
          "reaches-terminal",
          "failed",
          `found ${last?.state ?? "no task"}, wanted a terminal state`,
          transitions.slice(-1),
        ),
    historyCheck(transitions, claims),
  ]);
}

/** Whether a card claims that history grows with the task. */
function claimsHistory({ capabilities }: AgentCard): boolean {
  return (capabilities as Readonly<Record<string, unknown>>).stateTransitionHistory === true;
}

function findBroken(transitions: readonly Observation[], claimsHistory: boolean): Map<LifecycleRule, Broken> {
  const [first] = transitions;
  const contextId = transitions.find((item) => item.contextId)?.contextId;
  const found = new Map<LifecycleRule, Broken>();
  let memory = noMemory;
  for (const seen of transitions) {
    const context = {
      trustsTimestamps: true,
      trustsHistory: claimsHistory,
      claimsHistory,
      maxIdleRounds,
      ...(first ? { taskId: first.taskId } : {}),
      ...(contextId === undefined ? {} : { contextId }),
    };
    const verdict = judgeObservation(memory, seen, context);
    memory = verdict.memory;
    if (verdict.outcome !== "broken" || found.has(verdict.rule)) continue;
    found.set(verdict.rule, { message: verdict.message, evidence: verdict.observations });
  }
  return found;
}

function ruleCheck(
  rule: LifecycleRule,
  broken: Broken | undefined,
  { claims, hasSeen }: { readonly claims: boolean; readonly hasSeen: boolean },
): ProbeCheck {
  if (broken) return check(rule, "failed", broken.message, broken.evidence);
  if (!hasSeen) return check(rule, "not-run", "there was no task");
  if (rule === "history-progress" && !claims)
    return check(rule, "not-run", "the card claims no growing history");
  return check(rule, "passed", "kept");
}

function historyCheck(transitions: readonly Observation[], claims: boolean): ProbeCheck {
  if (!claims) return check("history-grows", "not-run", "the card claims no growing history");
  const whole = transitions.filter((item) => item.historyLength !== undefined);
  const [first] = whole;
  const last = whole.at(-1);
  if (!first || !last || first.state === last.state)
    return check("history-grows", "not-run", "history was not seen before and after a change");
  const grew = first.historyLength !== last.historyLength || first.newestMessageId !== last.newestMessageId;
  const found = `from ${first.historyLength} to ${last.historyLength} messages`;
  return grew
    ? check("history-grows", "passed", found, [first, last])
    : check("history-grows", "failed", `found ${found}, wanted more of them`, [first, last]);
}

/** Makes one check. */
export function check(
  name: ProbeCheck["name"],
  outcome: ProbeCheck["outcome"],
  detail: string,
  evidence: readonly Observation[] = [],
): ProbeCheck {
  return Object.freeze({ name, outcome, detail, evidence: Object.freeze([...evidence]) });
}
