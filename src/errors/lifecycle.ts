import type { LifecycleRule, Observation } from "../model/observation.ts";
import type { TaskState } from "../model/states.ts";
import type { Task } from "../model/task.ts";
import { A2ALeaseError } from "./base.ts";

/** Which card stood behind the agent when it broke a rule. */
export interface CardReference {
  /** Content digest. */
  readonly digest: string;
  /** The agent's version. */
  readonly version: string;
}

/** The agent broke a named rule of a task's life. Its answer was not folded in. */
export class LifecycleMismatchError extends A2ALeaseError {
  static readonly code = "LIFECYCLE_MISMATCH";
  override readonly name = "LifecycleMismatchError";
  override readonly code = "LIFECYCLE_MISMATCH";
  /** The rule. */
  readonly rule: LifecycleRule;
  /** What was seen, in order; the last one broke the rule. */
  readonly observations: readonly Observation[];
  /** The card behind it. */
  readonly card: CardReference;
  /** The task. */
  declare readonly taskId?: string;

  constructor(
    rule: LifecycleRule,
    details: {
      message: string;
      observations: readonly Observation[];
      card: CardReference;
      taskId?: string;
      cause?: unknown;
    },
  ) {
    super(`the agent broke the lifecycle rule ${rule}: ${details.message}`, {
      retry: "never",
      nextStep: "give-up",
      cause: details.cause,
    });
    this.rule = rule;
    this.observations = details.observations;
    this.card = details.card;
    if (details.taskId !== undefined) this.taskId = details.taskId;
  }
}

/** The plan asks for an agent whose lifecycle has been proven, and this one's has not. Nothing was sent. */
export class LifecycleNotTrustedError extends A2ALeaseError {
  static readonly code = "LIFECYCLE_NOT_TRUSTED";
  override readonly name = "LifecycleNotTrustedError";
  override readonly code = "LIFECYCLE_NOT_TRUSTED";
  /** The agent: interface URL, binding and tenant. */
  readonly callee: string;

  constructor(callee: string, found: string) {
    super(`${callee} is not lifecycle-trusted: found ${found}, wanted a passed probe`, {
      retry: "never",
      nextStep: "replan",
    });
    this.callee = callee;
  }
}

/** The task is over; it takes no more messages. Go on with a new task in the same context. */
export class TaskTerminalError extends A2ALeaseError {
  static readonly code = "TASK_TERMINAL";
  override readonly name = "TaskTerminalError";
  override readonly code = "TASK_TERMINAL";
  /** The task. */
  override readonly taskId: string;
  /** Its terminal state. */
  readonly state: TaskState;

  constructor(taskId: string, state: TaskState, cause?: unknown) {
    super(
      `task ${taskId} is in ${state}, wanted a task that is not over; use continueInContext for a new one`,
      {
        retry: "never",
        nextStep: "replan",
        cause,
      },
    );
    this.taskId = taskId;
    this.state = state;
  }
}

/** The agent no longer knows a task that it had acknowledged. */
export class TaskForgottenError extends A2ALeaseError {
  static readonly code = "TASK_FORGOTTEN";
  override readonly name = "TaskForgottenError";
  override readonly code = "TASK_FORGOTTEN";
  /** The task. */
  override readonly taskId: string;
  /** Its last known view. */
  readonly task: Task;

  constructor(task: Task, cause?: unknown) {
    super(`the agent no longer knows task ${task.id}, last seen in ${task.status.state}`, {
      retry: "never",
      nextStep: "replan",
      cause,
    });
    this.taskId = task.id;
    this.task = task;
  }
}

/** The agent accepted a cancellation, yet the task was not seen to be canceled in time. */
export class CancelNotConfirmedError extends A2ALeaseError {
  static readonly code = "CANCEL_NOT_CONFIRMED";
  override readonly name = "CancelNotConfirmedError";
  override readonly code = "CANCEL_NOT_CONFIRMED";
  /** The task. */
  override readonly taskId: string;
  /** The state it was last seen in. */
  readonly state: TaskState;

  constructor(taskId: string, state: TaskState, waitedMs: number) {
    super(
      `task ${taskId} is still in ${state} ${waitedMs} ms after it was cancelled, wanted TASK_STATE_CANCELED`,
      {
        retry: "safe",
        nextStep: "wait",
      },
    );
    this.taskId = taskId;
    this.state = state;
  }
}
