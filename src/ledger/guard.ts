import { LedgerConflictError, LedgerUnavailableError } from "../errors/ledger.ts";
import type { LedgerPage } from "../model/ledger.ts";
import { type Diagnose, ledgerFailure } from "./failures.ts";
import type { Ledger } from "./ledger.ts";
import { type ResolvedQuery, resolveQuery } from "./query.ts";

/** Whether something that was thrown is an error of a ledger. */
export function isLedgerError(thrown: unknown): thrown is LedgerConflictError | LedgerUnavailableError {
  return thrown instanceof LedgerUnavailableError || thrown instanceof LedgerConflictError;
}

/** A ledger without its manners: arguments come checked, and it may throw what it likes. */
export interface LedgerStore extends Pick<Ledger, "read" | "write" | "remove" | "prune"> {
  list(query: ResolvedQuery): Promise<LedgerPage>;
  close(): Promise<void>;
}

/** A ledger whose `close` is sure to be there. */
export type ClosableLedger = Ledger & { close(): Promise<void> };

/** Watches over the calls of one ledger. */
export interface Guard {
  /** Runs a call: refused after `close`, and whatever it throws becomes a `LedgerUnavailableError`. */
  run<T>(action: string, call: () => Promise<T>): Promise<T>;
  /** Refuses all calls from now on, and lets go of the store, once. */
  close(release: () => Promise<void>): Promise<void>;
}

/** Makes a guard. What the store throws is told by `diagnose` from what passes. */
export function createGuard(diagnose?: Diagnose): Guard {
  let closing: Promise<void> | undefined;
  return {
    async run(action, call) {
      if (closing) throw new LedgerUnavailableError(action, "it was closed", { reason: "closed" });
      try {
        return await call();
      } catch (error) {
        throw isLedgerError(error) ? error : ledgerFailure(action, error, diagnose);
      }
    },
    close(release) {
      closing ??= release();
      return closing;
    },
  };
}

/** Gives a store the manners of a ledger; bad arguments are a `TypeError`. */
export function guardLedger(store: LedgerStore, guard: Guard = createGuard()): ClosableLedger {
  return {
    read: (key) => guard.run("read a record", () => store.read(key)),
    async write(key, record, expectedRevision) {
      if (!Number.isSafeInteger(expectedRevision) || expectedRevision < 0) {
        throw new TypeError(
          `expectedRevision: found ${expectedRevision}, wanted 0 or the revision of an entry`,
        );
      }
      return guard.run("write a record", () => store.write(key, record, expectedRevision));
    },
    remove: (key) => guard.run("remove a record", () => store.remove(key)),
    async list(query) {
      const resolved = resolveQuery(query);
      return guard.run("list records", () => store.list(resolved));
    },
    prune: () => guard.run("drop old records", () => store.prune()),
    close: () => guard.close(() => store.close()),
  };
}
