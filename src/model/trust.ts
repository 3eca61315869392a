import type { CapabilityName } from "./operations.ts";

/** What an agent has earned: its card was read and checked, or a probe of its behaviour passed. */
export type TrustLevel = "card-trusted" | "lifecycle-trusted";

/** What a probe can cover beside the lifecycle itself. */
export type ProbedCapability = Extract<CapabilityName, "streaming" | "pushNotifications"> | "history";

/** One change of trust. */
export interface TrustChange {
  /** When, RFC 3339. */
  readonly at: string;
  /** What it became. */
  readonly level: TrustLevel;
  /** Why. */
  readonly reason: string;
}

/** What is remembered of one agent's trust. One for each callee and protocol version. */
export interface TrustRecord {
  /** Says which record it is. */
  readonly kind: "trust";
  /** Version of this shape. */
  readonly schema: 1;
  /** Interface URL, binding and tenant. */
  readonly callee: string;
  /** `Major.Minor`. */
  readonly protocolVersion: string;
  /** What the agent has earned. */
  readonly level: TrustLevel;
  /** Content digest of the card that the last probe was made under. */
  readonly digest: string;
  /** What the last probe covered; anything else counts as unprobed. */
  readonly capabilities: readonly ProbedCapability[];
  /** Whether timestamps may be used to tell repetitions: every transition of the probe had one. */
  readonly timestamps: boolean;
  /** Whether the interface lives at another origin than the card, which the caller allowed. */
  readonly originWaived: boolean;
  /** Every change, oldest first, at most 50. */
  readonly history: readonly TrustChange[];
  /** When the record was last written, RFC 3339. */
  readonly updatedAt: string;
}
