import { LedgerConflictError } from "../errors/ledger.ts";
import type { LedgerEntry, LedgerRecord } from "../model/record.ts";
import type { Ledger } from "./ledger.ts";

/** How often a change is made anew when somebody else was first. */
const maxConflicts = 20;

/**
 * Changes the record under a key: it is read, changed and written under compare-and-set, and all of that again when
 * somebody else wrote in between.
 *
 * @param kind - what the record is; one of another kind under the key counts as none.
 * @param change - what is to be written in the place of what is there; `undefined` to leave it.
 * @returns the record that is there now.
 * @throws LedgerConflictError when others go on to be first; LedgerUnavailableError.
 */
export async function changeRecord<K extends LedgerRecord["kind"]>(
  ledger: Ledger,
  { key, kind }: { readonly key: string; readonly kind: K },
  change: (known: Of<K> | undefined) => Of<K> | undefined,
): Promise<Of<K> | undefined> {
  for (let attempt = 0; ; attempt++) {
    const entry = await ledger.read(key);
    const known = recordOf(entry, kind);
    const next = change(known);
    if (next === undefined) return known;
    try {
      await ledger.write(key, next, entry?.revision ?? 0);
      return next;
    } catch (error) {
      if (!(error instanceof LedgerConflictError) || attempt >= maxConflicts) throw error;
    }
  }
}

/** Records of one kind. */
type Of<K extends LedgerRecord["kind"]> = Extract<LedgerRecord, { readonly kind: K }>;

/** The record of an entry, if it is of a kind. */
export function recordOf<K extends LedgerRecord["kind"]>(
  entry: LedgerEntry | undefined,
  kind: K,
): Of<K> | undefined {
  return entry?.record.kind === kind ? (entry.record as Of<K>) : undefined;
}
