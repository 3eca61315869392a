import { originOf } from "../card/interface.ts";
import type { Clock } from "../util/clock.ts";
import type { FetchLike } from "../wire/http.ts";

/** What may be spent on repetitions at each origin, so that an outage is not amplified. */
export interface RetryBudget {
  /** Takes one repetition, if fewer than `capacity` are outstanding. */
  take(url: string, capacity: number): boolean;
  /** Gives a part of a repetition back, as a success does; or a whole one, which was none after all. */
  refund(url: string, share?: number): void;
}

/** Repetitions that may be outstanding at one origin, where nothing else was asked for. */
export const usualBudget = 10;

/** What a success gives back: ten of them are worth one repetition. */
const refundShare = 0.1;

/** Origins remembered at most; the one that was not asked for the longest goes first. */
const maxOrigins = 1_000;

/** Makes a budget. */
export function createRetryBudget(): RetryBudget {
  const spent = new Map<string, number>();

  function set(origin: string, amount: number): void {
    spent.delete(origin);
    if (amount > 0) spent.set(origin, amount);
    const [oldest] = spent.keys();
    if (spent.size > maxOrigins && oldest !== undefined) spent.delete(oldest);
  }

  return {
    take(url, capacity) {
      const origin = originOf(url);
      const next = (spent.get(origin) ?? 0) + 1;
      if (next > capacity) return false;
      set(origin, next);
      return true;
    },
    refund(url, share = refundShare) {
      const origin = originOf(url);
      const known = spent.get(origin);
      // A hair above nothing is what adding tenths leaves.
      if (known !== undefined) set(origin, known - share < 1e-6 ? 0 : known - share);
    },
  };
}

/** How a client goes to the network. */
export interface NetworkRoute {
  readonly fetch: FetchLike;
  readonly clock: Clock;
}

/** One thing for each way to the network: what is learned by one client holds for all that go the same way. */
export function sharedByRoute<T>(make: (clock: Clock) => T): (route: NetworkRoute) => T {
  const made = new WeakMap<FetchLike, WeakMap<Clock, T>>();
  return ({ fetch, clock }) => {
    const byClock = made.get(fetch) ?? new WeakMap<Clock, T>();
    made.set(fetch, byClock);
    const known = byClock.get(clock) ?? make(clock);
    byClock.set(clock, known);
    return known;
  };
}
