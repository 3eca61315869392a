import { TimeoutError } from "../errors/transport.ts";
import type { StreamResponse } from "../model/events.ts";
import type { AnsweredOutcome } from "../model/outcome.ts";
import { createScope } from "../util/abort.ts";
import type { TaskDesk } from "./desk.ts";
import type { HandleEntry, TaskStream } from "./handle.ts";
import type { MessageInput, SendOptions } from "./message.ts";
import { answeredBy } from "./outcome.ts";
import { effectiveCard } from "./pinned.ts";
import { resultOf } from "./result.ts";
import type { ResultOptions, TaskOutcome } from "./result-options.ts";
import { type Sender, sendMessage, sendStreamingMessage } from "./send.ts";
import type { Session } from "./session.ts";

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
  const { deadlineMs, noProgressMs } = options;
  const { url } = sender.holder.pin.interface;
  const scope = createScope(clock, [options.signal]);
  if (deadlineMs !== undefined) {
    scope.deadline(deadlineMs, () => new TimeoutError(url, "deadline", deadlineMs));
  }
  const begun =
    noProgressMs === undefined
      ? () => {}
      : scope.deadline(noProgressMs, () => new TimeoutError(url, "no-progress", noProgressMs));
  // The budget of a call is for its exchange; the wait has a deadline of its own, which began with the send.
  const { timeoutMs: _exchange, deadlineMs: _begun, ...rest } = options;
  const waiting = { ...rest, signal: scope.signal };
  const finish = (entry: HandleEntry, stream?: TaskStream) => {
    begun();
    return resultOf(session, () => desk, entry, waiting, stream);
  };
  try {
    if (effectiveCard(sender.holder.pin).capabilities.streaming !== true) {
      const reply = await sendMessage(session, desk, sender, input, { ...options, signal: scope.signal });
      return "message" in reply ? answeredBy(reply.message) : await finish(desk.entryOf(reply.task));
    }
    const settle = options.until ?? "settled";
    const stream = await sendStreamingMessage(session, desk, sender, input, waiting, settle);
    const iterator = stream[Symbol.asyncIterator]();
    const first = await iterator.next();
    // 3.1.2: a message in place of a task is the whole answer, which only the end of the stream shows.
    const next = stream.task ? first : await iterator.next();
    if (stream.task) return await finish(desk.entryOf(stream.task), continued(stream, iterator, next));
    await iterator.return?.();
    if (first.done || !("message" in first.value)) {
      throw new TypeError("a stream without a task began with no message");
    }
    return answeredBy(first.value.message);
  } finally {
    scope.release();
  }
}

/** A stream whose first event was looked at already, as if it had not been. */
function continued(
  stream: TaskStream,
  rest: AsyncIterator<StreamResponse>,
  first: IteratorResult<StreamResponse>,
): TaskStream {
  async function* events(): AsyncGenerator<StreamResponse> {
    try {
      for (let item = first; !item.done; item = await rest.next()) yield item.value;
    } finally {
      await rest.return?.();
    }
  }
  return {
    task: stream.task,
    get skipped() {
      return stream.skipped;
    },
    close: () => stream.close(),
    [Symbol.asyncIterator]: events,
    [Symbol.asyncDispose]: () => stream[Symbol.asyncDispose](),
  };
}
