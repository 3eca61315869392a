import { createMemoryLedger, type Ledger } from "a2a-lease";

/** A ledger in memory that keeps the keys and records of all that was ever written to it, as JSON. */
export function createWrittenLedger(): { readonly ledger: Ledger; readonly written: readonly string[] } {
  const inner = createMemoryLedger();
  const written: string[] = [];
  return {
    written,
    ledger: {
      ...inner,
      write(key, record, revision) {
        written.push(key, JSON.stringify(record));
        return inner.write(key, record, revision);
      },
    },
  };
}
