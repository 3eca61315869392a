import { CapabilityMissingError } from "../errors/lease.ts";
import { LifecycleMismatchError } from "../errors/lifecycle.ts";
import { UnsupportedOperationError } from "../errors/protocol.ts";
import { StreamInterruptedError, StreamReplacedError } from "../errors/stream.ts";
import { isInterruptedState, isTerminalState } from "../model/states.ts";
import type { TaskUpdate } from "../model/update.ts";
import { createScope, sleep, withSignal } from "../util/abort.ts";
import { defined } from "../util/freeze.ts";
import { aboutTask } from "./about-task.ts";
import { backoffMs, firstPollMs, longestPollMs, streamBackoff } from "./backoff.ts";
import { checkCallOptions } from "./call.ts";
import { isForeign, isPassing } from "./follow-faults.ts";
import type { FollowParts } from "./follow-parts.ts";
import type { HandleEntry } from "./handle.ts";
import { createInbox } from "./inbox.ts";
import { effectiveCard } from "./pinned.ts";
import { createPushWait } from "./push-wait.ts";
import { getTask, subscribeToTask } from "./reads.ts";
import type { FollowOptions } from "./result-options.ts";
import type { Session } from "./session.ts";
import { isSettled } from "./settle.ts";
import type { HeldStream, SharedStream } from "./shared-stream.ts";
import type { Follower } from "./stream-slot.ts";
import { createTold } from "./told.ts";
import { limitWait } from "./wait-limits.ts";

/**
 * Follows a task to where it is settled: one ordered sequence in which nothing comes twice and nothing is left out,
 * whatever the wire does. Streams where the card has it, polls where not, sooner when something is pushed; the lease is
 * checked at each step. All who follow a task by one handle share a stream, each at its own pace.
 */
