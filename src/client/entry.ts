import { withSignal } from "../util/abort.ts";
import { isRecord } from "../util/freeze.ts";
import { type CallOptions, checkCallOptions } from "./call.ts";
import type { TaskDesk } from "./desk.ts";
import type { HandleEntry } from "./handle.ts";
import type { MessageInput } from "./message.ts";
import { pinLiveCard } from "./renegotiate.ts";
import type { LeaseHolder, Session } from "./session.ts";

/** Where handles are looked for, and what new ones are pinned under. */
export interface EntryContext {
  readonly session: Session;
  readonly desk: TaskDesk;
  /** The client's plan as it is now. */
  readonly plan: () => LeaseHolder;
}

/** Who sends: a plan that starts a task, or a task that goes on. */
export interface Sender {
  /** Whose pin the send depends on. */
  readonly holder: LeaseHolder;
  /** The task, when the message belongs to one. */
  readonly task?: HandleEntry;
}

/** The handle of a task. One that nobody knows is pinned to the card of this moment, which is checked for that. */
export async function findEntry(
  { session, desk, plan }: EntryContext,
  taskId: string,
  options: CallOptions,
): Promise<{ entry: HandleEntry; isChecked: boolean }> {
  checkCallOptions(options);
  const { signal } = options;
  const known = await withSignal(desk.find(taskId), signal);
  if (known) return { entry: known, isChecked: false };
  const { pin: planned, requirements, policy } = plan();
  const pin = await pinLiveCard(session, "ordinary", requirements, options);
  // The same card is the same pin, so that one task has one handle.
  const held = pin.digest === planned.digest ? planned : pin;
  return { entry: await desk.adopt(taskId, undefined, { pin: held, requirements, policy }), isChecked: true };
}

/** The handle of a task that is to be left: leaving depends on no card, so none is asked. */
export async function findToLeave({ desk, plan }: EntryContext, taskId: string): Promise<HandleEntry> {
  return (await desk.find(taskId)) ?? desk.adopt(taskId, undefined, plan());
}

/** Who sends: a whole message that names its task goes under that task's pin, everything else under the plan. */
export async function findSender(
  context: EntryContext,
  input: MessageInput,
  options: CallOptions,
): Promise<Sender> {
  checkCallOptions(options);
  const taskId = isRecord(input) && typeof input.taskId === "string" ? input.taskId : undefined;
  const plan = context.plan();
  if (taskId === undefined) return { holder: plan };
  const known = await withSignal(context.desk.find(taskId), options.signal);
  // A task that nobody knows would be sent to under the plan, and the plan is over.
  if (!known && plan.ended) throw plan.ended;
  const { entry } = known ? { entry: known } : await findEntry(context, taskId, options);
  return { holder: entry.holder, task: entry };
}
