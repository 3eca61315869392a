import { changeRecord, recordOf } from "../ledger/change.ts";
import { intentKey, type Ledger, pushKey, taskKey } from "../ledger/ledger.ts";
import type { PushRecord } from "../model/push-record.ts";
import type { TaskRecord } from "../model/record.ts";
import { type Clock, isoTime } from "../util/clock.ts";
import type { PushSender } from "./sender.ts";

/** Whose notification it is. */
export type Located =
  /** A task that somebody here started. */
  | { readonly kind: "known"; readonly task: TaskRecord | undefined }
  /** Another task than the one of the configuration. */
  | { readonly kind: "foreign"; readonly wanted: string }
  /** A task that nobody here has heard of. */
  | { readonly kind: "unknown" };

/**
 * Finds the task that a notification is of. A configuration that travelled with a message may be heard of before the
 * answer to the message names its task: then the first task that is named under its secret is taken for it, and parked.
 */
export async function locate(
  { ledger, clock }: { readonly ledger: Ledger; readonly clock: Clock },
  { cardUrl, principal, record }: PushSender,
  taskId: string,
): Promise<Located> {
  const readTask = async () => recordOf(await ledger.read(taskKey(cardUrl, principal, taskId)), "task");
  if (!record) {
    const task = await readTask();
    return task ? { kind: "known", task } : { kind: "unknown" };
  }
  const bound = record.taskId === undefined ? await park(record) : record;
  if (!bound) return { kind: "unknown" };
  if (bound.taskId === taskId) return { kind: "known", task: await readTask() };
  // A parked task is a guess, and a guess that was wrong is nobody's offence.
  return bound.isParked || bound.taskId === undefined
    ? { kind: "unknown" }
    : { kind: "foreign", wanted: bound.taskId };

  async function park({ messageId = "", fingerprint }: PushRecord): Promise<PushRecord | undefined> {
    const intent = recordOf(await ledger.read(intentKey(cardUrl, principal, messageId)), "intent");
    const isAwaited = intent?.state === "open" || intent?.state === "unknown";
    if (!isAwaited && !(intent?.state === "answered" && (await readTask()))) return undefined;
    return changeRecord(ledger, { key: pushKey(fingerprint), kind: "push" }, (known) => {
      if (!known || known.taskId !== undefined) return undefined;
      return Object.freeze({ ...known, taskId, isParked: true, updatedAt: isoTime(clock.now()) });
    });
  }
}
