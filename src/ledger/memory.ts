import { LedgerConflictError } from "../errors/ledger.ts";
import type { LedgerEntry, LedgerRecord } from "../model/record.ts";
import { isTerminalState } from "../model/states.ts";
import { deepFreeze } from "../util/freeze.ts";
import type { Ledger } from "./ledger.ts";

/** How much a memory ledger keeps. */
export interface MemoryLedgerOptions {
  /**
   * Most records kept. Past it the records of finished tasks and settled intents go first, oldest first; then the
   * others.
   *
   * @default 10 000
   */
  readonly maxRecords?: number;
}

/** Makes a ledger in memory: it serves one process and goes with it. */
export function createMemoryLedger(options: MemoryLedgerOptions = {}): Ledger {
  const { maxRecords = 10_000 } = options;
  if (!Number.isInteger(maxRecords) || maxRecords < 1) {
    throw new TypeError(`maxRecords: found ${maxRecords}, wanted a whole number of at least 1`);
  }
  const open = new Map<string, LedgerEntry>();
  const settled = new Map<string, LedgerEntry>();
  const watchers = new Map<string, Set<() => void>>();
  const find = (key: string) => open.get(key) ?? settled.get(key);

  function makeRoom(): void {
    if (open.size + settled.size <= maxRecords) return;
    const victims = settled.size > 0 ? settled : open;
    const [oldest] = victims.keys();
    if (oldest !== undefined) victims.delete(oldest);
  }

  return {
    read: async (key) => find(key),
    async write(key, record, expectedRevision) {
      const revision = find(key)?.revision ?? 0;
      if (revision !== expectedRevision) {
        throw new LedgerConflictError(key, `found revision ${revision}, wanted ${expectedRevision}`);
      }
      const entry = Object.freeze({ key, revision: revision + 1, record: deepFreeze(record) });
      open.delete(key);
      settled.delete(key);
      (isSettled(record) ? settled : open).set(key, entry);
      makeRoom();
      for (const tell of [...(watchers.get(key) ?? [])]) tell();
      return entry;
    },
    async remove(key) {
      open.delete(key);
      settled.delete(key);
    },
    watch(key, listener) {
      const tell = () => listener();
      const heard = watchers.get(key) ?? new Set();
      watchers.set(key, heard.add(tell));
      return () => {
        heard.delete(tell);
        if (heard.size === 0 && watchers.get(key) === heard) watchers.delete(key);
      };
    },
  };
}

function isSettled(record: LedgerRecord): boolean {
  switch (record.kind) {
    case "trust":
      return false;
    case "intent":
      return record.state === "answered" || record.state === "refused";
    case "push":
      return record.isOver === true;
    case "inbox":
      return record.observations.some(({ state }) => isTerminalState(state));
    case "task":
      return record.task !== undefined && isTerminalState(record.task.status.state);
  }
}
