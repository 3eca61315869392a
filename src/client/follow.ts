import { CapabilityMissingError } from "../errors/lease.ts";
import { LifecycleMismatchError } from "../errors/lifecycle.ts";
import { UnsupportedOperationError } from "../errors/protocol.ts";
import { StreamInterruptedError, StreamStalledError } from "../errors/stream.ts";
import { isInterruptedState, isTerminalState } from "../model/states.ts";
import type { TaskUpdate } from "../model/update.ts";
import { sleep } from "../util/abort.ts";
import { backoffMs, isTransient } from "./backoff.ts";
import type { HandleEntry, TaskStream } from "./handle.ts";
import { effectiveCard } from "./pinned.ts";
import { getTask, subscribeToTask } from "./reads.ts";
import type { FollowOptions } from "./result-options.ts";
import type { Session } from "./session.ts";
import { isSettled, type SettleRule } from "./settle.ts";
import { createTold } from "./told.ts";

/** What a follower needs beside the caller's options. */
export interface FollowParts {
  /** Where it ends. */
  readonly settle: SettleRule;
  /** A stream that is open already; it is read first. */
  readonly stream?: TaskStream;
  /** Told whenever the task was seen, with or without news. */
  readonly onSeen?: (by: "stream" | "poll") => void;
}

/** Waits between two streams: the cap of the first, and of the longest. */
const streamBackoff = { firstMs: 500, longestMs: 15_000 };
/** Waits between two polls: the first, and the longest. */
const firstPollMs = 1_000;
const longestPollMs = 30_000;

/**
 * Follows a task to where it is settled: one ordered sequence in which nothing comes twice and nothing is left out,
 * whatever the wire does. Streams where the card has it, polls where not; the lease is checked at each step of either.
 */
export async function* followTask(
  session: Session,
  entry: HandleEntry,
  options: FollowOptions,
  parts: FollowParts,
): AsyncGenerator<TaskUpdate> {
  const { tracked } = entry;
  const { clock, observer } = session;
  const { settle, onSeen } = parts;
  const { maxAttempts = 5, signal } = options;
  const random = session.options.random ?? Math.random;
  const told = createTold(tracked);
  const isOver = () => isSettled(tracked, settle);
  let { stream } = parts;
  let streams = 0;
  let fruitless = 0;
  let wasCut = false;
  let wasSilent = false;
  let canStream = effectiveCard(entry.holder.pin).capabilities.streaming === true;

  /** Reads the task itself and tells what is missing. */
  async function* read(isAfterCut: boolean): AsyncGenerator<TaskUpdate> {
    await getTask(session, entry, options);
    onSeen?.("poll");
    fruitless = 0;
    yield* told.missing(isAfterCut);
  }

  /** One stream from its first event to its end. */
  async function* readStream(open: TaskStream): AsyncGenerator<TaskUpdate> {
    let isFirst = true;
    for await (const event of open) {
      onSeen?.("stream");
      const isResumed = isFirst && wasCut && "task" in event;
      const updates = isResumed ? told.missing(true) : told.event(event);
      if (isResumed) observer.emit("stream-resumed", { taskId: entry.handle.id, streamCount: streams });
      if (updates.length > 0) fruitless = 0;
      isFirst = false;
      yield* updates;
    }
    // What somebody else was faster to see has to be told here too.
    yield* told.missing(false);
  }

  async function pause(error: unknown): Promise<void> {
    fruitless += 1;
    // An agent may end its streams while it waits for the caller, and that can take as long as it wants.
    const isWaiting = error instanceof StreamInterruptedError && isInterruptedState(entry.handle.state);
    if (fruitless >= maxAttempts && !isWaiting) throw error;
    await sleep(clock, backoffMs(fruitless - 1, { ...streamBackoff, random, error }), signal);
  }

  while (canStream) {
    try {
      if (wasSilent) {
        // A stream may have nothing to say for as long as the task works; the task itself tells whether it does.
        wasSilent = false;
        yield* read(true);
        if (isOver()) return;
      }
      stream ??= await subscribeToTask(session, entry, { ...options, settle });
      streams += 1;
      yield* readStream(stream);
      // What a broken stream may have lost of the outputs, the task itself still has.
      if (wasCut && isTerminalState(entry.handle.state)) yield* read(true);
      // A stream may also end with a message in the place of the task.
      if (isOver()) return;
    } catch (error) {
      if (error instanceof UnsupportedOperationError || error instanceof CapabilityMissingError) {
        // 3.1.6: a finished task can't be subscribed to. If it is not that, the agent does not stream after all.
        canStream = false;
      } else if (error instanceof LifecycleMismatchError || !isTransient(error)) {
        throw error;
      } else {
        wasCut ||= streams > 0;
        wasSilent = error instanceof StreamStalledError;
        await pause(error);
      }
    } finally {
      stream?.close();
      stream = undefined;
    }
  }

  for (let waitMs = firstPollMs; ; waitMs = Math.min(waitMs * 1.5, longestPollMs)) {
    let failure: unknown;
    try {
      yield* read(wasCut);
      if (isOver()) return;
    } catch (error) {
      if (!isTransient(error)) throw error;
      failure = error;
      fruitless += 1;
      if (fruitless >= maxAttempts) throw error;
    }
    const floor =
      failure === undefined ? 0 : backoffMs(0, { firstMs: 0, longestMs: 0, random, error: failure });
    await sleep(clock, Math.max(waitMs, floor), signal);
  }
}
