import type { LedgerPage } from "./ledger.ts";
import type { IntentRecord } from "./record.ts";

/**
 * Why nobody can tell what became of a message: the agent lists no tasks (`"no-listing"`); its listing has no end within
 * the bounds (`"incomplete"`); it has tasks whose messages it does not show (`"no-history"`); no other message of ours is
 * in what it shows, so that it may show none of them (`"no-evidence"`); it answers with messages too, which leave no
 * trace (`"answers-with-messages"`); the ledger knows of no such message (`"no-intent"`).
 */
export type RecoveryGap =
  | "no-listing"
  | "incomplete"
  | "no-history"
  | "no-evidence"
  | "answers-with-messages"
  | "no-intent";

/** One page of the messages of which nobody knows yet what became of them. */
export interface OpenIntents {
  /** Their records: `open` for one that may be on its way at this moment, `unknown` for one whose answer was lost. */
  readonly intents: readonly IntentRecord[];
  /** Records that could not be read, and may be such. */
  readonly unreadable: LedgerPage["unreadable"];
  /** Where the listing goes on; absent at its end. */
  readonly nextPageToken?: string;
}

/** Which of them are listed. */
export interface OpenIntentsQuery {
  /** Only those that were last written before this time, RFC 3339: older than any call that may still be under way. */
  readonly updatedBefore?: string;
  /** Most in one page, 1 to 1000. @default 100 */
  readonly pageSize?: number;
  /** Where to go on: `nextPageToken` of the page before. */
  readonly pageToken?: string;
}
