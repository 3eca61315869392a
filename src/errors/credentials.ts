import type { CredentialRequirements } from "../model/credentials.ts";
import { cut, redactJson, redactText, redactUrl } from "../util/redact.ts";
import { A2ALeaseError, type NextStep, type RetryAdvice } from "./base.ts";

/** How many alternatives and providers a message names. */
const maxNamed = 10;

/** The card asks for security schemes, and the caller has no credentials for any of the alternatives. Nothing was sent. */
export class CredentialMissingError extends A2ALeaseError {
  static readonly code = "CREDENTIAL_MISSING";
  override readonly name = "CredentialMissingError";
  override readonly code = "CREDENTIAL_MISSING";
  /** Origin of the request. */
  readonly origin: string;
  /** What the card asks for: alternatives, schemes, scopes and the URLs of flows; redacted. */
  readonly requirements: CredentialRequirements;
  /** What the caller has: names of schemes, each with the kind of its provider. */
  readonly available: readonly string[];
  /**
   * Why some of it was passed over, scheme by scheme: its provider gave none, what is kept for it is of another kind or
   * comes by a flow that it does not offer, several could serve it and none is under its name, or the card does not define
   * it. The first ten of them.
   */
  readonly problems: readonly string[];

  constructor(
    origin: string,
    requirements: CredentialRequirements,
    {
      asked,
      available,
      problems = [],
    }: {
      readonly asked: readonly string[];
      readonly available: readonly string[];
      readonly problems?: readonly string[];
    },
  ) {
    const has = available.length === 0 ? "none" : available.slice(0, maxNamed).join(", ");
    const wanted = asked.slice(0, maxNamed).join(", or ") || "what the agent asks for";
    const why = problems.slice(0, maxNamed).map((problem) => `; ${problem}`);
    super(`${origin}: found credentials for ${has}, wanted those for ${wanted}${why.join("")}`, {
      retry: "after-credentials",
      nextStep: "authenticate",
    });
    this.origin = origin;
    this.requirements = redactJson(requirements) as CredentialRequirements;
    this.available = available.map((name) => cut(redactText(name), 200));
    this.problems = problems.slice(0, maxNamed).map((problem) => cut(redactText(problem), 500));
  }
}

/**
 * Why no token could be had: `insecure-url` and `origin` for a URL that a secret must not go to, or whose address the
 * `fetch` refuses; `unreachable`, `redirected`, `too-large` and `malformed` for the answer; `refused` for an OAuth error;
 * `discovery` for metadata of the server, or what a card says of it, that can't be used; `declined` where a hook of the
 * caller gave up, failed, or gave something else than it promised; `not-kept` where `onRefreshed` failed or was not done in
 * time; `expired` where nobody agreed in time.
 */
export type TokenFailureReason =
  | "insecure-url"
  | "origin"
  | "unreachable"
  | "redirected"
  | "too-large"
  | "malformed"
  | "refused"
  | "discovery"
  | "declined"
  | "not-kept"
  | "expired";

/** What is known of a token that could not be had. */
export interface TokenFailure {
  /** Why. */
  readonly reason: TokenFailureReason;
  /** What was found and what was wanted. */
  readonly message: string;
  /** HTTP status of the answer. */
  readonly status?: number | undefined;
  /** The server's OAuth error code, `"invalid_client"` (RFC 6749, 5.2). */
  readonly oauthError?: string | undefined;
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** What led to it. */
  readonly cause?: unknown;
}

const usualAdvice = Object.freeze({ retry: "after-credentials", nextStep: "authenticate" } as const);

/** What to do about reasons that other credentials would not change. */
const advice: Partial<
  Record<TokenFailureReason, { readonly retry: RetryAdvice; readonly nextStep: NextStep }>
> = Object.freeze({
  unreachable: { retry: "safe", nextStep: "wait" },
  // The token is there, and the next call uses it: what wants a look is the place where the caller keeps such tokens.
  "not-kept": { retry: "safe", nextStep: "ask-user" },
} as const);

/** An authorization server gave no token. No request with a token left. */
export class TokenRequestError extends A2ALeaseError {
  static readonly code = "TOKEN_REQUEST";
  override readonly name = "TokenRequestError";
  override readonly code = "TOKEN_REQUEST";
  /** URL that was asked, or was not because of the reason; redacted. */
  readonly url: string;
  /** Why. */
  readonly reason: TokenFailureReason;
  /** HTTP status of the answer. */
  readonly status?: number;
  /** The server's OAuth error code, `"invalid_client"`. */
  readonly oauthError?: string;

  constructor(url: string, failure: TokenFailure) {
    const { reason, message, status, oauthError, retryAfterMs, cause } = failure;
    super(`${redactUrl(url)}: ${message}`, {
      ...(advice[reason] ?? usualAdvice),
      retryAfterMs,
      cause,
    });
    this.url = redactUrl(url);
    this.reason = reason;
    if (status !== undefined) this.status = status;
    if (oauthError !== undefined) this.oauthError = cut(redactText(oauthError), 100);
  }
}