export async function* followTask(
  session: Session,
  entry: HandleEntry,
  options: FollowOptions,
  parts: FollowParts,
): AsyncGenerator<TaskUpdate> {
  checkCallOptions(options);
  const { tracked, holder, slot } = entry;
  const { clock, observer } = session;
  const { settle, onSeen, begun, left } = parts;
  let { looksFirst = false } = parts;
  const { maxAttempts = 5, headers } = options;
  const random = session.options.random ?? Math.random;
  const told = createTold(tracked);
  const inbox = createInbox(told, session.options.limits.eventBytes);
  const scope = createScope(clock, [options.signal, session.closed, holder.signal, left]);
  const { signal } = scope;
  const call = { signal, ...defined({ headers }) };
  const pushes = createPushWait(session, tracked);
  const isOver = () => isSettled(tracked, settle);
  let fruitless = 0;
  let streams = 0;
  let isOpener = false;
  let wasCut = false;
  /** Whether a stream has shown that the task is settled, and all before it with that. */
  let isShown = false;
  let wake = () => {};

  const follower: Follower = {
    event({ event, isFirst, shows }) {
      onSeen?.("stream");
      const isResumed = isFirst && wasCut && "task" in event;
      if (isResumed && isOpener)
        observer.emit("stream-resumed", { taskId: tracked.record.taskId, streamCount: streams });
      const make = () => (isResumed ? told.missing(true) : told.event(event));
      if (inbox.put(make, () => JSON.stringify(event).length)) fruitless = 0;
      isShown ||= shows(settle);
      wake();
    },
    looked() {
      onSeen?.("poll");
      fruitless = 0;
      inbox.put(() => told.missing(wasCut));
      isShown ||= isOver();
      wake();
    },
    freed: () => wake(),
  };

  function* drain(): Generator<TaskUpdate> {
    for (let update = inbox.take(); update; update = inbox.take()) {
      options.signal?.throwIfAborted();
      yield update;
    }
  }

  function* tellMissing(isAfterCut: boolean): Generator<TaskUpdate> {
    if (inbox.put(() => told.missing(isAfterCut))) fruitless = 0;
    yield* drain();
  }

  /** Reads the task itself and tells what is missing. */
  async function* read(isAfterCut: boolean): AsyncGenerator<TaskUpdate> {
    await getTask(session, entry, call);
    onSeen?.("poll");
    yield* tellMissing(isAfterCut);
  }

  /** Where a stream showed nothing, the task itself may still have news. */
  async function* readUnshown(): AsyncGenerator<TaskUpdate> {
    try {
      yield* read(true);
    } catch (error) {
      if (!isPassing(error)) throw error;
      yield* tellMissing(true);
    }
  }

  async function open(until: AbortSignal): Promise<HeldStream> {
    isOpener = true;
    // The stream ends with its last follower, so it has neither the signal nor the time of this one.
    const lasting = { ...call, signal: until, timeoutMs: Number.POSITIVE_INFINITY };
    return subscribeToTask(session, entry, { ...lasting, settle: "terminal" });
  }

  /** The shared stream from where it is to its end. */
  async function* readStream(shared: SharedStream): AsyncGenerator<TaskUpdate> {
    const leave = shared.enter();
    streams += 1;
    try {
      // Who comes later begins with the task as it is.
      if (shared.hasBegun && shared !== borrowed) inbox.put(() => told.missing(wasCut));
      do yield* drain();
      while (!isShown && (await withSignal(shared.pull(), signal)));
    } finally {
      leave();
    }
    yield* drain();
    // What somebody else was faster to see has to be told here too.
    yield* tellMissing(false);
  }

  /** What another stream of the handle brings, while it has the connection; polls are the floor. */
  async function* listen(): AsyncGenerator<TaskUpdate> {
    yield* drain();
    if (isShown || !slot.isTaken) return;
    const nap = createScope(clock, [signal]);
    let isWoken = false;
    wake = () => {
      isWoken = true;
      nap.abort(undefined);
    };
    try {
      await sleep(clock, longestPollMs, nap.signal);
    } catch (error) {
      if (!isWoken) throw error;
    } finally {
      nap.release();
      wake = () => {};
    }
    if (isWoken) return yield* drain();
    yield* read(wasCut);
    fruitless = 0;
    isShown ||= isOver();
  }

  async function pause(error: unknown): Promise<void> {
    fruitless += 1;
    // An agent may end its streams while it waits for the caller, and that can take as long as it wants.
    const isWaiting = error instanceof StreamInterruptedError && isInterruptedState(entry.handle.state);
    if (fruitless >= maxAttempts && !isWaiting) throw error;
    const { retryMs } = slot;
    await sleep(clock, backoffMs(fruitless - 1, { ...streamBackoff, random, error, retryMs }), signal);
  }

  let borrowed: SharedStream | undefined;
  const leaveSlot = slot.follow(follower);
  limitWait(scope, holder.pin.interface.url, options);
  if (begun) {
    slot.shareBegun(begun.stream, begun.events);
    borrowed = slot.share(open);
    inbox.put(() => told.event(begun.first));
    isShown = isOver();
  }
  let canStream = effectiveCard(holder.pin).capabilities.streaming === true;
  let isNewest = true;

  try {
    while (canStream || borrowed) {
      let shared: SharedStream | undefined;
      try {
        if (looksFirst) {
          yield* read(false);
          looksFirst = false;
          isShown = isOver();
        } else if (slot.isTaken && !isNewest) yield* listen();
        else {
          isNewest = false;
          isOpener = false;
          shared = slot.share(open);
          yield* readStream(shared);
        }
        // What a broken stream may have lost of the outputs, the task itself still has.
        if (shared && wasCut && isTerminalState(entry.handle.state)) yield* read(true);
        // A stream may also end with a message in the place of the task.
        if (isOver() && (shared || isShown)) return;
        isShown = false;
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        const wasOpen = shared?.stream !== undefined;
        if (error instanceof UnsupportedOperationError || error instanceof CapabilityMissingError) {
          // 3.1.6: a finished task can't be subscribed to. If it is not that, the agent does not stream after all.
          canStream = false;
        } else if (error instanceof StreamReplacedError || isForeign(error, shared, borrowed)) {
          wasCut = true;
        } else if (error instanceof LifecycleMismatchError || !isPassing(error)) {
          throw error;
        } else {
          wasCut ||= wasOpen;
          const isEmpty = error instanceof StreamInterruptedError && shared?.hasBegun === false;
          if (isEmpty) yield* readUnshown();
          if (isEmpty && isOver()) return;
          // An agent whose streams never show anything does not stream, whatever its card says.
          if (isEmpty && fruitless + 1 >= maxAttempts) canStream = false;
          else await pause(error);
        }
      } finally {
        if (shared) borrowed = undefined;
      }
    }

    for (let waitMs = firstPollMs; ; waitMs = Math.min(waitMs * 1.5, longestPollMs)) {
      let floorMs = 0;
      try {
        yield* read(wasCut);
        fruitless = 0;
        if (isOver()) return;
      } catch (error) {
        if (!isPassing(error)) throw error;
        fruitless += 1;
        if (fruitless >= maxAttempts) throw error;
        floorMs = backoffMs(0, { firstMs: 0, longestMs: 0, random, error });
      }
      await pushes.rest(Math.max(waitMs, floorMs), { signal, floorMs });
    }
  } catch (error) {
    const told = signal.aborted ? signal.reason : error;
    if (!left?.aborted) throw aboutTask(told, entry.handle.id, options.signal);
  } finally {
    leaveSlot();
    scope.release();
  }
}
