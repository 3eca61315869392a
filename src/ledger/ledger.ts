import type { LedgerEntry, LedgerRecord } from "../model/record.ts";

/**
 * Where handles, pins and intents are kept. It remembers under compare-and-set and decides nothing.
 *
 * Every method may throw `LedgerUnavailableError`.
 */
export interface Ledger {
  /** The record under a key, or `undefined`. */
  read(key: string): Promise<LedgerEntry | undefined>;
  /**
   * Writes a record, if its revision is still `expectedRevision`; 0 means that there must be none yet.
   *
   * @throws LedgerConflictError when somebody else was first.
   */
  write(key: string, record: LedgerRecord, expectedRevision: number): Promise<LedgerEntry>;
  /** Forgets a record; one that is not there is no error. */
  remove(key: string): Promise<void>;
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
