import type { Artifact } from "../model/artifact.ts";
import type { StreamResponse } from "../model/events.ts";
import type { Message } from "../model/message.ts";
import type { TaskPushNotificationConfig } from "../model/push.ts";
import { isInterruptedState, isTerminalState, type TaskState } from "../model/states.ts";
import type { Task, TaskStatus } from "../model/task.ts";
import type { TaskStep } from "./steps.ts";

/** Told of every event of a task, with the task as it is after it. */
export type TaskListener = (event: StreamResponse, task: Task) => void;

/** A push configuration as the agent keeps it. */
export interface KeptPushConfig {
  readonly config: TaskPushNotificationConfig & { readonly id: string };
  /** Grows with every one, so that they can be put in order. */
  readonly number: number;
}

/** One task as the agent keeps it. Every change makes a new, frozen {@link Task}. */
export interface TaskRecord {
  task: Task;
  /** What is left of its plan. */
  steps: TaskStep[];
  /** Why the plan stands still. */
  pause: "hold" | "wait" | "question" | undefined;
  /** Stops the timer of a `step.wait`. */
  stopWaiting: () => void;
  /** Grows with every change in the agent, so that tasks can be put in order of their last one. */
  changed: number;
  readonly listeners: Set<TaskListener>;
  /** Its push configurations by their ids. */
  readonly pushConfigs: Map<string, KeptPushConfig>;
}

/** Whether a task is over or waits for the caller. */
export function isSettled(state: TaskState): boolean {
  return isTerminalState(state) || isInterruptedState(state);
}

/** The task with another status. */
export function withStatus(task: Task, status: TaskStatus): Task {
  return Object.freeze({ ...task, status: Object.freeze(status) });
}

/** The task with a message more in its history. */
export function withMessage(task: Task, message: Message): Task {
  return Object.freeze({ ...task, history: [...(task.history ?? []), message] });
}

/** The task with an artifact added, replaced, or made longer. */
export function withArtifact(task: Task, artifact: Artifact, append: boolean): Task {
  const artifacts = [...(task.artifacts ?? [])];
  const at = artifacts.findIndex(({ artifactId }) => artifactId === artifact.artifactId);
  const before = artifacts[at];
  if (!before) artifacts.push(artifact);
  else artifacts[at] = append ? { ...before, parts: [...before.parts, ...artifact.parts] } : artifact;
  return Object.freeze({ ...task, artifacts });
}

/** The task as an answer shows it: at most `historyLength` messages, none at 0, all when it is absent (3.2.4). */
export function trimHistory(task: Task, historyLength: number | undefined): Task {
  if (historyLength === undefined || task.history === undefined) return task;
  const { history, ...rest } = task;
  return historyLength > 0 ? { ...rest, history: history.slice(-historyLength) } : rest;
}
