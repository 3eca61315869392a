import { type TokenFailureReason, TokenRequestError } from "../errors/credentials.ts";
import { thrownText } from "../util/found.ts";
import { redactText } from "../util/redact.ts";

/** A function that the caller gave as an option. */
export interface Hook<T> {
  /** Name of the option. */
  readonly name: string;
  /** What is wanted of it, in words. */
  readonly wanted: string;
  /** URL of the server that it is about. */
  readonly url: string;
  /** Aborted when nobody waits for it any more. */
  readonly signal: AbortSignal;
  /** Asks it. */
  readonly ask: () => T | Promise<T>;
  /** What it gave in place of what it promised, in words that do not hold it. @default everything is fine */
  readonly wrong?: (given: unknown) => string | undefined;
}

/**
 * Asks a hook of the caller, whose refusal ends the way to a token.
 *
 * @throws TokenRequestError that names the hook, where it throws or gives something else than promised; the reason of
 * the signal.
 */
export async function askHook<T>({ name, wanted, url, signal, ask, wrong }: Hook<T>): Promise<T> {
  let given: T;
  try {
    given = await ask();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    // What it threw may repeat what it works with: a code in a URL, for one.
    const isClean = error instanceof Error && redactText(error.message) === error.message;
    throw hookError(url, {
      found: `${name} threw ${thrownText(error)}`,
      wanted,
      ...(isClean ? { cause: error } : {}),
    });
  }
  const found = wrong?.(given);
  if (found === undefined) return given;
  throw hookError(url, { found: `${name} gave ${found}`, wanted });
}

/** What is told of a hook that did not do its part. */
export function hookError(
  url: string,
  told: {
    readonly found: string;
    readonly wanted: string;
    readonly reason?: TokenFailureReason;
    readonly cause?: unknown;
  },
): TokenRequestError {
  const { found, wanted, reason = "declined", cause } = told;
  return new TokenRequestError(url, { reason, message: `found that ${found}, wanted ${wanted}`, cause });
}
