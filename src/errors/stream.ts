import type { TaskState } from "../model/states.ts";
import { A2ALeaseError } from "./base.ts";
import type { TimeBudget } from "./transport.ts";

/** A stream ended before the task was settled. The task may still be running; read it before anything else. */
export class StreamInterruptedError extends A2ALeaseError {
  static readonly code = "STREAM_INTERRUPTED";
  override readonly name = "StreamInterruptedError";
  override readonly code = "STREAM_INTERRUPTED";
  /** The task, once an event named it. */
  declare readonly taskId?: string;
  /** The state last seen, when there was one. */
  readonly lastState?: TaskState;
  /** Events that were delivered. */
  readonly eventCount: number;

  constructor(details: { taskId?: string; lastState?: TaskState; eventCount: number; cause?: unknown }) {
    super(
      `the stream was cut after ${details.eventCount} events, last state ${details.lastState ?? "unseen"}; ` +
        "wanted a terminal or interrupted state before its end",
      { retry: "safe", nextStep: "recover", cause: details.cause },
    );
    if (details.taskId !== undefined) this.taskId = details.taskId;
    if (details.lastState !== undefined) this.lastState = details.lastState;
    this.eventCount = details.eventCount;
  }
}

/**
 * A stream gave way to a newer one of the same handle, which has one connection at most: what comes now comes there.
 * Neither the task nor the connection failed.
 */
export class StreamReplacedError extends A2ALeaseError {
  static readonly code = "STREAM_REPLACED";
  override readonly name = "StreamReplacedError";
  override readonly code = "STREAM_REPLACED";
  /** The task. */
  override readonly taskId: string;
  /** Events that were delivered before. */
  readonly eventCount: number;

  constructor(taskId: string, eventCount: number) {
    super(
      `the stream of task ${taskId} was closed after ${eventCount} events, since a newer one of its handle was opened; ` +
        "wanted one reader, or follow(), which shares",
      { retry: "never", nextStep: "wait" },
    );
    this.taskId = taskId;
    this.eventCount = eventCount;
  }
}

/** A stream stayed silent for too long. */
export class StreamStalledError extends A2ALeaseError {
  static readonly code = "STREAM_STALLED";
  override readonly name = "StreamStalledError";
  override readonly code = "STREAM_STALLED";
  /** The budget that ran out. */
  readonly budget: TimeBudget;
  /** Its size in milliseconds. */
  readonly budgetMs: number;
  /** The task, once an event named it. */
  declare readonly taskId?: string;

  constructor(budget: TimeBudget, budgetMs: number, taskId?: string) {
    super(`the stream was silent for its ${budget} budget of ${budgetMs} ms`, {
      retry: "safe",
      nextStep: "recover",
    });
    this.budget = budget;
    this.budgetMs = budgetMs;
    if (taskId !== undefined) this.taskId = taskId;
  }
}
