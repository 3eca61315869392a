import type { Outcome } from "../model/outcome.ts";
import type { TaskUpdate } from "../model/update.ts";
import type { CallOptions } from "./call.ts";
import type { MessageInput, SendOptions } from "./message.ts";

/** Options of following a task. */
export interface FollowOptions extends CallOptions {
  /**
   * Budget of the whole call in milliseconds, as everywhere: of all of the wait, and of the send where one goes before
   * it. A single read within has the client's budget. @default forever
   */
  readonly timeoutMs?: number;
  /**
   * The same as `timeoutMs`, in a plan's words: the `TimeoutError` says `deadline` in place of `total`. Where both are
   * given the shorter one ends the wait; the task is left alone. @default forever
   */
  readonly deadlineMs?: number;
  /**
   * Streams opened, or polls failed, in a row without any progress before it is given up. The waits between them have
   * jitter: the default is over after seconds. 12 survive an outage of half a minute, as a rule. @default 5
   */
  readonly maxAttempts?: number;
}

/** Options of waiting for what a task comes to. */
export interface ResultOptions extends FollowOptions {
  /** What to wait for: the end or anything the task asks (`settled`), or the end alone. @default "settled" */
  readonly until?: "settled" | "terminal";
  /** How long the task may stay as it is before the wait is given up, in milliseconds. @default forever */
  readonly noProgressMs?: number;
  /** Hears each step of the task. What it throws ends the wait with just that; the task goes on. */
  readonly onUpdate?: (update: TaskUpdate) => void;
}

/** A question's own `reply`, in the terms of this client. */
export type TaskOutcome = Outcome<MessageInput, SendOptions & ResultOptions>;
