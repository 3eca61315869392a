import { LedgerConflictError } from "../errors/ledger.ts";
import type { LedgerEntry, LedgerRecord } from "../model/record.ts";
import { type Clock, systemClock } from "../util/clock.ts";
import { deepFreeze } from "../util/freeze.ts";
import { checkOptions } from "../util/options.ts";
import { type LedgerFacets, ledgerFacets } from "./facets.ts";
import { guardLedger } from "./guard.ts";
import type { Ledger } from "./ledger.ts";
import { matchesQuery, type ResolvedQuery, recordId } from "./query.ts";
import { checkRetention, dropsAtMs } from "./retention.ts";

/** How much a memory ledger keeps. */
export interface MemoryLedgerOptions {
  /**
   * Most records kept. Past it the records of finished tasks and settled intents go first, oldest first; then the
   * others.
   *
   * @default 10 000
   */
  readonly maxRecords?: number;
  /**
   * How long `prune` leaves a finished task or a settled intent after it was last written, in milliseconds.
   *
   * @default Infinity: as long as there is room
   */
  readonly retentionMs?: number;
  /** Where time comes from. @default the machine's */
  readonly clock?: Clock;
}

interface Kept {
  readonly entry: LedgerEntry;
  readonly facets: LedgerFacets;
}

/**
 * Makes a ledger in memory: it serves one process and goes with it.
 *
 * @throws TypeError naming the option for a wrong option.
 */
export function createMemoryLedger(options: MemoryLedgerOptions = {}): Ledger {
  checkOptions(options, { maxRecords: "any", retentionMs: "any", clock: "object" });
  const { maxRecords = 10_000, clock = systemClock } = options;
  const retentionMs = checkRetention(options.retentionMs ?? Number.POSITIVE_INFINITY);
  if (!Number.isInteger(maxRecords) || maxRecords < 1) {
    throw new TypeError(`maxRecords: found ${maxRecords}, wanted a whole number of at least 1`);
  }
  const open = new Map<string, Kept>();
  const settled = new Map<string, Kept>();
  const watchers = new Map<string, Set<() => void>>();
  /** No record that is made anew begins at a revision that a forgotten one had. */
  let forgotten = 0;
  const find = (key: string) => (open.get(key) ?? settled.get(key))?.entry;

  function forget(key: string): void {
    forgotten = Math.max(forgotten, find(key)?.revision ?? 0);
    open.delete(key);
    settled.delete(key);
  }

  function makeRoom(): void {
    if (open.size + settled.size <= maxRecords) return;
    const victims = settled.size > 0 ? settled : open;
    const [oldest] = victims.keys();
    if (oldest !== undefined) forget(oldest);
  }

  function write(key: string, record: LedgerRecord, expectedRevision: number): LedgerEntry {
    const revision = find(key)?.revision ?? 0;
    if (revision !== expectedRevision) {
      throw new LedgerConflictError(key, `found revision ${revision}, wanted ${expectedRevision}`);
    }
    const next = (revision === 0 ? forgotten : revision) + 1;
    const entry = Object.freeze({ key, revision: next, record: deepFreeze(record) });
    const facets = ledgerFacets(record);
    open.delete(key);
    settled.delete(key);
    (facets.isSettled ? settled : open).set(key, { entry, facets });
    makeRoom();
    for (const tell of [...(watchers.get(key) ?? [])]) tell();
    return entry;
  }

  function watch(key: string, listener: () => void): () => void {
    const tell = () => listener();
    const heard = watchers.get(key) ?? new Set();
    watchers.set(key, heard.add(tell));
    return () => {
      heard.delete(tell);
      if (heard.size === 0 && watchers.get(key) === heard) watchers.delete(key);
    };
  }

  function list(query: ResolvedQuery) {
    const { pageSize, pageToken = "" } = query;
    const found = [...open.values(), ...settled.values()]
      .filter(({ facets }) => matchesQuery(query, facets))
      .map(({ entry }) => ({ entry, id: recordId(entry.key) }))
      .filter(({ id }) => id > pageToken)
      .sort((one, other) => (one.id < other.id ? -1 : 1));
    const page = found.slice(0, pageSize);
    const last = found.length > pageSize ? page.at(-1)?.id : undefined;
    return Object.freeze({
      entries: Object.freeze(page.map(({ entry }) => entry)),
      unreadable: Object.freeze([]),
      ...(last === undefined ? {} : { nextPageToken: last }),
    });
  }

  function prune(): number {
    const nowMs = clock.now();
    const old = [...settled].filter(
      ([, { facets }]) => (dropsAtMs(facets, retentionMs) ?? Number.POSITIVE_INFINITY) <= nowMs,
    );
    for (const [key] of old) forget(key);
    return old.length;
  }

  const guarded = guardLedger({
    read: async (key) => find(key),
    write: async (key, record, expectedRevision) => write(key, record, expectedRevision),
    remove: async (key) => forget(key),
    list: async (query) => list(query),
    prune: async () => prune(),
    async close() {
      open.clear();
      settled.clear();
    },
  });
  return { ...guarded, watch };
}
