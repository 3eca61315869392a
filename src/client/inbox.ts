import type { TaskUpdate } from "../model/update.ts";
import type { Told } from "./told.ts";

/** Updates that wait for a consumer who is slower than another one of the same stream. */
const maxUpdates = 1_000;

/** What a follower has still to be told. */
export interface Inbox {
  /**
   * Puts in what is to be told. `sizeBytes` is asked for only when something waits already. Says whether there was
   * anything.
   */
  put(make: () => readonly TaskUpdate[], sizeBytes?: () => number): boolean;
  /** The next update, if there is one. */
  take(): TaskUpdate | undefined;
}

/**
 * Makes an {@link Inbox}. It is bounded: a consumer that falls too far behind is told no more until it has caught up,
 * and then, after a gap, what it missed. Nothing is told twice, since what was not put in counts as untold.
 */
export function createInbox(told: Told, maxBytes: number): Inbox {
  const waiting: TaskUpdate[] = [];
  let byteCount = 0;
  let isBehind = false;

  return {
    put(make, sizeBytes) {
      if (isBehind) return true;
      if (waiting.length > 0) byteCount += sizeBytes?.() ?? 0;
      const found = make();
      for (const update of found) waiting.push(update);
      isBehind = waiting.length > maxUpdates || byteCount > maxBytes;
      return found.length > 0;
    },
    take() {
      if (waiting.length === 0 && isBehind) {
        isBehind = false;
        byteCount = 0;
        for (const update of told.missing(true)) waiting.push(update);
      }
      const next = waiting.shift();
      if (waiting.length === 0) byteCount = 0;
      return next;
    },
  };
}
