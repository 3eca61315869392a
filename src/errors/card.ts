import type { AgentInterface } from "../model/card.ts";
import type { CardSignatureResult, CardSignatureVerdict, CheckedSignature } from "../model/signature.ts";
import { redactUrl } from "../util/redact.ts";
import { A2ALeaseError } from "./base.ts";
import { askedText, isSaid } from "./challenge.ts";
import { lastingAdvice } from "./lasting.ts";
import { ConnectionError, TimeoutError } from "./transport.ts";

/** One URL that was tried for a card. */
export interface CardAttempt {
  /** The URL, redacted. */
  readonly url: string;
  /** HTTP status; absent when there was no answer. */
  readonly status?: number;
}

/** One thing that is wrong with a card. */
export interface CardIssue {
  /** JSON path, `$.capabilities.streaming`. */
  readonly path: string;
  /** What was found and what was wanted. */
  readonly message: string;
}

/** No card at any of the places where one was looked for. Replan with another agent. */
export class CardNotFoundError extends A2ALeaseError {
  static readonly code = "CARD_NOT_FOUND";
  override readonly name = "CardNotFoundError";
  override readonly code = "CARD_NOT_FOUND";
  /** Every URL tried, in order, with its status. */
  readonly attempts: readonly CardAttempt[];

  constructor(attempts: readonly CardAttempt[]) {
    const tried = attempts.map((attempt) => `${attempt.url} (${attempt.status ?? "no answer"})`).join(", ");
    super(`no agent card found; tried ${tried}`, { retry: "safe", nextStep: "replan" });
    this.attempts = attempts;
  }
}

/** The card is behind authentication, and no credentials, or wrong ones, were given for it. */
export class CardAuthError extends A2ALeaseError {
  static readonly code = "CARD_AUTH";
  override readonly name = "CardAuthError";
  override readonly code = "CARD_AUTH";
  /** URL of the card, redacted. */
  readonly url: string;
  /** 401 or 403. */
  readonly status: number;
  /** The server's `WWW-Authenticate`. */
  readonly challenge?: string;
  /** Every URL tried, in order, with its status. */
  readonly attempts: readonly CardAttempt[];

  constructor(
    url: string,
    status: number,
    challenge: string | undefined,
    attempts: readonly CardAttempt[] = [],
  ) {
    super(`the agent card at ${redactUrl(url)} answered ${status}, wanted 200${askedText(challenge)}`, {
      retry: "after-credentials",
      nextStep: "authenticate",
    });
    this.url = redactUrl(url);
    this.status = status;
    if (isSaid(challenge)) this.challenge = challenge;
    this.attempts = attempts;
  }
}

/**
 * The card could not be read now: no connection, no answer in time, or a server error. Trying again is safe, but where
 * the connection failed for good: `cause` is a ConnectionError with a `reason` then.
 */
export class CardUnreachableError extends A2ALeaseError {
  static readonly code = "CARD_UNREACHABLE";
  override readonly name = "CardUnreachableError";
  override readonly code = "CARD_UNREACHABLE";
  /** URL of the card, redacted. */
  readonly url: string;
  /** HTTP status, when there was an answer. */
  readonly status?: number;
  /** How often the card was asked for. */
  readonly attemptCount: number;
  /** Every URL tried, in order, with its status. */
  readonly attempts: readonly CardAttempt[];

  constructor(
    url: string,
    details: {
      status?: number;
      retryAfterMs?: number;
      attemptCount?: number;
      attempts?: readonly CardAttempt[];
      cause?: unknown;
    },
  ) {
    const reason = isTransport(details.cause) ? `: ${details.cause.message}` : "";
    const found = details.status === undefined ? `no answer${reason}` : `HTTP ${details.status}`;
    // What no second attempt can change stays that.
    const { retry, nextStep } = lastingAdvice(details.cause) ?? passing;
    super(`the agent card at ${redactUrl(url)} could not be read: found ${found}, wanted 200`, {
      ...{ retry, nextStep },
      retryAfterMs: details.retryAfterMs,
      cause: details.cause,
    });
    this.url = redactUrl(url);
    if (details.status !== undefined) this.status = details.status;
    this.attempts = details.attempts ?? [];
    this.attemptCount = details.attemptCount ?? 1;
  }
}

const passing = Object.freeze({ retry: "safe", nextStep: "wait" } as const);

function isTransport(cause: unknown): cause is ConnectionError | TimeoutError {
  return cause instanceof ConnectionError || cause instanceof TimeoutError;
}

/** Why bytes could not be read as a card at all. */
export type CardUnreadableReason = "too-large" | "too-deep" | "not-json" | "html";

/** What was served in place of a card is no JSON, or too much of it. */
export class CardUnreadableError extends A2ALeaseError {
  static readonly code = "CARD_UNREADABLE";
  override readonly name = "CardUnreadableError";
  override readonly code = "CARD_UNREADABLE";
  /** URL of the card, redacted; absent for a card that was handed in. */
  readonly url?: string;
  /** Why it could not be read. */
  readonly reason: CardUnreadableReason;
  /** `sha256:` and hex of the refused bytes, when all of them were read. */
  readonly digest?: string;

