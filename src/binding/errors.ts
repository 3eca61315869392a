import type { AnyA2ALeaseError } from "../errors/any.ts";
import { AuthenticationError, AuthorizationError } from "../errors/auth.ts";
import { maxErrorText } from "../errors/base.ts";
import {
  ContentTypeNotSupportedError,
  ExtendedAgentCardNotConfiguredError,
  ExtensionSupportRequiredError,
  InternalError,
  InvalidAgentResponseError,
  InvalidParamsError,
  InvalidRequestError,
  MethodNotFoundError,
  ParseError,
  PushNotificationNotSupportedError,
  type RemoteErrorDetails,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnknownProtocolError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from "../errors/protocol.ts";
import { GatewayError, HttpStatusError } from "../errors/transport.ts";
import type { OperationName } from "../model/operations.ts";
import { defined } from "../util/freeze.ts";
import { cut, redactJson, redactText } from "../util/redact.ts";
import { strikeJson } from "../util/strike.ts";
import type { ErrorReason, RemoteFailure } from "./remote-failure.ts";
import { codeOfStatus, readStatus } from "./rpc-status.ts";

/** An answer that is an error, whichever binding carried it. */
export interface ErrorAnswer {
  /** The operation that was answered. */
  readonly operation: OperationName;
  /** URL that was called. */
  readonly url: string;
  /** HTTP status, where it is no success. */
  readonly httpStatus?: number;
  /** The error object, where the answer had one. */
  readonly failure?: RemoteFailure;
  /** Media type of the answer. */
  readonly contentType?: string;
  /** The beginning of its body. */
  readonly body?: string;
  /** `WWW-Authenticate`. */
  readonly challenge?: string;
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Secrets that the request carried: an agent may give one back. */
  readonly secrets?: readonly string[];
  /** Whether the binding tells errors as `google.rpc.Status`, so that a status means what the spec says (5.4, 11.6). */
  readonly isStatus?: boolean;
}

type ProtocolErrorClass = new (remote: RemoteErrorDetails) => AnyA2ALeaseError;

/** Each protocol error with its JSON-RPC code (5.4, 9.5) and the reason that names it (11.6). */
const protocolErrors: readonly (readonly [code: number, reason: string, type: ProtocolErrorClass])[] = [
  [-32001, "TASK_NOT_FOUND", TaskNotFoundError],
  [-32002, "TASK_NOT_CANCELABLE", TaskNotCancelableError],
  [-32003, "PUSH_NOTIFICATION_NOT_SUPPORTED", PushNotificationNotSupportedError],
  [-32004, "UNSUPPORTED_OPERATION", UnsupportedOperationError],
  [-32005, "CONTENT_TYPE_NOT_SUPPORTED", ContentTypeNotSupportedError],
  [-32006, "INVALID_AGENT_RESPONSE", InvalidAgentResponseError],
  [-32007, "EXTENDED_AGENT_CARD_NOT_CONFIGURED", ExtendedAgentCardNotConfiguredError],
  [-32008, "EXTENSION_SUPPORT_REQUIRED", ExtensionSupportRequiredError],
  [-32009, "VERSION_NOT_SUPPORTED", VersionNotSupportedError],
  [-32700, "PARSE", ParseError],
  [-32600, "INVALID_REQUEST", InvalidRequestError],
  [-32601, "METHOD_NOT_FOUND", MethodNotFoundError],
  [-32602, "INVALID_PARAMS", InvalidParamsError],
  [-32603, "INTERNAL", InternalError],
];
const byCode = new Map(protocolErrors.map(([code, , type]) => [code, type]));
const byReason = new Map([
  ...protocolErrors.map(([, reason, type]) => [reason, type] as const),
  ["JSON_PARSE", ParseError] as const,
  ["AUTHENTICATED_EXTENDED_CARD_NOT_CONFIGURED", ExtendedAgentCardNotConfiguredError] as const,
]);

/** Domain of the reasons that the spec names. */
const ownDomain = "a2a-protocol.org";

/**
 * The one mapping of error answers to errors: the reason decides, then the code, then the HTTP status. A reason of
 * another domain comes after the codes, since its words may mean something else there; and a 401 or 403 stands unless
 * the answer names an error of A2A itself, since frameworks put generic codes beside it.
 */
export function errorOf(given: ErrorAnswer): AnyA2ALeaseError {
  const answer = withStatus(withoutSecrets(given));
  const { failure, httpStatus } = answer;
  const reasons = failure?.reasons ?? [];
  const own = reasons.filter(({ domain }) => domain === undefined || domain === ownDomain);
  // The code of a google.rpc.Status is the HTTP status once more.
  const code = failure?.status === undefined ? failure?.code : undefined;
  const isOfA2A = code !== undefined && code <= -32001 && code >= -32099;

  const named = find(own) ?? (isOfA2A ? byCode.get(code) : undefined);
  if (named) return new named(detailsOf(answer));
  const refusal = refusalOf(answer, httpStatus);
  if (refusal) return refusal;
  const told = answer.isStatus ? codeOfStatus(failure?.status, answer.operation) : undefined;
  const generic = byCode.get(code ?? told ?? 0) ?? find(reasons);
  if (generic) return new generic(detailsOf(answer));
  if (code !== undefined && code >= 100 && code <= 599) {
    // Whoever says so, it is not the agent's HTTP layer: whether the agent took the message nobody knows.
    return new GatewayError(code, failure?.message ?? "no message", answer.retryAfterMs);
  }
  // An unknown code below zero is a JSON-RPC error that the spec does not name; any other one decides nothing.
  const isUndecided = code === undefined || code >= 0;
  return httpStatus !== undefined && isUndecided
    ? statusError(answer, httpStatus)
    : new UnknownProtocolError(detailsOf(answer));
}

/** An answer whose status is read as its binding means it; the status of its head stands before the one in its body. */
function withStatus(answer: ErrorAnswer): ErrorAnswer {
  if (!answer.isStatus || !answer.failure) return answer;
  return { ...readStatus(answer.failure), ...answer, failure: readStatus(answer.failure).failure };
}

/** An answer without the secrets that went out with its request. */
function withoutSecrets(answer: ErrorAnswer): ErrorAnswer {
  const { secrets = [], failure, body, challenge, contentType } = answer;
  const struck = strikeJson(defined({ body, challenge, contentType }), secrets);
  return { ...answer, ...struck, ...(failure ? { failure: withoutSecretsIn(failure, secrets) } : {}) };
}

/** What is known is struck first: of a secret with a comma in it, a redaction would leave the rest. */
function withoutSecretsIn(failure: RemoteFailure, secrets: readonly string[]): RemoteFailure {
  const struck = strikeJson(failure, secrets);
  const details = redactJson(struck.details) as RemoteFailure["details"];
  return { ...struck, message: redactText(struck.message), details };
}

function find(reasons: readonly ErrorReason[]): ProtocolErrorClass | undefined {
  return reasons.map(({ reason }) => byReason.get(normalize(reason))).find((type) => type !== undefined);
}

/** `TaskNotFoundError`, `task-not-found` and `TASK_NOT_FOUND` are one reason. */
function normalize(reason: string): string {
  const words = reason.replace(/([a-z\d])([A-Z])/g, "$1_$2").replace(/[\s.-]+/g, "_");
  return words.toUpperCase().replace(/_(?:ERROR|EXCEPTION)$/, "");
}

function refusalOf(answer: ErrorAnswer, status: number | undefined): AnyA2ALeaseError | undefined {
  if (status !== 401 && status !== 403) return undefined;
  const challenge = answer.challenge === undefined ? undefined : cut(answer.challenge, maxErrorText);
  const message = answer.failure?.message.trim() || undefined;
  const details = { challenge, ...(message === undefined ? {} : { found: `HTTP ${status}, ${message}` }) };
  return status === 401
    ? new AuthenticationError(answer.url, details)
    : new AuthorizationError(answer.url, details);
}

function statusError(answer: ErrorAnswer, status: number): HttpStatusError {
  const { url, contentType, retryAfterMs } = answer;
  // An error in the middle of a stream has no body of its own.
  const body = answer.body ?? answer.failure?.message;
  return new HttpStatusError({
    url,
    status,
    ...(contentType ? { contentType: cut(contentType, 100) } : {}),
    ...(body ? { body: cut(body, maxErrorText) } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function detailsOf({ operation, httpStatus, failure, retryAfterMs }: ErrorAnswer): RemoteErrorDetails {
  const { code, message = "no message", reasons = [], details = [], status } = failure ?? {};
  const [reason] = [...reasons.filter((item) => find([item])), ...reasons];
  return {
    operation,
    remoteMessage: message,
    ...(code === undefined || status !== undefined ? {} : { rpcCode: code }),
    ...(httpStatus === undefined ? {} : { httpStatus }),
    ...(reason === undefined ? {} : { reason: reason.reason }),
    ...(details.length === 0 ? {} : { details }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}
