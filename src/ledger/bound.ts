import { LedgerConflictError, LedgerUnavailableError } from "../errors/ledger.ts";
import type { LedgerEntry, LedgerRecord } from "../model/record.ts";
import { createScope, withSignal } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import { isRecord } from "../util/freeze.ts";
import type { Ledger } from "./ledger.ts";

/** How long a ledger may take to answer, in milliseconds. */
const answerMs = 10_000;

const kinds: readonly string[] = ["task", "intent", "trust", "push", "inbox"];

/** A ledger that answers in time and in shape, or fails with a ledger error. A closed client waits for none. */
export function boundLedger(ledger: Ledger, clock: Clock, closed: AbortSignal): Ledger {
  async function within<T>(action: string, work: () => Promise<T>): Promise<T> {
    const scope = createScope(clock, [closed]);
    const late = () => new LedgerUnavailableError(action, `no answer within ${answerMs} ms`);
    scope.deadline(answerMs, late);
    try {
      return await withSignal(work(), scope.signal);
    } catch (error) {
      if (closed.aborted) throw closed.reason;
      const isOurs = error instanceof LedgerUnavailableError || error instanceof LedgerConflictError;
      throw isOurs ? error : new LedgerUnavailableError(action, error);
    } finally {
      scope.release();
    }
  }

  return {
    read: (key) =>
      within("read a record", async () => {
        const entry = await ledger.read(key);
        return entry === undefined ? undefined : checked(entry);
      }),
    write: (key, record, expectedRevision) =>
      within("write a record", async () => checked(await ledger.write(key, record, expectedRevision))),
    remove: (key) => within("remove a record", () => ledger.remove(key)),
    ...(ledger.watch ? { watch: ledger.watch.bind(ledger) } : {}),
  };
}

/** A record of another schema, or of none, is not one to go on with. */
function checked(entry: LedgerEntry): LedgerEntry {
  const record: unknown = isRecord(entry) ? entry.record : undefined;
  const isWhole =
    isRecord(record) && record.schema === 1 && kinds.includes(String(record.kind)) && hasMembers(record);
  if (isWhole && Number.isInteger(entry.revision)) return entry;
  throw new LedgerUnavailableError(
    "read a record",
    "found a record of another schema or shape, wanted schema 1",
  );
}

/** What each kind of record can't do without. */
function hasMembers(record: Partial<Record<keyof LedgerRecord | string, unknown>>): boolean {
  if (record.kind === "trust") return typeof record.callee === "string" && Array.isArray(record.history);
  if (record.kind === "push") return typeof record.fingerprint === "string" && Array.isArray(record.via);
  if (record.kind === "inbox") return Array.isArray(record.observations) && Array.isArray(record.configs);
  const isPinned = isRecord(record.pin) && typeof record.pin.digest === "string";
  if (record.kind === "intent") return isPinned && typeof record.messageId === "string";
  const { memory } = record;
  return (
    isPinned && typeof record.taskId === "string" && isRecord(memory) && Array.isArray(memory.observations)
  );
}
