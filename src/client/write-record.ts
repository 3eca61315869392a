import { LedgerConflictError } from "../errors/ledger.ts";
import { type Ledger, taskKey } from "../ledger/ledger.ts";
import { isReplay } from "../lifecycle/memory.ts";
import { addDeviations } from "../model/deviation.ts";
import type { TaskMemory } from "../model/observation.ts";
import type { LedgerEntry, LedgerRecord, TaskRecord } from "../model/record.ts";
import { type Clock, isoTime, timeDifference } from "../util/clock.ts";

/** How often a write is tried again when somebody else was first. */
const maxConflicts = 5;

/** The record as it would be written now, and how what somebody else wrote is taken in first. */
export interface RecordHolder<R extends LedgerRecord> {
  readonly key: string;
  readonly current: () => R;
  readonly merge: (theirs: R) => void;
}

/**
 * Writes a record. When somebody else was first, theirs is read and taken in, and the two are written as one.
 *
 * @throws LedgerConflictError when that goes on; LedgerUnavailableError when the ledger fails.
 */
export async function writeRecord<R extends LedgerRecord>(
  ledger: Ledger,
  known: LedgerEntry<R> | undefined,
  { key, current, merge }: RecordHolder<R>,
): Promise<LedgerEntry<R>> {
  let entry = known;
  for (let attempt = 0; ; attempt++) {
    try {
      return (await ledger.write(key, current(), entry?.revision ?? 0)) as LedgerEntry<R>;
    } catch (error) {
      if (!(error instanceof LedgerConflictError) || attempt >= maxConflicts) throw error;
      entry = (await ledger.read(key)) as LedgerEntry<R> | undefined;
      if (entry) merge(entry.record);
    }
  }
}

/** Writes a task's record, stamped with our time. Throws as {@link writeRecord} does. */
export function writeTask(
  { ledger, clock }: { readonly ledger: Ledger; readonly clock: Clock },
  known: LedgerEntry<TaskRecord> | undefined,
  { current, merge }: Pick<RecordHolder<TaskRecord>, "current" | "merge">,
): Promise<LedgerEntry<TaskRecord>> {
  const { cardUrl, principal, taskId } = current();
  const stamped = () => ({ ...current(), updatedAt: isoTime(clock.now()) });
  return writeRecord(ledger, known, { key: taskKey(cardUrl, principal, taskId), current: stamped, merge });
}

/**
 * What another holder of a task wrote that goes before ours: the first end that was seen, what is further in the task's
 * life, the newer pin, and whatever was odd.
 */
export function takenFrom(theirs: TaskRecord, ours: TaskRecord): Partial<TaskRecord> {
  const { pin, requirements, formerPins, task, memory } = theirs;
  const isNewer = formerPins.some(({ digest }) => digest === ours.pin.digest);
  const isTaken = task !== undefined && isAhead(memory, ours.memory);
  const deviations = addDeviations(theirs.deviations, ours.deviations);
  return {
    ...(isNewer ? { pin, requirements, formerPins } : {}),
    ...(isTaken ? { task, memory } : {}),
    ...(deviations === ours.deviations ? {} : { deviations }),
  };
}

/** Whether what they saw goes before what we saw; where there is no telling, ours is the later look. */
function isAhead(theirs: TaskMemory, ours: TaskMemory): boolean {
  // The first end wins, and theirs was written first; a repetition of it by us may know more of the outputs.
  if (theirs.terminal) return !ours.terminal || !isReplay(theirs.terminal, ours.terminal);
  if (ours.terminal) return false;
  const [last, own] = [theirs.observations.at(-1), ours.observations.at(-1)];
  if (!last || !own) return last !== undefined;
  return (timeDifference(last.timestamp, own.timestamp) ?? 0) > 0;
}
