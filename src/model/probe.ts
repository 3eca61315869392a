import type { LifecycleRule, Observation } from "./observation.ts";
import type { ProbedCapability } from "./trust.ts";

/** Name of one thing that a probe looks at: a rule of a task's life, or a promise of the card or the protocol. */
export type ProbeCheckName =
  | LifecycleRule
  | "reaches-terminal"
  | "streaming-emits"
  | "push-calls-back"
  | "history-grows"
  | "unknown-task";

/** What one look came to. */
export interface ProbeCheck {
  /** What was looked at. */
  readonly name: ProbeCheckName;
  /** What it came to. */
  readonly outcome: "passed" | "failed" | "not-run";
  /** What was found, and where it failed what was wanted. */
  readonly detail: string;
  /** What was seen that shows it. */
  readonly evidence: readonly Observation[];
}

/** What a probe saw and what it earned. Frozen. */
export interface ProbeReport {
  /** The agent: binding, interface URL and tenant. */
  readonly callee: string;
  /** `Major.Minor`. */
  readonly protocolVersion: string;
  /** Content digest of the card that it was made under. */
  readonly digest: string;
  /** When it began, RFC 3339. */
  readonly startedAt: string;
  /** When it ended, RFC 3339. */
  readonly endedAt: string;
  /** Whether no check failed. */
  readonly passed: boolean;
  /** Whether the agent is lifecycle-trusted by it. */
  readonly promoted: boolean;
  /** Why it is not, one reason a line. */
  readonly obstacles: readonly string[];
  /** What it covered. */
  readonly capabilities: readonly ProbedCapability[];
  /** Every check. */
  readonly checks: readonly ProbeCheck[];
  /** Everything that was seen of the task, in order. */
  readonly transitions: readonly Observation[];
  /** The checks as a table for a terminal. */
  toString(): string;
}

/** One step of a probe, for whoever watches it. */
export interface ProbeProgress {
  /** What is under way. */
  readonly step: "send" | "stream" | "poll" | "unknown-task" | "judge";
  /** What was just seen, if it is that. */
  readonly observation?: Observation;
}
