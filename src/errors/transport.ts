import type { DocumentIssue } from "../model/issues.ts";
import type { StandstillDetails } from "../model/observation.ts";
import { cut, redactText, redactUrl } from "../util/redact.ts";
import { A2ALeaseError, maxErrorText } from "./base.ts";

/**
 * Why a connection failed for good, so that nothing but a change of the setup helps: TLS did not come about because of a
 * certificate, the server's or one that it wants of the client (`"certificate"`); or the `fetch` that makes the
 * connections was closed (`"closed"`).
 */
export type ConnectionFailureReason = "certificate" | "closed";

/** What is to be done, by why the connection failed. */
const connectionAdvice = Object.freeze({
  passing: { retry: "safe", nextStep: "wait" },
  certificate: { retry: "never", nextStep: "ask-user" },
  closed: { retry: "never", nextStep: "give-up" },
} as const);

/**
 * The connection failed: refused, reset, not resolved, TLS. It may go better a little later, but where there is a
 * `reason`.
 */
export class ConnectionError extends A2ALeaseError {
  static readonly code = "CONNECTION";
  override readonly name = "ConnectionError";
  override readonly code = "CONNECTION";
  /** URL that was called, redacted. */
  readonly url: string;
  /** The system's own code, `"ECONNREFUSED"`, where it gave one. */
  readonly systemCode?: string;
  /** Whether the request provably never left this machine. */
  readonly neverSent: boolean;
  /** Why it failed for good; absent where it may go better a little later. */
  readonly reason?: ConnectionFailureReason;

  constructor(
    url: string,
    details: {
      systemCode?: string;
      neverSent: boolean;
      message: string;
      reason?: ConnectionFailureReason;
      cause?: unknown;
    },
  ) {
    super(`the connection to ${redactUrl(url)} failed: ${details.message}`, {
      ...connectionAdvice[details.reason ?? "passing"],
      cause: details.cause,
    });
    this.url = redactUrl(url);
    if (details.systemCode !== undefined) this.systemCode = details.systemCode;
    this.neverSent = details.neverSent;
    if (details.reason !== undefined) this.reason = details.reason;
  }
}

/** Which budget of time ran out. */
export type TimeBudget = "first-byte" | "first-event" | "idle" | "total" | "deadline" | "no-progress";

/** An answer did not come in time. */
export class TimeoutError extends A2ALeaseError {
  static readonly code = "TIMEOUT";
  override readonly name = "TimeoutError";
  override readonly code = "TIMEOUT";
  /** URL that was called, redacted. */
  readonly url: string;
  /** The budget that ran out. */
  readonly budget: TimeBudget;
  /** Its size in milliseconds. */
  readonly budgetMs: number;

  /** How the task was looked at, where the budget is `"no-progress"`. */
  readonly standstill?: StandstillDetails;

  constructor(url: string, budget: TimeBudget, budgetMs: number, standstill?: StandstillDetails) {
    super(`${redactUrl(url)} ${missing(budget)} within the ${budget} budget of ${budgetMs} ms`, {
      retry: "safe",
      nextStep: "wait",
    });
    this.url = redactUrl(url);
    this.budget = budget;
    this.budgetMs = budgetMs;
    if (standstill !== undefined) this.standstill = standstill;
  }
}

function missing(budget: TimeBudget): string {
  if (budget === "deadline") return "did not settle the task";
  // It may have answered, and a card or a task that had to be waited for was late.
  if (budget === "total") return "did not bring the call to its end";
  return budget === "no-progress" ? "did not move the task on" : "gave no answer";
}

/** What an HTTP answer with an unexpected status said. */
export interface HttpAnswerDetails {
  /** URL that was called. */
  readonly url: string;
  /** HTTP status. */
  readonly status: number;
  /** Media type of the answer. */
  readonly contentType?: string;
  /** The body, as far as it was read. */
  readonly body?: string;
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
}

/** The server answered with an HTTP status that is neither success nor a protocol error. */
export class HttpStatusError extends A2ALeaseError {
  static readonly code = "HTTP_STATUS";
  override readonly name = "HttpStatusError";
  override readonly code = "HTTP_STATUS";
  /** URL that was called, redacted. */
  readonly url: string;
  /** HTTP status. */
  readonly status: number;
  /** Media type of the answer. */
  readonly contentType?: string;
  /** The body, cut. */
  readonly body?: string;

