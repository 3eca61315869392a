import { CancelNotConfirmedError } from "../errors/lifecycle.ts";
import { TaskNotCancelableError, TaskNotFoundError } from "../errors/protocol.ts";
import { isTerminalState } from "../model/states.ts";
import type { Task } from "../model/task.ts";
import { createScope, sleep } from "../util/abort.ts";
import { elapsedMs, readInstant } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import { aboutTask } from "./about-task.ts";
import { forgotten } from "./forgotten.ts";
import type { HandleParts } from "./handle-parts.ts";
import type { Mark } from "./judged.ts";
import { callOnce } from "./pipeline.ts";
import { salvageTask } from "./reads.ts";
import { receiveTask } from "./receive.ts";
import type { Session } from "./session.ts";
import type { CancelOptions } from "./task-options.ts";
import { limitWait } from "./wait-limits.ts";

/** Waits between two looks at a task that is being cancelled: the first, and the longest. */
const firstLookMs = 250;
const longestLookMs = 5_000;

/**
 * Cancels a task (3.1.5) and waits until it is seen to be canceled, all of it within the caller's `timeoutMs`. Asks no
 * card.
 */
export async function cancelTask(
  session: Session,
  parts: HandleParts,
  options: CancelOptions,
): Promise<void> {
  const { taskId } = parts.tracked.record;
  const scope = createScope(session.clock, [options.signal]);
  limitWait(scope, parts.holder.pin.interface.url, options);
  try {
    await cancelWithin(session, parts, { ...options, signal: scope.signal });
  } catch (error) {
    throw aboutTask(error, taskId, options.signal);
  } finally {
    scope.release();
  }
}

async function cancelWithin(session: Session, parts: HandleParts, options: CancelOptions): Promise<void> {
  const { tracked } = parts;
  const { taskId, task } = tracked.record;
  // Cancelling twice is as good as once (3.3.1).
  if (task?.status.state === "TASK_STATE_CANCELED") return;
  const since = readInstant(session.clock);
  const { cancelConfirmMs } = session.options;
  let seen = await requestCancel(session, parts, options);
  for (let waitMs = firstLookMs; seen && !isTerminalState(seen.status.state); waitMs *= 2) {
    const leftMs = cancelConfirmMs - elapsedMs(session.clock, since);
    if (leftMs <= 0) throw new CancelNotConfirmedError(taskId, seen.status.state, cancelConfirmMs);
    await sleep(session.clock, Math.min(waitMs, longestLookMs, leftMs), options.signal);
    seen = await look(session, parts, options);
  }
  // Forgotten after it was told to stop: there is nothing left to cancel (3.3.1).
  if (!seen || seen.status.state === "TASK_STATE_CANCELED") return;
  throw notCancelable(seen);
}

/** Asks for the cancellation; `undefined` when the task is gone. */
async function requestCancel(
  session: Session,
  parts: HandleParts,
  options: CancelOptions,
): Promise<Task | undefined> {
  const { tracked, holder } = parts;
  const { mark } = tracked;
  const { taskId, task } = tracked.record;
  const call = {
    operation: "CancelTask",
    request: { id: taskId, ...defined({ metadata: options.metadata }) },
    holder,
    requirements: {},
    options,
    knowsTask: task !== undefined,
  } as const;
  try {
    return await callOnce(session, call, async ({ answer }) => {
      tracked.note(answer.deviations);
      return take(parts, answer.value, mark);
    });
  } catch (error) {
    if (error instanceof TaskNotCancelableError) return (await look(session, parts, options)) ?? fail(error);
    throw forgotten(task, error);
  }
}

/** Reads the task under no lease; `undefined` when the agent no longer knows it. */
async function look(session: Session, parts: HandleParts, options: CancelOptions): Promise<Task | undefined> {
  const { signal, headers } = options;
  const { mark } = parts.tracked;
  try {
    const { taskId } = parts.tracked.record;
    const { task } = await salvageTask(session, parts.holder, taskId, defined({ signal, headers }));
    return await take(parts, task, mark);
  } catch (error) {
    if (error instanceof TaskNotFoundError) return undefined;
    throw error;
  }
}

/** Folds in what was seen on the way out, as far as it is over; what asks for the card first stays withheld. */
async function take({ tracked, holder }: HandleParts, task: Task, mark: Mark): Promise<Task> {
  const { state } = task.status;
  const isNewRefusal = state === "TASK_STATE_REJECTED" && tracked.last?.state !== state;
  if (isTerminalState(state) && !isNewRefusal) {
    const omissions = { history: true };
    await receiveTask(task, {
      tracked,
      holder,
      source: "cancel",
      forceCheck: async () => {},
      omissions,
      mark,
    });
  } else {
    tracked.judge({ ...tracked.observe(task, "cancel"), state: "TASK_STATE_WORKING" }, { mark });
  }
  return task;
}

function notCancelable(task: Task): TaskNotCancelableError {
  return new TaskNotCancelableError({
    operation: "CancelTask",
    remoteMessage: `task ${task.id} ended in ${task.status.state}, wanted TASK_STATE_CANCELED`,
    task,
  });
}

function fail(error: unknown): never {
  throw error;
}
