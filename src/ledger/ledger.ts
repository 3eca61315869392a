import type { LedgerPage, LedgerQuery } from "../model/ledger.ts";
import type { LedgerEntry, LedgerRecord } from "../model/record.ts";

/**
 * Where handles, pins, intents and trust are kept. It remembers under compare-and-set and decides nothing.
 *
 * What is kept is JSON: any text may hold any character, NUL and lone surrogates included. Every method rejects with
 * `LedgerUnavailableError` when the store fails, and after `close`. `ledgerSuite` of `a2a-lease/testing` is this
 * contract as a list of cases.
 */
export interface Ledger {
  /**
   * Whether other processes may work with the same records. Then the checks of a card are shared through it, and trust is
   * read again before each send. @default false
   */
  readonly shared?: boolean;
  /**
   * The record under a key, or `undefined`.
   *
   * @throws LedgerUnavailableError, with the reason `schema` or `corrupt` for a record that can't be read.
   */
  read(key: string): Promise<LedgerEntry | undefined>;
  /**
   * Writes a record, if its revision is still `expectedRevision`; 0 means that there must be none yet. A record of a
   * newer schema is never overwritten.
   *
   * @throws LedgerConflictError when somebody else was first.
   */
  write(key: string, record: LedgerRecord, expectedRevision: number): Promise<LedgerEntry>;
  /** Forgets a record; one that is not there is no error. */
  remove(key: string): Promise<void>;
  /**
   * One page of the records that a query is about. A record that is there from the first page to the last is in exactly
   * one of them, whatever is written meanwhile.
   *
   * @throws TypeError for a query that is none.
   */
  list(query: LedgerQuery): Promise<LedgerPage>;
  /**
   * Drops what was kept long enough: tasks that are over, intents that were answered or refused, and leases nobody
   * holds. Open work and trust stay. Resolves to how many it dropped. A ledger may do the same by itself.
   */
  prune(): Promise<number>;
  /**
   * Tells of every write under a key, where that costs nothing; the returned function ends it. A ledger without it is
   * asked now and then by those that wait.
   */
  watch?(key: string, listener: () => void): () => void;
  /** Lets go of connections and files. */
  close?(): Promise<void>;
}

/** Key of a task's record. */
export function taskKey(cardUrl: string, principal: string, taskId: string): string {
  return JSON.stringify(["task", cardUrl, principal, taskId]);
}

/** Key of an intent's record. */
export function intentKey(cardUrl: string, principal: string, messageId: string): string {
  return JSON.stringify(["intent", cardUrl, principal, messageId]);
}

/** Key of the record of trust in a callee. */
export function trustKey(callee: string, protocolVersion: string): string {
  return JSON.stringify(["trust", callee, protocolVersion]);
}

/** Key of what leads from the secret of a push configuration to its task. */
export function pushKey(fingerprint: string): string {
  return JSON.stringify(["push", fingerprint]);
}

/** Key of what notifications showed of a task. */
export function inboxKey(cardUrl: string, principal: string, taskId: string): string {
  return JSON.stringify(["inbox", cardUrl, principal, taskId]);
}

/** Key of the record of who checks an agent's card. */
export function leaseKey(cardUrl: string, principal: string): string {
  return JSON.stringify(["lease", cardUrl, principal]);
}
