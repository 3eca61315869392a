import type { ErrorAdvice } from "./base.ts";
import { ConnectionError } from "./transport.ts";

/** What is to be done about a connection that failed for good, whoever met with it; `undefined` for any other failure. */
export function lastingAdvice(failure: unknown): Pick<ErrorAdvice, "retry" | "nextStep"> | undefined {
  if (!(failure instanceof ConnectionError) || failure.reason === undefined) return undefined;
  const { retry, nextStep } = failure;
  return { retry, nextStep };
}
