import type { StreamResponse } from "../model/events.ts";
import type { SettleRule } from "./settle.ts";
import { createSharedStream, type HeldStream, type SharedStream } from "./shared-stream.ts";

/** An event that the stream of a handle brought. */
export interface StreamNews {
  /** The event; it is folded in already. */
  readonly event: StreamResponse;
  /** Whether it is the first of its stream. */
  readonly isFirst: boolean;
  /** Whether the stream itself has shown that the task is where one waits for it to be. */
  readonly shows: (rule: SettleRule) => boolean;
}

/** Somebody who follows the task of a handle. Told at once, in order, before anything else is folded in. */
export interface Follower {
  /** An event came, by whichever stream has the connection. */
  event(news: StreamNews): void;
  /** The task was read, because its stream is silent. */
  looked(): void;
  /** Nobody has the connection any more. */
  freed(): void;
}

/**
 * The one connection of a handle. The newest stream has it: an older one is closed when the head of a newer one was
 * accepted. Those who follow the task share a stream, and hear what another one brings while it has the connection.
 */
export interface StreamSlot {
  /** Whether a stream that is not shared has the connection. */
  readonly isTaken: boolean;
  /** How long the server last asked to wait before a new connection, in milliseconds. */
  readonly retryMs: number | undefined;
  /** Gives the connection to a newer stream. */
  hold(stream: HeldStream): void;
  /** A stream has ended. */
  release(stream: HeldStream): void;
  /** The stream that is shared; it is opened where there is none. */
  share(open: (signal: AbortSignal) => Promise<HeldStream>): SharedStream;
  /** Shares a stream whose reading has begun. */
  shareBegun(stream: HeldStream, events: AsyncIterator<StreamResponse>): void;
  /** Tells of an event. */
  announce(news: StreamNews): void;
  /** Tells that the task was read. */
  announceLook(): void;
  /** Somebody follows; the returned function ends that. */
  follow(follower: Follower): () => void;
}

/** Makes the slot of a handle. */
export function createStreamSlot(): StreamSlot {
  const followers = new Set<Follower>();
  let held: HeldStream | undefined;
  let shared: SharedStream | undefined;
  let retryMs: number | undefined;

  function share(
    open: (signal: AbortSignal) => Promise<HeldStream>,
    begun?: AsyncIterator<StreamResponse>,
  ): SharedStream {
    const onOver = () => {
      if (shared === made) shared = undefined;
    };
    const made = createSharedStream({ open, onOver, ...(begun ? { begun } : {}) });
    shared = made;
    return made;
  }

  return {
    get isTaken() {
      return held !== undefined && shared === undefined;
    },
    get retryMs() {
      return retryMs;
    },
    hold(stream) {
      const older = held;
      held = stream;
      if (!older || older === stream) return;
      if (shared?.stream === older) shared = undefined;
      older.replace();
    },
    release(stream) {
      retryMs = stream.retryMs ?? retryMs;
      if (held !== stream) return;
      held = undefined;
      for (const follower of followers) follower.freed();
    },
    share: (open) => shared ?? share(open),
    shareBegun(stream, events) {
      share(async () => stream, events);
    },
    announce(news) {
      for (const follower of followers) follower.event(news);
    },
    announceLook() {
      for (const follower of followers) follower.looked();
      shared?.wake();
    },
    follow(follower) {
      followers.add(follower);
      return () => void followers.delete(follower);
    },
  };
}
