import type { Message } from "../model/message.ts";
import type { HandleEntry } from "./handle.ts";
import type { Mark } from "./judged.ts";
import type { OpenedStream } from "./open-stream.ts";
import type { LeaseHolder, Session } from "./session.ts";
import type { SettleRule } from "./settle.ts";

/** A message on its way: whether it arrived, and what it means when it was refused. */
export interface Delivery {
  /** Says that the agent took the message, and whether a message was its answer. */
  taken(isMessage: boolean): void;
  /** Whether the end of the task explains a refusal, so that it is no sign of another card. */
  explains(error: unknown): Promise<boolean>;
  /**
   * Reads the task that a message answered, since the message says nothing of it. That it can't be read is no fault of
   * the send.
   *
   * @throws CardDriftError, LifecycleMismatchError; the caller's reason.
   */
  lookAgain(): Promise<void>;
  /** What a failed send comes to. A question whose answer did not arrive is open again. */
  failed(error: unknown): Promise<unknown>;
}

/** What a stream is made from. */
export interface TaskStreamParts {
  readonly session: Session;
  readonly opened: OpenedStream;
  /** The plan that the stream was opened under. */
  readonly plan: LeaseHolder;
  /** The task, for a stream of a task that is known. */
  readonly task?: HandleEntry;
  /** What was sent, for a stream that a send opened. */
  readonly sent?: { readonly message: Message; readonly delivery: Delivery };
  /** How far the task had come when the request of the stream left. */
  readonly mark?: Mark | undefined;
  /** Where the stream ends. */
  readonly settle: SettleRule;
  /** Checks the card while the stream is open; a drift ends it after the events already received. */
  readonly guard: (holder: () => LeaseHolder) => () => void;
  /** Makes the handle of a task that the stream's first event names. */
  readonly adopt: (taskId: string, contextId: string | undefined) => Promise<HandleEntry>;
  /** Reads the task, because its stream is silent. */
  readonly look: (task: HandleEntry, signal: AbortSignal) => Promise<void>;
}