  constructor(answer: HttpAnswerDetails) {
    const type = answer.contentType === undefined ? "" : ` (${answer.contentType})`;
    const transient = answer.status >= 500 || [408, 425, 429].includes(answer.status);
    super(`${redactUrl(answer.url)} answered HTTP ${answer.status}${type}, wanted a protocol answer`, {
      retry: transient ? "safe" : "never",
      nextStep: transient ? "wait" : "replan",
      retryAfterMs: answer.retryAfterMs,
    });
    this.url = redactUrl(answer.url);
    this.status = answer.status;
    if (answer.contentType !== undefined) this.contentType = answer.contentType;
    if (answer.body !== undefined) this.body = cut(redactText(answer.body), maxErrorText);
  }
}

/** Something between us and the agent answered in its place: a JSON-RPC code that is really an HTTP status. */
export class GatewayError extends A2ALeaseError {
  static readonly code = "GATEWAY";
  override readonly name = "GatewayError";
  override readonly code = "GATEWAY";
  /** The status that was given as a code. */
  readonly status: number;

  constructor(status: number, remoteMessage: string, retryAfterMs?: number) {
    super(`a gateway answered with code ${status} in place of the agent: ${remoteMessage}`, {
      retry: status === 429 ? "safe" : "unknown-outcome",
      nextStep: "wait",
      retryAfterMs,
    });
    this.status = status;
  }
}

/** One thing that is wrong with an answer. */
export type ResponseIssue = DocumentIssue;

/** The answer is not what the protocol says. Our judgement, not the server's. */
export class MalformedResponseError extends A2ALeaseError {
  static readonly code = "MALFORMED_RESPONSE";
  override readonly name = "MalformedResponseError";
  override readonly code = "MALFORMED_RESPONSE";
  /** What is wrong, with JSON paths. */
  readonly issues: readonly ResponseIssue[];
  /** The beginning of the answer. */
  readonly body?: string;

  constructor(issues: readonly ResponseIssue[], body?: string) {
    const listed = issues.slice(0, 5).map((issue) => `${issue.path}: ${issue.message}`);
    super(`the answer is malformed: ${listed.join("; ")}`, { retry: "never", nextStep: "give-up" });
    this.issues = issues;
    if (body !== undefined) this.body = cut(redactText(body), maxErrorText);
  }
}

/** Something remote was larger, deeper or more than this client takes. */
export class LimitExceededError extends A2ALeaseError {
  static readonly code = "LIMIT_EXCEEDED";
  override readonly name = "LimitExceededError";
  override readonly code = "LIMIT_EXCEEDED";
  /** Name of the limit, as in the options. */
  readonly limit: string;
  /** Its value. */
  readonly max: number;

  constructor(limit: string, max: number, found: string) {
    super(`the limit ${limit} of ${max} was exceeded: found ${found}`, {
      retry: "never",
      nextStep: "give-up",
    });
    this.limit = limit;
    this.max = max;
  }
}

/** The server answered with a redirect that is not followed: any on a call, one to another origin on a card. */
export class RedirectRefusedError extends A2ALeaseError {
  static readonly code = "REDIRECT_REFUSED";
  override readonly name = "RedirectRefusedError";
  override readonly code = "REDIRECT_REFUSED";
  /** URL that was called, redacted. */
  readonly url: string;
  /** HTTP status; 0 where the platform hides it. */
  readonly status: number;
  /** Where it pointed, redacted, where that can be seen. */
  readonly location?: string;

  constructor(url: string, status: number, location: string | undefined) {
    const target = location === undefined ? "elsewhere" : redactUrl(location);
    super(`${redactUrl(url)} redirects to ${target}, wanted an answer from there itself`, {
      retry: "never",
      nextStep: "replan",
    });
    this.url = redactUrl(url);
    this.status = status;
    if (location !== undefined) this.location = target;
  }
}

/** A URL, taken from the network or given for a webhook, points where it is not to lead. */
export class AddressRefusedError extends A2ALeaseError {
  static readonly code = "ADDRESS_REFUSED";
  override readonly name = "AddressRefusedError";
  override readonly code = "ADDRESS_REFUSED";
  /** The URL, redacted. */
  readonly url: string;

  constructor(url: string, found: string) {
    super(`${redactUrl(url)} is refused: ${found}`, { retry: "never", nextStep: "replan" });
    this.url = redactUrl(url);
  }
}
