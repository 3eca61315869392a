import { A2ALeaseError } from "../errors/base.ts";
import { LeaseUnverifiableError } from "../errors/lease.ts";
import { isTransient } from "./backoff.ts";
import type { SharedStream } from "./shared-stream.ts";

/** Whether a stream ended because somebody else, whose signal it had, gave up. */
export function isForeign(
  error: unknown,
  shared: SharedStream | undefined,
  own: SharedStream | undefined,
): boolean {
  return shared?.isBorrowed === true && shared !== own && !(error instanceof A2ALeaseError);
}

/**
 * Whether a step that failed so may well go better a little later. A network that is down takes the card along, and
 * that ends no lease: nothing is told before the card could be read again.
 */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof LeaseUnverifiableError)) return isTransient(error);
  const isLasting = error.retry === "unknown-outcome" || error.retry === "after-renegotiation";
  return !isLasting && isTransient(error.checkFailure ?? error.cause);
}
