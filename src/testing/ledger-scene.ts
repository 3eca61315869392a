import assert from "node:assert/strict";
import { LedgerConflictError, LedgerUnavailableError } from "../errors/ledger.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { LedgerQuery } from "../model/ledger.ts";
import type { LedgerEntry, LedgerRecord } from "../model/record.ts";
import type { TestClock } from "./test-clock.ts";

/** What a case of the contract works with. */
export interface LedgerScene {
  /** Opens one more ledger on the store of the case. */
  open(): Promise<Ledger>;
  readonly clock: TestClock;
  readonly retentionMs: number;
}

/** Cases by what they show. */
export type LedgerScenes = Readonly<Record<string, (scene: LedgerScene) => Promise<void>>>;

/** Asserts that a call is refused because somebody else was first. */
export function refusesConflict(call: Promise<unknown>): Promise<void> {
  return assert.rejects(call, (error) => error instanceof LedgerConflictError);
}

/** Asserts that a call is refused because the ledger is of no use. */
export function refusesClosed(call: Promise<unknown>): Promise<void> {
  return assert.rejects(call, (error) => error instanceof LedgerUnavailableError);
}

/** Asserts that a record can be read back as it was written. */
export async function keeps(ledger: Ledger, key: string, record: LedgerRecord): Promise<LedgerEntry> {
  const written = await ledger.write(key, record, 0);
  const read = await ledger.read(key);
  assert.deepEqual(read, { key, revision: written.revision, record });
  return written;
}

/** Runs many writes at once and says how many won; the others must have been told that somebody else was first. */
export async function winnersOf(writes: readonly Promise<LedgerEntry>[]): Promise<number> {
  const settled = await Promise.allSettled(writes);
  for (const result of settled) {
    if (result.status === "rejected") assert.ok(result.reason instanceof LedgerConflictError, result.reason);
  }
  return settled.filter(({ status }) => status === "fulfilled").length;
}

/** Keys of all pages of a listing, sorted; `between` runs after each page. */
export async function keysOf(
  ledger: Ledger,
  query: LedgerQuery,
  between: (page: number) => Promise<unknown> = async () => {},
): Promise<readonly string[]> {
  const keys: string[] = [];
  let pageToken: string | undefined;
  for (let page = 1; page <= 1_000; page++) {
    const found = await ledger.list({ ...query, ...(pageToken === undefined ? {} : { pageToken }) });
    assert.ok(found.entries.length <= (query.pageSize ?? 100), "a page is longer than was asked for");
    assert.deepEqual(found.unreadable, []);
    keys.push(...found.entries.map(({ key }) => key));
    pageToken = found.nextPageToken;
    if (pageToken === undefined) return keys.sort();
    await between(page);
  }
  return assert.fail("the listing does not end");
}
