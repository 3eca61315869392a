import { UnsupportedOperationError } from "../errors/protocol.ts";
import { isTerminalState } from "../model/states.ts";
import { isoTime } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import { aboutTask } from "./about-task.ts";
import type { CallOptions } from "./call.ts";
import { forgotten } from "./forgotten.ts";
import { guardStream } from "./guard.ts";
import type { HandleEntry } from "./handle.ts";
import { checkHistoryLength } from "./history-length.ts";
import { openStream } from "./open-stream.ts";
import { callOnce } from "./pipeline.ts";
import { receiveTask } from "./receive.ts";
import type { LeaseHolder, Session } from "./session.ts";
import type { SettleRule } from "./settle.ts";
import { createTaskStream, type HeldTaskStream } from "./stream.ts";
import type { GetOptions, SalvagedTask } from "./task-options.ts";

/** Reads a task (3.1.3), with a check of the card alongside, and folds it in. */
export async function getTask(
  session: Session,
  entry: HandleEntry,
  options: GetOptions,
  isChecked = false,
): Promise<void> {
  const { tracked, holder } = entry;
  const { historyLength } = options;
  checkHistoryLength(historyLength);
  const knowsTask = tracked.last !== undefined;
  const { mark } = tracked;
  const request = { id: entry.handle.id, ...defined({ historyLength }) };
  const call = {
    operation: "GetTask",
    request,
    holder,
    requirements: holder.requirements,
    options,
    knowsTask,
    isChecked,
  } as const;
  try {
    await callOnce(session, call, async ({ answer, forceCheck }) => {
      const omissions = { history: historyLength !== undefined };
      const onFolded = () => tracked.note(answer.deviations);
      const reception = { tracked, holder, source: "get", forceCheck, omissions, mark, onFolded } as const;
      await receiveTask(answer.value, reception);
    });
  } catch (error) {
    throw aboutTask(forgotten(entry.handle.task, error), entry.handle.id, options.signal);
  }
}

/** Subscribes to a task (3.1.6), with a check of the card alongside. */
export async function subscribeToTask(
  session: Session,
  entry: HandleEntry,
  { settle = "settled", ...options }: CallOptions & { readonly settle?: SettleRule },
  isChecked = false,
): Promise<HeldTaskStream> {
  const { holder, handle } = entry;
  const { mark } = entry.tracked;
  const knowsTask = entry.tracked.last !== undefined;
  const explains = async (error: unknown) => {
    // 3.1.6: a finished task can't be subscribed to, and that is no sign of another card.
    if (!(error instanceof UnsupportedOperationError)) return false;
    return isFinished(session, holder, handle.id, options);
  };
  try {
    const opened = await openStream(session, {
      operation: "SubscribeToTask",
      request: { id: handle.id },
      holder,
      requirements: holder.requirements,
      options,
      knowsTask,
      explains,
      isChecked,
    });
    const guard = (current: () => LeaseHolder) =>
      guardStream(session, "SubscribeToTask", opened.scope, current);
    return createTaskStream({
      session,
      opened,
      plan: holder,
      settle,
      guard,
      task: entry,
      mark,
      adopt: async () => entry,
      look: (task, signal) => getTask(session, task, { signal, ...defined({ headers: options.headers }) }),
    });
  } catch (error) {
    throw aboutTask(forgotten(handle.task, error), handle.id, options.signal);
  }
}

/** Reads a task once and raw at the pinned interface, under no lease. */
export async function salvageTask(
  session: Session,
  holder: LeaseHolder,
  taskId: string,
  options: CallOptions,
): Promise<SalvagedTask> {
  const call = {
    operation: "GetTask",
    request: { id: taskId },
    holder,
    requirements: {},
    options,
    knowsTask: false,
    isUnleased: true,
  } as const;
  return callOnce(session, call, async ({ answer }) =>
    Object.freeze({ task: answer.value, unleased: true as const, readAt: isoTime(session.clock.now()) }),
  );
}

async function isFinished(
  session: Session,
  holder: LeaseHolder,
  taskId: string,
  options: CallOptions,
): Promise<boolean> {
  try {
    const { task } = await salvageTask(session, holder, taskId, options);
    return isTerminalState(task.status.state);
  } catch {
    // The task could not be read, so it explains nothing.
    return false;
  }
}
