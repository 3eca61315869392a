import { CardUnreachableError } from "../errors/card.ts";
import { type Clock, elapsedMs, type Instant, readInstant } from "../util/clock.ts";

/** Remembers which card URLs asked to be left alone, and for how long (`Retry-After`). */
export interface CardGate {
  /**
   * Lets a read pass, or fails in its place.
   *
   * @throws CardUnreachableError, with the time that is left, while the server asked to wait.
   */
  pass(key: string, url: string): void;
  /** Takes note of how a read failed. */
  note(key: string, error: unknown): void;
  /** Forgets what was noted: the URL answers again. */
  clear(key: string): void;
}

interface Closed {
  readonly since: Instant;
  readonly waitMs: number;
  readonly status: number | undefined;
  readonly attemptCount: number;
}

/** URLs remembered at most; the oldest go first. */
const maxClosed = 1_000;

/** Makes a gate. */
export function createCardGate(clock: Clock): CardGate {
  const closed = new Map<string, Closed>();
  return {
    pass(key, url) {
      const known = closed.get(key);
      if (!known) return;
      const leftMs = known.waitMs - elapsedMs(clock, known.since);
      if (leftMs <= 0) return;
      const { status, attemptCount } = known;
      throw new CardUnreachableError(url, {
        retryAfterMs: leftMs,
        attemptCount,
        ...(status === undefined ? {} : { status }),
      });
    },
    note(key, error) {
      if (!(error instanceof CardUnreachableError) || error.retryAfterMs === undefined) return;
      const attemptCount = (closed.get(key)?.attemptCount ?? 0) + 1;
      closed.delete(key);
      closed.set(key, {
        since: readInstant(clock),
        waitMs: error.retryAfterMs,
        status: error.status,
        attemptCount,
      });
      const [oldest] = closed.keys();
      if (closed.size > maxClosed && oldest !== undefined) closed.delete(oldest);
    },
    clear: (key) => void closed.delete(key),
  };
}
