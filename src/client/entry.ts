import type { TaskDesk } from "./desk.ts";
import type { HandleEntry } from "./handle.ts";
import type { MessageInput } from "./message.ts";
import { pinLiveCard } from "./renegotiate.ts";
import type { Sender } from "./send.ts";
import type { LeaseHolder, Session } from "./session.ts";

/** Where handles are looked for, and what new ones are pinned under. */
export interface EntryContext {
  readonly session: Session;
  readonly desk: TaskDesk;
  /** The client's plan. */
  readonly plan: LeaseHolder;
}

/** The handle of a task. One that nobody knows is pinned to the card of this moment, which is checked for that. */
export async function findEntry(
  { session, desk, plan }: EntryContext,
  taskId: string,
  signal: AbortSignal | undefined,
): Promise<{ entry: HandleEntry; isChecked: boolean }> {
  const known = await desk.find(taskId);
  if (known) return { entry: known, isChecked: false };
  const { requirements, policy } = plan;
  const pin = await pinLiveCard(session, "ordinary", requirements, signal);
  // The same card is the same pin, so that one task has one handle.
  const held = pin.digest === plan.pin.digest ? plan.pin : pin;
  return { entry: await desk.adopt(taskId, undefined, { pin: held, requirements, policy }), isChecked: true };
}

/** Who sends: a whole message that names its task goes under that task's pin, everything else under the plan. */
export async function findSender(
  context: EntryContext,
  input: MessageInput,
  signal: AbortSignal | undefined,
): Promise<Sender> {
  const taskId = typeof input === "object" && "taskId" in input ? input.taskId : undefined;
  if (taskId === undefined) return { holder: context.plan };
  const { entry } = await findEntry(context, taskId, signal);
  return { holder: entry.holder, task: entry };
}
