import { redactText } from "../util/redact.ts";
import { A2ALeaseError, reasonText } from "./base.ts";

/** Somebody else changed the record, again and again, while we tried to. */
export class LedgerConflictError extends A2ALeaseError {
  static readonly code = "LEDGER_CONFLICT";
  override readonly name = "LedgerConflictError";
  override readonly code = "LEDGER_CONFLICT";
  /** Key of the record, redacted. */
  readonly key: string;

  constructor(key: string, found: string) {
    super(`ledger record ${key} changed under us: ${found}`, { retry: "safe", nextStep: "wait" });
    this.key = redactText(key);
  }
}

/** The ledger could not be read or written. Nothing was sent that could not be remembered. */
export class LedgerUnavailableError extends A2ALeaseError {
  static readonly code = "LEDGER_UNAVAILABLE";
  override readonly name = "LedgerUnavailableError";
  override readonly code = "LEDGER_UNAVAILABLE";

  constructor(action: string, cause: unknown) {
    super(`the ledger could not ${action}: ${reasonText(cause)}`, { retry: "safe", nextStep: "wait", cause });
  }
}
