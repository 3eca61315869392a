import { createFlights, type FlightKind } from "../card/flight.ts";
import type { CardReading, CardSource } from "../card/source.ts";
import { type Ledger, leaseKey } from "../ledger/ledger.ts";
import { createLedgerLock } from "../ledger/lock.ts";
import type { CheckedCard } from "../model/record.ts";
import { sleep } from "../util/abort.ts";
import { type Clock, elapsedMs, type Instant, isoTime, readInstant } from "../util/clock.ts";
import { createUuid } from "../util/uuid.ts";

/** Who shares the checks of a card, and through what. */
export interface SharedSourceParts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: (() => number) | undefined;
  /** Names the card in the ledger. */
  readonly cardKey: string;
  readonly principal: string;
}

/** For how long a check is left to whoever began it, in milliseconds; after that it is somebody else's turn. */
const turnMs = 5_000;
/**
 * For how long anybody waits for others, in milliseconds: for one that died, and for whoever took its turn. With a card
 * that does not answer nobody ever finds anything, and a queue would hold the last one up for the turns of all.
 */
const longestWaitMs = 2 * turnMs;
/** How often whoever waits looks again, in milliseconds. */
const lookMs = 20;

/**
 * A card source whose checks are shared by all who share a ledger, as those of one process are by all of its calls: an
 * ordinary check may take the result of one that is under way, a forced one only that of a full read that began after it
 * was asked for. Of any number of workers that ask at one moment one reads, and at most one more for those who came too
 * late for it. Turns are told by revisions of a record, so that no clock is compared with another. A worker that died
 * loses its turn after five seconds; whoever finds another card than the one it has reads for itself, and a ledger that
 * fails leaves everyone to themselves.
 */
export function shareSource(source: CardSource, parts: SharedSourceParts): CardSource {
  const { ledger, clock, random, cardKey, principal } = parts;
  if (ledger.shared !== true || source.url === undefined) return source;
  const key = leaseKey(cardKey, principal);
  const lock = createLedgerLock(ledger, clock);
  const holder = createUuid(random);

  /** Who has the turn, and what the last one found. */
  async function look(): Promise<{ revision: number; isHeld: boolean; checked: CheckedCard | undefined }> {
    const entry = await ledger.read(key);
    const record = entry?.record.kind === "lease" ? entry.record : undefined;
    return {
      revision: entry?.revision ?? 0,
      isHeld: record?.holder !== undefined,
      checked: record?.checked,
    };
  }

  function accepts(kind: FlightKind, checked: CheckedCard | undefined, firstTurn: number): boolean {
    if (checked?.turn === undefined || checked.turn < firstTurn) return false;
    if (checked.digest !== source.current.bytesDigest) return false;
    return source.takesWord(kind, checked.isFull === true);
  }

  async function check(kind: FlightKind, signal: AbortSignal): Promise<CardReading> {
    const askedAt = readInstant(clock);
    let turn: Awaited<ReturnType<typeof takeTurn>>;
    try {
      turn = await takeTurn(kind, askedAt, signal);
    } catch {
      if (signal.aborted) throw signal.reason;
      // Sharing spares reads; that it fails is no reason not to read.
      return source.check(kind, signal);
    }
    if (turn.outcome === "late") return source.check(kind, signal);
    if (turn.outcome === "found") return source.confirm(askedAt, turn.isFull);
    let found: CheckedCard | undefined;
    try {
      const reading = await source.check(kind, signal);
      if (reading.kind === "card") {
        const digest = reading.snapshot.bytesDigest;
        found = { at: isoTime(reading.at.wallMs), digest, turn: turn.turn, isFull: reading.via === "full" };
      }
      return reading;
    } finally {
      // Nobody waits for the record: whoever is next looks until it is there.
      turn.release(found).catch(() => {});
    }
  }

  async function takeTurn(kind: FlightKind, askedAt: Instant, signal: AbortSignal) {
    const first = await look();
    // A read that was under way when this one was asked for may serve an ordinary check, and no forced one.
    const firstTurn = kind === "ordinary" && first.isHeld ? first.revision : first.revision + 1;
    for (let seen = first; ; seen = await look()) {
      if (accepts(kind, seen.checked, firstTurn)) {
        return { outcome: "found", isFull: seen.checked?.isFull === true } as const;
      }
      const taken = await lock.acquire({ cardUrl: cardKey, principal, holder, ttlMs: turnMs });
      if (taken.outcome === "acquired") {
        if (!accepts(kind, taken.checked, firstTurn)) return taken;
        await taken.release();
        return { outcome: "found", isFull: taken.checked?.isFull === true } as const;
      }
      if (elapsedMs(clock, askedAt) >= longestWaitMs) return { outcome: "late" } as const;
      await sleep(clock, Math.min(lookMs, taken.remainingMs), signal);
    }
  }

  const join = createFlights(check);
  return {
    ...source,
    get current() {
      return source.current;
    },
    get checkedAt() {
      return source.checkedAt;
    },
    check: join,
  };
}
