import type { LedgerEntry, LedgerRecord } from "./record.ts";

/** Which records a listing is about. Members that are given must all hold. */
export interface LedgerQuery {
  /** What kind of record. */
  readonly kind: LedgerRecord["kind"];
  /** Of which agent: `cardUrl` of the record. */
  readonly cardUrl?: string;
  /** On whose behalf. */
  readonly principal?: string;
  /** In which context. */
  readonly contextId?: string;
  /**
   * In one of these states: the state of the task, of the intent, or the level of trust. A task that was never seen
   * has the state `""`.
   */
  readonly states?: readonly string[];
  /** Last written at this time or later, RFC 3339. */
  readonly updatedAfter?: string;
  /** Last written before this time, RFC 3339. */
  readonly updatedBefore?: string;
  /** Most records in one page, 1 to 1000. @default 100 */
  readonly pageSize?: number;
  /** Where to go on: `nextPageToken` of the page before. */
  readonly pageToken?: string;
}

/** A record that is there and can't be read. It is told of, never overwritten and never skipped in silence. */
export interface UnreadableRecord {
  /** Its key, as far as it is known. */
  readonly key: string;
  /** What was found, and what was wanted. */
  readonly message: string;
  /** Schema that was found, where another one was wanted. */
  readonly foundSchema?: number;
}

/** One page of a listing. */
export interface LedgerPage {
  /** The records, in an order of the ledger's own that no write changes. */
  readonly entries: readonly LedgerEntry[];
  /** What belongs to the listing and could not be read. */
  readonly unreadable: readonly UnreadableRecord[];
  /** Where the listing goes on; absent at its end. The last page may be empty. */
  readonly nextPageToken?: string;
}
