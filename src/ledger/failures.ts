import { reasonText } from "../errors/base.ts";
import { type LedgerFailure, LedgerUnavailableError } from "../errors/ledger.ts";

/** What a store means by a failure: why, and what is to be changed. */
export interface Diagnosis {
  readonly reason: LedgerFailure;
  /** What was wanted. */
  readonly hint?: string | undefined;
}

/** Tells failures that last from those that pass; of the latter it says nothing. */
export type Diagnose = (thrown: unknown) => Diagnosis | undefined;

/** The error for what a store threw. */
export function ledgerFailure(action: string, thrown: unknown, diagnose?: Diagnose): LedgerUnavailableError {
  const diagnosis = diagnose?.(thrown);
  if (!diagnosis) return new LedgerUnavailableError(action, thrown);
  const { reason, hint } = diagnosis;
  if (hint === undefined) return new LedgerUnavailableError(action, thrown, { reason });
  const found = new TypeError(`${reasonText(thrown)}; ${hint}`, { cause: thrown });
  return new LedgerUnavailableError(action, found, { reason });
}

/** The code of an error, `""` where it has none. */
export function codeOf(thrown: unknown): string {
  const { code } = (thrown ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? code : "";
}

/** What Node says of a server whose certificate is not trusted, by its codes. */
export const certificateCodes = Object.freeze([
  /CERT|UNABLE_TO_(?:GET|VERIFY|DECRYPT|DECODE)/,
  "refused",
  "wanted a certificate that can be trusted",
] as const);

/** The diagnosis for the first pattern that fits. */
export function firstDiagnosis(
  text: string,
  known: readonly (readonly [RegExp, LedgerFailure, string])[],
): Diagnosis | undefined {
  const found = known.find(([pattern]) => pattern.test(text));
  return found && { reason: found[1], hint: found[2] };
}
