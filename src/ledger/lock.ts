import { LedgerConflictError } from "../errors/ledger.ts";
import type { LeaseRecord } from "../model/record.ts";
import { type Clock, elapsedMs, type Instant, isoTime, parseTime, readInstant } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import { type Ledger, leaseKey } from "./ledger.ts";

/** Who wants to check an agent's card. */
export interface LockRequest {
  readonly cardUrl: string;
  readonly principal: string;
  /** Names the one who asks; no two may share a name. */
  readonly holder: string;
  /** For how long at most, in milliseconds. */
  readonly ttlMs: number;
}

/** What came of asking for the lock. */
export type LockOutcome =
  | {
      readonly outcome: "acquired";
      /** Revision at which it was taken. */
      readonly turn: number;
      /** What the last holder found, if one did. */
      readonly checked?: LeaseRecord["checked"];
      /** Gives it back, with what was found. Does nothing when somebody else has it by now. */
      release(checked?: LeaseRecord["checked"]): Promise<void>;
    }
  | {
      readonly outcome: "held";
      /** By whom. */
      readonly holder: string;
      /** When to ask again at the latest, in milliseconds from now. */
      readonly remainingMs: number;
    };

/** A short lock that workers share through their ledger. */
export interface LedgerLock {
  /** Asks once, and never waits for a holder. Throws what the ledger throws. */
  acquire(request: LockRequest): Promise<LockOutcome>;
}

interface Seen {
  readonly revision: number;
  readonly at: Instant;
}

/**
 * Makes a lock on top of compare-and-set.
 *
 * Time is the caller's: a lock is over when its `expiresAt` passed on the caller's wall clock, or when its record has
 * stood still for its whole `ttlMs` since this caller first saw it. So a dead holder blocks nobody for longer than
 * `ttlMs`, however far two clocks are apart; a clock that runs ahead takes a lock too early, which costs one card read.
 */
export function createLedgerLock(ledger: Ledger, clock: Clock): LedgerLock {
  const seen = new Map<string, Seen>();

  /** How long a lock has still to run, as far as this caller can tell. */
  function remainingOf(key: string, revision: number, record: LeaseRecord): number {
    const { holder, expiresAt, ttlMs = 0 } = record;
    if (holder === undefined || expiresAt === undefined) return 0;
    const known = seen.get(key);
    const first = known?.revision === revision ? known : { revision, at: readInstant(clock) };
    seen.set(key, first);
    const onWall = (parseTime(expiresAt) ?? 0) - clock.now();
    return Math.max(0, Math.min(onWall, ttlMs - elapsedMs(clock, first.at)));
  }

  async function put(key: string, record: LeaseRecord, revision: number) {
    try {
      return await ledger.write(key, record, revision);
    } catch (error) {
      if (error instanceof LedgerConflictError) return undefined;
      throw error;
    }
  }

  return {
    async acquire({ cardUrl, principal, holder, ttlMs }) {
      const key = leaseKey(cardUrl, principal);
      const entry = await ledger.read(key);
      const record = entry?.record.kind === "lease" ? entry.record : undefined;
      const remainingMs = entry && record ? remainingOf(key, entry.revision, record) : 0;
      if (remainingMs > 0) return { outcome: "held", holder: record?.holder ?? "", remainingMs };
      const base = { kind: "lease", schema: 1, cardUrl, principal } as const;
      const nowMs = clock.now();
      const taken = await put(
        key,
        {
          ...base,
          holder,
          ttlMs,
          expiresAt: isoTime(nowMs + ttlMs),
          ...defined({ checked: record?.checked }),
          updatedAt: isoTime(nowMs),
        },
        entry?.revision ?? 0,
      );
      // Somebody else was first: it has just begun.
      if (!taken) return { outcome: "held", holder: "", remainingMs: ttlMs };
      seen.delete(key);
      return {
        outcome: "acquired",
        turn: taken.revision,
        ...defined({ checked: record?.checked }),
        async release(checked = record?.checked) {
          const free = { ...base, ...defined({ checked }), updatedAt: isoTime(clock.now()) };
          await put(key, free, taken.revision);
        },
      };
    },
  };
}