  constructor(url: string | undefined, reason: CardUnreadableReason, found: string, digest?: string) {
    const where = url === undefined ? "the agent card" : `the agent card at ${redactUrl(url)}`;
    super(`${where} is unreadable (${reason}): ${found}`, { retry: "never", nextStep: "replan" });
    if (url !== undefined) this.url = redactUrl(url);
    this.reason = reason;
    if (digest !== undefined) this.digest = digest;
  }
}

/** A card with wrong members. It never becomes active. */
export class CardInvalidError extends A2ALeaseError {
  static readonly code = "CARD_INVALID";
  override readonly name = "CardInvalidError";
  override readonly code = "CARD_INVALID";
  /** URL of the card, redacted; absent for a card that was handed in. */
  readonly url?: string;
  /** Everything that is wrong, with JSON paths. */
  readonly issues: readonly CardIssue[];
  /** `sha256:` and hex of what was refused. */
  readonly digest: string;

  constructor(url: string | undefined, issues: readonly CardIssue[], digest: string) {
    const where = url === undefined ? "the agent card" : `the agent card at ${redactUrl(url)}`;
    const listed = issues.slice(0, 5).map((issue) => `${issue.path}: ${issue.message}`);
    const more = issues.length > 5 ? `; and ${issues.length - 5} more` : "";
    super(`${where} is invalid: ${listed.join("; ")}${more}`, { retry: "never", nextStep: "replan" });
    if (url !== undefined) this.url = redactUrl(url);
    this.issues = issues;
    this.digest = digest;
  }
}

/** The card's signatures are not what the caller's `signatures.mode` asks for. The card never becomes active. */
export class CardSignatureError extends A2ALeaseError {
  static readonly code = "CARD_SIGNATURE";
  override readonly name = "CardSignatureError";
  override readonly code = "CARD_SIGNATURE";
  /** URL of the card, redacted; absent for a card that was handed in. */
  readonly url?: string;
  /** What the signatures turned out to be. */
  readonly result: Exclude<CardSignatureResult, "valid">;
  /** Every signature that was looked at, in card order. */
  readonly signatures: readonly CheckedSignature[];

  constructor(
    url: string | undefined,
    verdict: Pick<CardSignatureVerdict, "result" | "message" | "signatures">,
    isTransient = false,
  ) {
    const { result, message, signatures } = verdict;
    // Where a key set could not be read, another look may show more.
    super(`the agent card's signature is ${result}, wanted valid: ${message}`, {
      retry: isTransient ? "safe" : "never",
      nextStep: isTransient ? "wait" : "replan",
    });
    if (url !== undefined) this.url = redactUrl(url);
    this.result = result === "valid" ? "unverifiable" : result;
    this.signatures = signatures;
  }
}

/** The agent speaks none of the protocol versions that this library speaks. */
export class ProtocolVersionError extends A2ALeaseError {
  static readonly code = "PROTOCOL_VERSION";
  override readonly name = "ProtocolVersionError";
  override readonly code = "PROTOCOL_VERSION";
  /** Versions that the card offers. */
  readonly offered: readonly string[];
  /** Versions that this library speaks. */
  readonly implemented: readonly string[];

  constructor(offered: readonly string[], implemented: readonly string[]) {
    super(
      `the agent offers A2A protocol version ${offered.join(", ") || "(none named)"}, wanted ${implemented.join(" or ")}; ` +
        "ask its operator for an interface of that version, or use a client of the older protocol",
      { retry: "never", nextStep: "replan" },
    );
    this.offered = offered;
    this.implemented = implemented;
  }
}

/** An interface that could not be chosen, and why. */
export interface UnusableInterface extends Partial<AgentInterface> {
  /** Why it can't be used. */
  readonly problem: string;
}

/** No interface of the card can be used. */
export class NoSupportedInterfaceError extends A2ALeaseError {
  static readonly code = "NO_SUPPORTED_INTERFACE";
  override readonly name = "NoSupportedInterfaceError";
  override readonly code = "NO_SUPPORTED_INTERFACE";
  /** What the card offers, and why none of it will do. */
  readonly offered: readonly UnusableInterface[];
  /** Bindings that this client has. */
  readonly supported: readonly string[];

  constructor(offered: readonly UnusableInterface[], supported: readonly string[]) {
    const listed = offered.slice(0, 10).map((entry) => `${entry.protocolBinding ?? "?"} (${entry.problem})`);
    super(
      `no interface of the agent card can be used: found ${listed.join(", ")}; wanted one of ${supported.join(", ")}`,
      { retry: "never", nextStep: "replan" },
    );
    this.offered = offered.map((entry) =>
      entry.url === undefined ? entry : { ...entry, url: redactUrl(entry.url) },
    );
    this.supported = supported;
  }
}
