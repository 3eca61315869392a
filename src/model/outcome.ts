import type { Artifact } from "./artifact.ts";
import type { Message } from "./message.ts";
import type { Part } from "./part.ts";
import type { Task } from "./task.ts";

interface OutcomeMembers {
  /** The task as the agent gave it last. */
  readonly task: Task;
  /** Its outputs, finished or not. */
  readonly artifacts: readonly Artifact[];
  /** What the agent said with the status. */
  readonly message?: Message;
}

/** The task is done. */
export interface CompletedOutcome extends OutcomeMembers {
  /** Says which outcome it is. */
  readonly status: "completed";
  /**
   * The text parts of all artifacts, one after another, a line break between two artifacts; where there is no artifact,
   * those of the message that the agent completed with.
   */
  readonly text: string;
  /** The parts that are no text and so are not in `text`. */
  readonly skipped: readonly Part[];
  /** Whether there is nothing at all: no artifact and no message. A completion that looks like a failure. */
  readonly isEmpty: boolean;
}

/** The task failed. */
export interface FailedOutcome extends OutcomeMembers {
  /** Says which outcome it is. */
  readonly status: "failed";
}

/** The task was canceled. */
export interface CanceledOutcome extends OutcomeMembers {
  /** Says which outcome it is. */
  readonly status: "canceled";
}

/** The agent refused the task. */
export interface RejectedOutcome extends OutcomeMembers {
  /** Says which outcome it is. */
  readonly status: "rejected";
}

/** The agent asks something. */
export interface InputRequiredOutcome<Input, Options> extends OutcomeMembers {
  /** Says which outcome it is. */
  readonly status: "input-required";
  /** The whole question; `undefined` from an agent that asks without a word. */
  readonly prompt: Message | undefined;
  /** Answers the question and waits for what comes of it. */
  readonly reply: (input: Input, options?: Options) => Promise<Outcome<Input, Options>>;
}

/**
 * The agent wants the caller to authenticate, in whatever way its message says. Once that is done the work may go on
 * without a message: wait for it by the handle, `client.task(task.id)`, and its `result()`.
 */
export interface AuthRequiredOutcome<Input, Options> extends OutcomeMembers {
  /** Says which outcome it is. */
  readonly status: "auth-required";
  /** What the agent says of it. */
  readonly prompt: Message | undefined;
  /** Sends a message to the task and waits for what comes of it. */
  readonly reply: (input: Input, options?: Options) => Promise<Outcome<Input, Options>>;
}

/** What a task came to. A `switch` over `status` is exhaustive. */
export type Outcome<Input = unknown, Options = unknown> =
  | CompletedOutcome
  | FailedOutcome
  | CanceledOutcome
  | RejectedOutcome
  | InputRequiredOutcome<Input, Options>
  | AuthRequiredOutcome<Input, Options>;

/** The agent answered with a message in place of a task. */
export interface AnsweredOutcome {
  /** Says which outcome it is. */
  readonly status: "answered";
  /** The answer. */
  readonly message: Message;
  /** The text parts of the answer, one after another. */
  readonly text: string;
  /** The parts that are no text and so are not in `text`. */
  readonly skipped: readonly Part[];
}
