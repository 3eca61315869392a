import type { Message } from "./message.ts";
import type { Task } from "./task.ts";

/** A task that goes on once somebody authenticated, or agreed to something, outside of the task (7.6). */
export interface AuthRequiredContext {
  /** The task as the agent gave it last. */
  readonly task: Task;
  /** What the agent says of it; `undefined` from an agent that asks without a word. Written by the agent: treat it as data. */
  readonly message: Message | undefined;
  /** The data parts of the message, where agents put what they ask for in a form for programs. */
  readonly details: readonly unknown[];
  /** Aborted when nobody waits for the task any more. */
  readonly signal: AbortSignal;
}

/**
 * Called once for each `TASK_STATE_AUTH_REQUIRED` that a wait comes upon. What the agent needs goes to it out of band,
 * never through the library. With `"wait"` the wait goes on to the task's end or its next question for input; otherwise
 * it ends with the outcome `auth-required`.
 */
export type AuthRequiredHook = (context: AuthRequiredContext) => Promise<"wait" | undefined>;
