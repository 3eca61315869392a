import type { Clock } from "../util/clock.ts";
import { systemClock } from "../util/clock.ts";
import type { OptionKinds } from "../util/options.ts";
import type { LedgerFacets } from "./facets.ts";

/** What the options of all shared ledgers have in common. */
export interface SharedLedgerOptions {
  /**
   * How long a finished task or a settled intent is kept after it was last written, in milliseconds; `Infinity` keeps
   * it for good.
   *
   * @default 2 592 000 000, 30 days
   */
  readonly retentionMs?: number;
  /** Where time comes from. @default the machine's */
  readonly clock?: Clock;
  /** Where chance comes from, for the first revision of a record. @default `Math.random` */
  readonly random?: () => number;
}

/** What each option of a shared ledger has to be. */
export const sharedLedgerKinds: OptionKinds<SharedLedgerOptions> = Object.freeze({
  retentionMs: "any",
  clock: "object",
  random: "function",
});

/** Checked options of a shared ledger. */
export type ResolvedLedgerOptions = Required<SharedLedgerOptions>;

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Checks options and fills in what was left out.
 *
 * @throws TypeError that names the option.
 */
export function resolveLedgerOptions(options: SharedLedgerOptions): ResolvedLedgerOptions {
  const { retentionMs = 30 * dayMs, clock = systemClock, random = Math.random } = options;
  return { retentionMs: checkRetention(retentionMs), clock, random };
}

/** Checks `retentionMs`. Throws a TypeError that names it. */
export function checkRetention(retentionMs: number): number {
  if (typeof retentionMs === "number" && retentionMs >= 1) return retentionMs;
  throw new TypeError(`retentionMs: found ${retentionMs}, wanted at least 1`);
}

/** When a record may be dropped, in milliseconds since the Unix epoch; `undefined` for never. */
export function dropsAtMs({ isSettled, updatedMs }: LedgerFacets, retentionMs: number): number | undefined {
  const atMs = Math.ceil(updatedMs + retentionMs);
  return isSettled && Number.isSafeInteger(atMs) ? atMs : undefined;
}

/** A revision to begin with: one that an earlier record of the same key had not, so that a stale writer can't match. */
export function firstRevision(random: () => number): number {
  return 1 + Math.floor(random() * 2 ** 50);
}

/** Calls `prune` now and then, at most once a minute; what it throws is dropped, since nobody waits for it. */
export function createSweeper(clock: Clock, prune: () => Promise<unknown>): () => Promise<void> {
  let last = clock.monotonicMs();
  return async () => {
    if (clock.monotonicMs() - last < 60_000) return;
    last = clock.monotonicMs();
    try {
      await prune();
    } catch {
      // What could not be dropped now can be dropped next time.
    }
  };
}
