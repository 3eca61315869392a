import { AuthenticationError } from "../errors/auth.ts";
import { A2ALeaseError } from "../errors/base.ts";
import type { CredentialContext } from "../model/credentials.ts";
import { thrownText } from "../util/found.ts";

/** A function of the caller's own. */
export interface Asked {
  /** What it is, in words. */
  readonly who: string;
  /** What is wanted of it. */
  readonly wanted: string;
}

/**
 * Asks a function of the caller's own. What it throws may hold the very secrets that it works with: only its words go on,
 * redacted.
 *
 * @throws AuthenticationError that names it; an error of this library that it throws, and the caller's own reason, as it
 * is.
 */
export async function askFunction<T>(
  context: CredentialContext,
  { who, wanted }: Asked,
  ask: () => T | Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (failure) {
    if (context.signal.aborted) throw context.signal.reason;
    if (failure instanceof A2ALeaseError) throw failure;
    throw faultOf(context, `that ${who} threw ${thrownText(failure)}`, wanted);
  }
}

/** That something else was found than what is wanted, before anything was sent. */
export function faultOf(context: CredentialContext, found: string, wanted: string): AuthenticationError {
  return new AuthenticationError(context.origin, { challenge: context.challenge, found, wanted });
}
