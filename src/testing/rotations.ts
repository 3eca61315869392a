import type { OperationName } from "../model/operations.ts";
import type { Clock } from "../util/clock.ts";
import { checkOptions } from "../util/options.ts";
import type { CardDesk, NextCard } from "./card-desk.ts";

/** When a card is rotated: before a request, or at a time. */
export type RotationMoment =
  | {
      /** Kind of request that is counted. */
      readonly before: "request" | "card" | "call" | OperationName;
      /** Which one, counted from when the rotation was scripted. @default 1 */
      readonly nth?: number;
    }
  | {
      /** Wall time on the agent's clock, in milliseconds. */
      readonly atMs: number;
    }
  | {
      /** Milliseconds from now on the agent's monotonic clock. */
      readonly afterMs: number;
    };

interface Scheduled {
  readonly next: NextCard;
  /** Milliseconds since its time came; `undefined` while it has not, or when it goes by requests. */
  readonly lateMs: () => number | undefined;
  /** What is counted, and how many are still to come. */
  readonly before: string | undefined;
  left: number;
}

/** Rotations that are still to come. */
export interface Rotations {
  /** Scripts one. */
  schedule(next: NextCard, moment: RotationMoment): void;
  /** Carries out those that have come due by time. */
  byTime(): void;
  /** Counts a request of these kinds, and carries out the rotations that come before it. */
  byRequest(kinds: readonly string[]): void;
}

/**
 * Makes the list. Time is looked at when a request arrives or the card is asked for, and no timer is set, so that a
 * rotation to come never counts as an open timer.
 */
export function createRotations(clock: Clock, cards: CardDesk): Rotations {
  const scheduled = new Set<Scheduled>();
  const byTime = () => {
    const due = [...scheduled].flatMap((entry) => {
      const lateMs = entry.lateMs();
      return lateMs === undefined ? [] : [{ entry, lateMs }];
    });
    // Several may have come due since anybody looked; the last one to come due must win.
    for (const { entry, lateMs } of due.sort((a, b) => b.lateMs - a.lateMs)) {
      scheduled.delete(entry);
      cards.rotate(entry.next, clock.now() - lateMs);
    }
  };
  return {
    schedule(next, moment) {
      const kinds = { before: "text", nth: "any", atMs: "any", afterMs: "any" } as const;
      checkOptions<Partial<Record<keyof typeof kinds, unknown>>>(moment, kinds);
      if (!("before" in moment)) {
        scheduled.add({ next, before: undefined, left: 0, lateMs: lateness(clock, moment) });
        return;
      }
      const { nth = 1, before } = moment;
      if (!Number.isInteger(nth) || nth < 1) {
        throw new TypeError(`nth must be a positive integer, found ${nth}`);
      }
      scheduled.add({ next, before, left: nth, lateMs: () => undefined });
    },
    byTime,
    byRequest(kinds) {
      byTime();
      for (const entry of scheduled) {
        if (entry.before === undefined || !kinds.includes(entry.before)) continue;
        entry.left -= 1;
        if (entry.left > 0) continue;
        scheduled.delete(entry);
        cards.rotate(entry.next, clock.now());
      }
    },
  };
}

function lateness(clock: Clock, moment: { atMs: number } | { afterMs: number }): () => number | undefined {
  const isWall = "atMs" in moment;
  if (isWall && !Number.isFinite(moment.atMs)) {
    throw new TypeError(`atMs must be a finite number, found ${moment.atMs}`);
  }
  if (!isWall && !(moment.afterMs >= 0)) {
    throw new TypeError(`afterMs must not be negative, found ${moment.afterMs}`);
  }
  const dueMs = isWall ? moment.atMs : clock.monotonicMs() + moment.afterMs;
  return () => {
    const lateMs = (isWall ? clock.now() : clock.monotonicMs()) - dueMs;
    return lateMs >= 0 ? lateMs : undefined;
  };
}
