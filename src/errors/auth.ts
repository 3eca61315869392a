import type { ChosenRequirement } from "../model/credentials.ts";
import { redactUrl } from "../util/redact.ts";
import { A2ALeaseError } from "./base.ts";
import { askedText, isSaid } from "./challenge.ts";

/** What a refusal said. */
export interface RefusalDetails {
  /** The server's `WWW-Authenticate`. */
  readonly challenge?: string | undefined;
  /** What was found in place of success. */
  readonly found?: string;
  /** What was wanted in its place. @default accepted credentials */
  readonly wanted?: string;
  /** What led to it. */
  readonly cause?: unknown;
  /** The requirement that credentials were chosen for. */
  readonly requirement?: ChosenRequirement | undefined;
}

/** The agent wants credentials, or other ones (401). */
export class AuthenticationError extends A2ALeaseError {
  static readonly code = "AUTHENTICATION";
  override readonly name = "AuthenticationError";
  override readonly code = "AUTHENTICATION";
  /** URL that was called, redacted. */
  readonly url: string;
  /** The server's `WWW-Authenticate`. */
  readonly challenge?: string;
  /** The requirement of the card that credentials were chosen for, where they were chosen by it. */
  readonly requirement?: ChosenRequirement;

  constructor(url: string, details: RefusalDetails) {
    const { challenge } = details;
    const { found = "HTTP 401", wanted = "accepted credentials" } = details;
    super(`${redactUrl(url)}: found ${found}, wanted ${wanted}${askedText(challenge)}`, {
      retry: "after-credentials",
      nextStep: "authenticate",
      cause: details.cause,
    });
    this.url = redactUrl(url);
    if (isSaid(challenge)) this.challenge = challenge;
    if (details.requirement) this.requirement = details.requirement;
  }
}

/** The credentials are known and not enough (403). */
export class AuthorizationError extends A2ALeaseError {
  static readonly code = "AUTHORIZATION";
  override readonly name = "AuthorizationError";
  override readonly code = "AUTHORIZATION";
  /** URL that was called, redacted. */
  readonly url: string;
  /** The server's `WWW-Authenticate`. */
  readonly challenge?: string;
  /** The requirement of the card that credentials were chosen for, where they were chosen by it. */
  readonly requirement?: ChosenRequirement;

  constructor(url: string, details: RefusalDetails) {
    const { challenge } = details;
    super(`${redactUrl(url)}: found ${details.found ?? "HTTP 403"}, wanted credentials with enough rights`, {
      retry: "after-credentials",
      nextStep: "ask-user",
      cause: details.cause,
    });
    this.url = redactUrl(url);
    if (isSaid(challenge)) this.challenge = challenge;
    if (details.requirement) this.requirement = details.requirement;
  }
}

/** A call needs credentials at an origin that they are not bound to. Nothing was sent. */
export class CredentialOriginError extends A2ALeaseError {
  static readonly code = "CREDENTIAL_ORIGIN";
  override readonly name = "CredentialOriginError";
  override readonly code = "CREDENTIAL_ORIGIN";
  /** Origin of the call. */
  readonly origin: string;
  /** Origins that the credentials are bound to. */
  readonly allowed: readonly string[];

  constructor(origin: string, allowed: readonly string[]) {
    const wanted = allowed.join(" or ") || "an allowed origin, of which there is none";
    super(
      `the agent card points calls that need credentials to ${origin}, wanted ${wanted}; ` +
        "list the origin in allowedOrigins to trust it",
      { retry: "never", nextStep: "ask-user" },
    );
    this.origin = origin;
    this.allowed = allowed;
  }
}
