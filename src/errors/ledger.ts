import { redactText } from "../util/redact.ts";
import { A2ALeaseError, type ErrorAdvice, reasonText } from "./base.ts";

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

/**
 * Why a ledger could not do what was asked: `store` (unreachable, slow, full, read-only), `closed`, `schema` (written
 * by another version of this library), `corrupt` (no record at all), `too-large` (more than the ledger keeps in one
 * record), `path` (a file of SQLite can't be where the path leads, or what is there is none), `refused` (the server is
 * there and says no: no such database, no such role, a wrong password, or no rights), `no-tables` (nobody made the tables
 * yet), `peer-missing` (an optional package is not installed, or has no binary here).
 */
export type LedgerFailure =
  | "store"
  | "closed"
  | "schema"
  | "corrupt"
  | "too-large"
  | "path"
  | "refused"
  | "no-tables"
  | "peer-missing";

/** What is known of a failure of the ledger. */
export interface LedgerFailureDetails {
  /** Why. @default "store" */
  readonly reason?: LedgerFailure;
  /** Schema that was found, where that is the reason. */
  readonly foundSchema?: number;
  /** Schema that this version of the library reads and writes. */
  readonly wantedSchema?: number;
}

type Advice = Pick<ErrorAdvice, "retry" | "nextStep">;

const advice: Readonly<Record<LedgerFailure, Advice>> = Object.freeze({
  store: { retry: "safe", nextStep: "wait" },
  closed: { retry: "never", nextStep: "give-up" },
  schema: { retry: "never", nextStep: "ask-user" },
  corrupt: { retry: "never", nextStep: "ask-user" },
  path: { retry: "never", nextStep: "ask-user" },
  refused: { retry: "never", nextStep: "ask-user" },
  "no-tables": { retry: "never", nextStep: "ask-user" },
  "too-large": { retry: "never", nextStep: "replan" },
  "peer-missing": { retry: "never", nextStep: "ask-user" },
});

/** The ledger could not be read or written. Nothing was sent that could not be remembered. */
export class LedgerUnavailableError extends A2ALeaseError {
  static readonly code = "LEDGER_UNAVAILABLE";
  override readonly name = "LedgerUnavailableError";
  override readonly code = "LEDGER_UNAVAILABLE";
  /** Why. */
  readonly reason: LedgerFailure;
  /** Schema that was found, where that is the reason. */
  readonly foundSchema?: number;
  /** Schema that this version of the library reads and writes, where that is the reason. */
  readonly wantedSchema?: number;

  constructor(action: string, cause: unknown, details: LedgerFailureDetails = {}) {
    const { reason = "store", foundSchema, wantedSchema } = details;
    super(`the ledger could not ${action}: ${reasonText(cause)}`, { ...advice[reason], cause });
    this.reason = reason;
    if (foundSchema !== undefined) this.foundSchema = foundSchema;
    if (wantedSchema !== undefined) this.wantedSchema = wantedSchema;
  }
}
