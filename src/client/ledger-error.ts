import type { A2ALeaseError } from "../errors/base.ts";
import { LedgerConflictError, LedgerUnavailableError } from "../errors/ledger.ts";

/** What a ledger throws, as one of the two ledger errors. */
export function asLedgerError(action: string, error: unknown): A2ALeaseError {
  const isOurs = error instanceof LedgerUnavailableError || error instanceof LedgerConflictError;
  return isOurs ? (error as A2ALeaseError) : new LedgerUnavailableError(action, error);
}
