import { AuthenticationError, AuthorizationError } from "../errors/auth.ts";
import { A2ALeaseError } from "../errors/base.ts";
import {
  ContentTypeNotSupportedError,
  ExtendedAgentCardNotConfiguredError,
  ExtensionSupportRequiredError,
  InternalError,
  InvalidAgentResponseError,
  InvalidParamsError,
  MethodNotFoundError,
  PushNotificationNotSupportedError,
  TaskNotFoundError,
  UnknownProtocolError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from "../errors/protocol.ts";
import { StreamInterruptedError, StreamStalledError } from "../errors/stream.ts";
import {
  ConnectionError,
  GatewayError,
  HttpStatusError,
  LimitExceededError,
  MalformedResponseError,
  TimeoutError,
} from "../errors/transport.ts";
import { isReplay } from "../lifecycle/memory.ts";
import type { Observation } from "../model/observation.ts";
import { isInterruptedState } from "../model/states.ts";

/** Errors that a changed card would explain, whatever the call. */
const surprising = [
  InvalidParamsError,
  MethodNotFoundError,
  PushNotificationNotSupportedError,
  UnsupportedOperationError,
  ContentTypeNotSupportedError,
  InvalidAgentResponseError,
  ExtendedAgentCardNotConfiguredError,
  ExtensionSupportRequiredError,
  VersionNotSupportedError,
  AuthenticationError,
  AuthorizationError,
  StreamStalledError,
];

/** Statuses that stand for one of those errors where no body names it: of HTTP+JSON, and of what stands before it. */
const surprisingStatuses: ReadonlySet<number> = new Set([400, 404, 405, 410, 415, 422, 501]);

/**
 * Whether an error makes one ask first whether the card changed.
 *
 * @param knowsTask - whether the caller has evidence that the task exists.
 */
export function isSurprise(error: unknown, knowsTask: boolean): boolean {
  if (error instanceof TaskNotFoundError) return knowsTask;
  if (error instanceof GatewayError) return [401, 403, 404].includes(error.status);
  if (error instanceof HttpStatusError) {
    return surprisingStatuses.has(error.status) || error.contentType === "text/html";
  }
  if (error instanceof MalformedResponseError) return /^\s*<(?:!doctype|html)/i.test(error.body ?? "");
  return surprising.some((type) => error instanceof type);
}

/** Whether a transition makes one ask first whether the card changed: a question, a refusal, a state unheard of. */
export function isSurprisingTransition(last: Observation | undefined, seen: Observation): boolean {
  const { state } = seen;
  const isAsking = isInterruptedState(state) || state === "TASK_STATE_REJECTED" || state === "unknown";
  return isAsking && !(last && isReplay(last, seen));
}

/** Errors after which nobody knows whether the agent took the message. */
const ambiguous = [
  TimeoutError,
  InternalError,
  MalformedResponseError,
  LimitExceededError,
  StreamInterruptedError,
  StreamStalledError,
];

/** Whether the outcome of a send that failed so is unknown; everything else is a definite refusal. */
export function isUnknownOutcome(error: unknown): boolean {
  if (!(error instanceof A2ALeaseError)) return false;
  // TLS that ends over a certificate ends before the server takes a request, sent already or not.
  if (error instanceof ConnectionError) return !error.neverSent && error.reason === undefined;
  if (error instanceof GatewayError) return error.status !== 429;
  if (error instanceof HttpStatusError)
    return error.status === 408 || error.status >= 500 || error.status < 400;
  if (error instanceof InvalidAgentResponseError) return true;
  // A code that nobody knows decides nothing beside the status that it came with.
  if (error instanceof UnknownProtocolError)
    return error.httpStatus === 408 || (error.httpStatus ?? 0) >= 500;
  return ambiguous.some((type) => error instanceof type);
}
