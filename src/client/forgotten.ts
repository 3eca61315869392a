import { TaskForgottenError } from "../errors/lifecycle.ts";
import { TaskNotFoundError } from "../errors/protocol.ts";
import type { Task } from "../model/task.ts";

/** What "not found" means for a task that was seen: the agent forgot it. Any other error stays itself. */
export function forgotten(task: Task | undefined, error: unknown): unknown {
  return error instanceof TaskNotFoundError && task ? new TaskForgottenError(task, error) : error;
}
