import { LifecycleMismatchError } from "../errors/lifecycle.ts";
import type { Deviation } from "../model/deviation.ts";
import type { LifecycleRule, Observation } from "../model/observation.ts";
import type { CardPin } from "../model/pin.ts";
import { defined } from "../util/freeze.ts";
import type { Session } from "./session.ts";

/** A rule that an agent broke. */
export interface BrokenBy {
  readonly rule: LifecycleRule;
  /** What was found and what was wanted. */
  readonly message: string;
  /** What was seen, in order; the last one broke the rule. */
  readonly observations: readonly Observation[];
  /** The task, where it is known. */
  readonly taskId?: string;
}

/**
 * Demotes an agent that broke a rule.
 *
 * @returns the deviation to keep, where rules are only observed.
 * @throws LifecycleMismatchError where they are enforced.
 */
export function breakRule(session: Session, pin: CardPin, broken: BrokenBy): Deviation {
  const { rule, message, observations, taskId } = broken;
  const card = { digest: pin.digest, version: pin.version };
  const error = new LifecycleMismatchError(rule, { message, observations, card, ...defined({ taskId }) });
  session.trust.demote(pin, error);
  if (session.options.lifecycle === "enforce") throw error;
  return { kind: rule, message };
}
