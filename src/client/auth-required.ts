import { withSignal } from "../util/abort.ts";
import type { HandleEntry } from "./handle.ts";
import type { Session } from "./session.ts";

/** The status of each task that the caller's hook was told of last, and what it said; by task, as handles are many. */
const told = new WeakMap<Session, Map<string, Told>>();

interface Told {
  readonly status: string;
  readonly answer: Promise<unknown>;
}

/** Most tasks that are remembered; the one that asked longest ago goes first. */
const maxTasks = 1_000;

/**
 * Tells the caller's hook of an authorization that a task waits for, once for each time it asks.
 *
 * @returns whether the wait goes on.
 * @throws what the hook throws; the signal's reason.
 */
export async function goesOnAfterAuth(
  session: Session,
  entry: HandleEntry,
  signal: AbortSignal,
): Promise<boolean> {
  const { onAuthRequired } = session.options;
  const { task, state } = entry.handle;
  const { last } = entry.tracked;
  if (!onAuthRequired || !task || state !== "TASK_STATE_AUTH_REQUIRED") return false;
  if (last && entry.tracked.isAnswered(last)) return false;
  const { message, timestamp = "" } = task.status;
  const status = JSON.stringify([timestamp, message?.messageId ?? ""]);
  const tasks = told.get(session) ?? new Map<string, Told>();
  told.set(session, tasks);
  const known = tasks.get(task.id);
  if (known?.status === status) return (await withSignal(known.answer, signal)) === "wait";
  const details = Object.freeze(
    (message?.parts ?? []).flatMap((part) => ("data" in part ? [part.data] : [])),
  );
  const answer = Promise.resolve(onAuthRequired({ task, message, details, signal }));
  tasks.delete(task.id);
  tasks.set(task.id, { status, answer });
  for (const oldest of tasks.keys()) {
    if (tasks.size <= maxTasks) break;
    tasks.delete(oldest);
  }
  return (await withSignal(answer, signal)) === "wait";
}
