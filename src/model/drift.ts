import type { OperationName } from "./operations.ts";
import type { CardDigests, CardPin } from "./pin.ts";
import type { UnmetRequirement } from "./requirements.ts";
import type { JsonObject } from "./schema.ts";

/** What kind of thing changed on a card. */
export type CardChangeKind =
  | "skill-added"
  | "skill-removed"
  | "skill-changed"
  | "capability-lost"
  | "capability-gained"
  | "mode-added"
  | "mode-removed"
  | "security-changed"
  | "interface-moved"
  | "interface-removed"
  | "version-changed"
  | "signer-changed"
  | "signature-removed"
  | "extension-required"
  | "text-changed"
  | "unknown-changed";

/** What a change can do to a plan: touch its safety, break it, add to it, or nothing. */
export type CardChangeImpact = "security" | "breaking" | "additive" | "cosmetic";

/** One difference between two cards. */
export interface CardChange {
  /** JSON pointer (RFC 6901) into the card that has the member; for a removed one, into the older card. */
  readonly pointer: string;
  /** What kind of thing changed. */
  readonly kind: CardChangeKind;
  /** The value before; `undefined` when it is new. */
  readonly before: unknown;
  /** The value after; `undefined` when it is gone. */
  readonly after: unknown;
  /** What it can do to a plan. */
  readonly impact: CardChangeImpact;
}

/** Why a lease ended. The first that applies, in this order. */
export type DriftReason =
  | "signer-changed"
  | "signature-removed"
  | "rolled-back"
  | "interface-moved"
  | "security-changed"
  | "protocol-version-changed"
  | "skill-withdrawn"
  | "streaming-disabled"
  | "push-disabled"
  | "mode-withdrawn"
  | "extension-required"
  | "card-withdrawn"
  | "content-changed";

/** Which check saw the difference. */
export interface DriftPhase {
  /** The operation that the check was for, or what else asked for it. */
  readonly operation: OperationName | "revalidate" | "resume" | "watch";
  /** Before the call, alongside it, or forced by a surprise. */
  readonly check: "before" | "alongside" | "forced";
}

/** The live card at the moment of a difference. */
export interface LiveCard extends CardDigests {
  /** The agent's version. */
  readonly version: string;
  /** The card as received. */
  readonly card: JsonObject;
}

/** The difference between the card that was pinned and the live one. Frozen. */
export interface CardDrift {
  /** What was pinned. */
  readonly pinned: CardPin;
  /** What is live; `undefined` when the card is gone. */
  readonly live: LiveCard | undefined;
  /** Why it ends the lease. */
  readonly reason: DriftReason;
  /** Every difference, in card order. */
  readonly changes: readonly CardChange[];
  /** Requirements of the plan that are no longer met. */
  readonly breaks: readonly UnmetRequirement[];
  /** Whether the card went back and forth between the same digests, as a fleet in a rolling deploy does. */
  readonly flapping: boolean;
  /** When it was seen, RFC 3339. */
  readonly at: string;
  /** Which check saw it. */
  readonly phase: DriftPhase;
  /** The difference without the two cards themselves: something that a planner or a model can read. */
  toJSON(): JsonObject;
}

/** Which digest decides whether a card is the same. */
export type CardComparison = "content" | "structure";

/** What a judgement of a live card against a pin says. */
export type CardVerdict =
  /** The compared digest is the pinned one; `changes` may list what does not count. */
  | { readonly outcome: "same"; readonly changes: readonly CardChange[] }
  /** The card is another one. */
  | { readonly outcome: "drift"; readonly drift: CardDrift };
