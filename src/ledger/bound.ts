import { LedgerUnavailableError } from "../errors/ledger.ts";
import type { LedgerEntry } from "../model/record.ts";
import { createScope, withSignal } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import { isRecord } from "../util/freeze.ts";
import { checkRecord } from "./codec.ts";
import { isLedgerError } from "./guard.ts";
import type { Ledger } from "./ledger.ts";
import { checkQuery } from "./query.ts";

/** How long a ledger may take to answer, in milliseconds. */
const answerMs = 10_000;

/**
 * A ledger that answers in time and in shape, or fails with a ledger error; a query that is none is a `TypeError`. A
 * closed client waits for none.
 */
export function boundLedger(ledger: Ledger, clock: Clock, closed: AbortSignal): Ledger {
  async function within<T>(action: string, work: () => Promise<T>): Promise<T> {
    const scope = createScope(clock, [closed]);
    const late = () => new LedgerUnavailableError(action, `no answer within ${answerMs} ms`);
    scope.deadline(answerMs, late);
    try {
      return await withSignal(work(), scope.signal);
    } catch (error) {
      if (closed.aborted) throw closed.reason;
      throw isLedgerError(error) ? error : new LedgerUnavailableError(action, error);
    } finally {
      scope.release();
    }
  }

  return {
    shared: ledger.shared === true,
    read: (key) =>
      within("read a record", async () => {
        const entry = await ledger.read(key);
        return entry === undefined ? undefined : checked(entry);
      }),
    write: (key, record, expectedRevision) =>
      within("write a record", async () => checked(await ledger.write(key, record, expectedRevision))),
    remove: (key) => within("remove a record", () => ledger.remove(key)),
    async list(query) {
      checkQuery(query);
      try {
        return await within("list records", async () => {
          const page = await ledger.list(query);
          for (const entry of page.entries) checked(entry);
          return page;
        });
      } catch (error) {
        // Only the ledger knows the form of its tokens. Any other TypeError is a fault of its own.
        const { cause } = (error ?? {}) as { readonly cause?: unknown };
        throw cause instanceof TypeError && cause.message.startsWith("pageToken:") ? cause : error;
      }
    },
    prune: () => within("drop old records", () => ledger.prune()),
    ...(ledger.watch ? { watch: ledger.watch.bind(ledger) } : {}),
  };
}

/** A record of another schema, or of none, is not one to go on with. */
function checked(entry: LedgerEntry): LedgerEntry {
  checkRecord(isRecord(entry) ? entry.record : undefined);
  if (Number.isInteger(entry.revision)) return entry;
  throw new LedgerUnavailableError("read a record", `found revision ${entry.revision}`, {
    reason: "corrupt",
  });
}
