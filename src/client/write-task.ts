import { LedgerConflictError } from "../errors/ledger.ts";
import { taskKey } from "../ledger/ledger.ts";
import type { LedgerEntry, TaskRecord } from "../model/record.ts";
import { isoTime } from "../util/clock.ts";
import { asLedgerError } from "./ledger-error.ts";
import type { Session } from "./session.ts";

/** How often a write is tried again when somebody else was first. */
const maxConflicts = 5;

/** The record as it would be written now, and how what somebody else wrote is taken in first. */
export interface RecordHolder {
  readonly current: () => TaskRecord;
  readonly merge: (theirs: TaskRecord) => void;
}

/**
 * Writes a task's record. When somebody else was first, theirs is read and taken in, and the two are written as one.
 *
 * @throws LedgerConflictError when that goes on; LedgerUnavailableError when the ledger fails.
 */
export async function writeTask(
  { ledger, clock }: Session,
  known: LedgerEntry<TaskRecord> | undefined,
  { current, merge }: RecordHolder,
): Promise<LedgerEntry<TaskRecord>> {
  let entry = known;
  for (let attempt = 0; ; attempt++) {
    const record = { ...current(), updatedAt: isoTime(clock.now()) };
    const key = taskKey(record.cardUrl, record.principal, record.taskId);
    try {
      return (await ledger.write(key, record, entry?.revision ?? 0)) as LedgerEntry<TaskRecord>;
    } catch (error) {
      if (!(error instanceof LedgerConflictError)) throw asLedgerError("write", error);
      if (attempt >= maxConflicts) throw error;
      entry = (await ledger.read(key)) as LedgerEntry<TaskRecord> | undefined;
      if (entry) merge(entry.record);
    }
  }
}

/** What another holder of a task wrote that goes before ours: the first end that was seen, and the newer pin. */
export function takenFrom(theirs: TaskRecord, ours: TaskRecord): Partial<TaskRecord> {
  const { pin, requirements, formerPins, task, memory } = theirs;
  const isNewer = formerPins.some(({ digest }) => digest === ours.pin.digest);
  const hasEnded = task && memory.terminal && !ours.memory.terminal;
  return { ...(isNewer ? { pin, requirements, formerPins } : {}), ...(hasEnded ? { task, memory } : {}) };
}
