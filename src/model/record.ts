import type { Deviation } from "./deviation.ts";
import type { TaskMemory } from "./observation.ts";
import type { CardPin } from "./pin.ts";
import type { InboxRecord, PushRecord } from "./push-record.ts";
import type { CardRequirements } from "./requirements.ts";
import type { Task } from "./task.ts";
import type { TrustRecord } from "./trust.ts";

/** A pin that a task had before its present one. */
export interface FormerPin {
  /** Content digest that was pinned. */
  readonly digest: string;
  /** Until when, RFC 3339. */
  readonly until: string;
}

/** What is remembered of one task, so that another process can go on with it. Holds no secret. */
export interface TaskRecord {
  /** Says which record it is. */
  readonly kind: "task";
  /** Version of this shape. */
  readonly schema: 1;
  /** Where the agent's card is checked, without what may be a secret in it; `""` for a card that never is. */
  readonly cardUrl: string;
  /** On whose behalf. */
  readonly principal: string;
  /** The task. */
  readonly taskId: string;
  /** Its context, once it is known. */
  readonly contextId?: string;
  /** What the task was planned against. */
  readonly pin: CardPin;
  /** Pins before it, oldest first, at most 20. */
  readonly formerPins: readonly FormerPin[];
  /** What the plan needs from the card. */
  readonly requirements: CardRequirements;
  /** The task as it was last seen; absent until it was. */
  readonly task?: Task;
  /** What was seen of its life, as far as judging its next step needs it. */
  readonly memory: TaskMemory;
  /** What broke the spec on the way. */
  readonly deviations: readonly Deviation[];
  /** When the record was last written, RFC 3339. */
  readonly updatedAt: string;
}

/** What became of a message that was to be sent. */
export type IntentState = "open" | "answered" | "refused" | "unknown";

/** The intent to send one message, remembered before it leaves. Holds no content of the message. */
export interface IntentRecord {
  /** Says which record it is. */
  readonly kind: "intent";
  /** Version of this shape. */
  readonly schema: 1;
  /** Where the agent's card is checked. */
  readonly cardUrl: string;
  /** On whose behalf. */
  readonly principal: string;
  /** The message. */
  readonly messageId: string;
  /** Context that it was sent to. */
  readonly contextId?: string;
  /** Task that it was sent to. */
  readonly taskId?: string;
  /** What the message was planned against. */
  readonly pin: CardPin;
  /** What the plan needs from the card. */
  readonly requirements: CardRequirements;
  /** What became of it. */
  readonly state: IntentState;
  /** When it was to leave for the first time, RFC 3339, by our clock. */
  readonly sentAt?: string;
  /** What it was answered with: the task that works on it, or a message as the whole answer. */
  readonly answer?: { readonly taskId: string } | { readonly message: true };
  /** When the record was last written, RFC 3339. */
  readonly updatedAt: string;
}

/** What a check of an agent's card found, for the others who would have asked at the same moment. */
export interface CheckedCard {
  /** When it was over, RFC 3339, on the clock of who made it. */
  readonly at: string;
  /** Hash of the very bytes of the card, so that whoever has another card reads it for himself. */
  readonly digest: string;
  /** Revision of this record at which the check began: it orders checks without comparing clocks. */
  readonly turn?: number;
  /** Whether the card was read in full, past all caches. */
  readonly isFull?: boolean;
}

/** Who reads the card of an agent at this moment, so that the others need not. One for each card and principal. */
export interface LeaseRecord {
  /** Says which record it is. */
  readonly kind: "lease";
  /** Version of this shape. */
  readonly schema: 1;
  /** Where the agent's card is checked. */
  readonly cardUrl: string;
  /** On whose behalf. */
  readonly principal: string;
  /** Who holds it; absent when nobody does. */
  readonly holder?: string;
  /** When it ends by itself, RFC 3339, on the clock of who took it; absent when nobody holds it. */
  readonly expiresAt?: string;
  /** For how long it was taken, in milliseconds; absent when nobody holds it. */
  readonly ttlMs?: number;
  /** What the last check found. */
  readonly checked?: CheckedCard;
  /** When the record was last written, RFC 3339. */
  readonly updatedAt: string;
}

/** Anything that a ledger keeps. */
export type LedgerRecord = TaskRecord | IntentRecord | TrustRecord | LeaseRecord | PushRecord | InboxRecord;

/** A record as a ledger gives it out. */
export interface LedgerEntry<R extends LedgerRecord = LedgerRecord> {
  /** Key of the record. */
  readonly key: string;
  /**
   * What compare-and-set compares. Positive, grows by one with each write, and is not used again for the same key after
   * the record was removed.
   */
  readonly revision: number;
  /** The record, frozen. */
  readonly record: R;
}
