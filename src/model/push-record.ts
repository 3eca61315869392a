import type { LifecycleRule, Observation } from "./observation.ts";

/**
 * What leads from the secret of one push configuration to its task, so that a webhook can tell whose notification it
 * has. Holds no secret: it is kept under the secret's SHA-256.
 */
export interface PushRecord {
  /** Says which record it is. */
  readonly kind: "push";
  /** Version of this shape. */
  readonly schema: 1;
  /** Where the agent's card is checked. */
  readonly cardUrl: string;
  /** On whose behalf. */
  readonly principal: string;
  /** Who pushes: interface URL, binding and tenant. */
  readonly callee: string;
  /** `Major.Minor` that it speaks. */
  readonly protocolVersion: string;
  /** The configuration. */
  readonly configId: string;
  /** The webhook, redacted. */
  readonly url: string;
  /** SHA-256 of the secret, in lower-case hex. */
  readonly fingerprint: string;
  /** How the secret may come back: `"token"`, or a scheme of `Authorization` in lower case, `"bearer"`. */
  readonly via: readonly string[];
  /** The task, once it is known. */
  readonly taskId?: string;
  /** The message that the configuration travelled with, where it did. */
  readonly messageId?: string;
  /** Whether the task is known from a notification alone, which came before the answer to the message. */
  readonly isParked?: boolean;
  /** Whether the task was told to be over. */
  readonly isOver?: boolean;
  /** When the record was last written, RFC 3339. */
  readonly updatedAt: string;
}

/** A rule of a task's life that notifications broke. */
export interface BrokenByPush {
  /** The rule. */
  readonly rule: LifecycleRule;
  /** What was found and what was wanted. */
  readonly message: string;
  /** When, RFC 3339, by our clock. */
  readonly at: string;
}

/** One push configuration of a task, as far as it is remembered. */
export interface KnownPushConfig {
  /** Its id. */
  readonly id: string;
  /** Fingerprints of its secrets. */
  readonly fingerprints: readonly string[];
}

/** What notifications showed of one task. Holds no content: whoever wants that reads the task, under its lease. */
export interface InboxRecord {
  /** Says which record it is. */
  readonly kind: "inbox";
  /** Version of this shape. */
  readonly schema: 1;
  /** Where the agent's card is checked. */
  readonly cardUrl: string;
  /** On whose behalf. */
  readonly principal: string;
  /** The task. */
  readonly taskId: string;
  /** Its push configurations, at most 100. */
  readonly configs: readonly KnownPushConfig[];
  /** What was pushed of its status, oldest first, at most 20. */
  readonly observations: readonly Observation[];
  /** Hashes of the last notifications without a status, at most 64, to tell what comes twice. */
  readonly hashes: readonly string[];
  /** How often something new was pushed. */
  readonly count: number;
  /** Rules that notifications broke, the first ones, at most 20. */
  readonly broken: readonly BrokenByPush[];
  /** When the record was last written, RFC 3339. */
  readonly updatedAt: string;
}
