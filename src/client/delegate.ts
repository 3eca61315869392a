import { CapabilityMissingError } from "../errors/lease.ts";
import { SendOutcomeUnknownError } from "../errors/sending.ts";
import { TimeoutError } from "../errors/transport.ts";
import type { AnsweredOutcome } from "../model/outcome.ts";
import { createScope } from "../util/abort.ts";
import { afterSend } from "./about-task.ts";
import { checkCallOptions } from "./call.ts";
import type { TaskDesk } from "./desk.ts";
import type { Sender } from "./entry.ts";
import type { BegunStream } from "./follow-parts.ts";
import type { HandleEntry, TaskHandle } from "./handle.ts";
import type { MessageInput, SendOptions } from "./message.ts";
import { lookForLost } from "./outbox.ts";
import { answeredBy } from "./outcome.ts";
import { effectiveCard } from "./pinned.ts";
import { resultOf } from "./result.ts";
import type { ResultOptions, TaskOutcome } from "./result-options.ts";
import { sendMessage, sendStreamingMessage } from "./send.ts";
import type { Session } from "./session.ts";
import type { HeldTaskStream } from "./stream.ts";
import { limitWait } from "./wait-limits.ts";

/** Options of delegating a piece of work. */
export interface DelegateOptions extends SendOptions, ResultOptions {}

/** What delegated work came to. */
export type DelegateOutcome = TaskOutcome | AnsweredOutcome;

/** Sends a message, follows what comes of it, answers nothing by itself, and says what it came to. */
export async function delegate(
  session: Session,
  desk: TaskDesk,
  sender: Sender,
  work: { readonly input: MessageInput; readonly options: DelegateOptions },
): Promise<DelegateOutcome> {
  const { input, options } = work;
  const { clock } = session;
  const { noProgressMs } = options;
  const { url } = sender.holder.pin.interface;
  checkCallOptions(options);
  const scope = createScope(clock, [options.signal]);
  limitWait(scope, url, options);
  const begun =
    noProgressMs === undefined
      ? () => {}
      : scope.deadline(noProgressMs, () => new TimeoutError(url, "no-progress", noProgressMs));
  // The time is for all of it, and began with the send.
  const { timeoutMs: _all, deadlineMs: _begun, ...rest } = options;
  const waiting = { ...rest, signal: scope.signal };
  const finish = (entry: HandleEntry, stream?: BegunStream) => {
    begun();
    return resultOf(session, () => desk, entry, waiting, { begun: stream, isFresh: true });
  };
  const streams = () => effectiveCard(sender.holder.pin).capabilities.streaming === true;
  let stream: HeldTaskStream | undefined;
  let task: TaskHandle | undefined;
  try {
    if (streams()) stream = await openUnlessLost(session, desk, sender, { input, options: waiting }, streams);
    if (!stream) {
      const reply = await sendMessage(session, desk, sender, input, { ...options, signal: scope.signal });
      if ("message" in reply) return answeredBy(reply.message);
      task = reply.task;
      return await finish(desk.entryOf(task));
    }
    const events = stream[Symbol.asyncIterator]();
    const first = await events.next();
    // 3.1.2: a message in place of a task is the whole answer, which only the end of the stream shows.
    const next = stream.task ? first : await events.next();
    if (stream.task) {
      const entry = desk.entryOf(stream.task);
      return await finish(entry, next.done ? undefined : { stream, events, first: next.value });
    }
    await events.return?.();
    if (first.done || !("message" in first.value)) {
      throw new TypeError("a stream without a task began with no message");
    }
    return answeredBy(first.value.message);
  } catch (error) {
    task ??= stream?.task;
    if (task) throw afterSend(error, task.id, options.signal);
    // A stream that broke before it showed anything says nothing of the message; the agent's list may.
    const found = await findLost(session, desk, sender, { error, options: waiting, isSeen: !stream });
    if (!found) throw error;
    return await finish(found).catch((again) => {
      throw afterSend(again, found.handle.id, options.signal);
    });
  } finally {
    scope.release();
  }
}

/** The task of a message whose answer was lost, where it is found. */
async function findLost(
  session: Session,
  desk: TaskDesk,
  sender: Sender,
  lost: { readonly error: unknown; readonly options: DelegateOptions; readonly isSeen: boolean },
): Promise<HandleEntry | undefined> {
  const { error, options, isSeen } = lost;
  const isFound = error instanceof SendOutcomeUnknownError && error.taskId !== sender.task?.handle.id;
  if (isFound && error.taskId !== undefined) return desk.held(error.taskId);
  // The look was made already where the send failed by itself.
  if (isSeen) return undefined;
  return lookForLost({ session, desk, plan: () => sender.holder }, error, options);
}

/**
 * Sends by a stream; `undefined` where the posture took a card that streams no more. Nothing was sent then, and nobody
 * asked for a stream: how work is delegated is ours to choose.
 */
async function openUnlessLost(
  session: Session,
  desk: TaskDesk,
  sender: Sender,
  work: { readonly input: MessageInput; readonly options: DelegateOptions },
  streams: () => boolean,
): Promise<HeldTaskStream | undefined> {
  const { input, options } = work;
  try {
    // Whoever follows decides where it ends.
    const how = { settle: "terminal", needsStream: false } as const;
    return await sendStreamingMessage(session, desk, sender, input, options, how);
  } catch (error) {
    if (error instanceof CapabilityMissingError && !streams()) return undefined;
    throw error;
  }
}
