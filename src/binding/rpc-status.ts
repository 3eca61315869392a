import type { OperationName } from "../model/operations.ts";
import { isRecord } from "../util/freeze.ts";
import { cut } from "../util/redact.ts";
import { type RemoteFailure, readRemoteFailure } from "./remote-failure.ts";

// How HTTP+JSON tells an error: google.rpc.Status, and what stands in its place in the field.

/** Names of the canonical codes, each at the place of its number. */
const statusNames: readonly string[] = Object.freeze([
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
]);

/** HTTP status of a canonical code, for an error in the middle of a stream, which has none of its own. */
const httpStatuses: Readonly<Record<string, number>> = Object.freeze({
  CANCELLED: 499,
  UNKNOWN: 500,
  INVALID_ARGUMENT: 400,
  DEADLINE_EXCEEDED: 504,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  PERMISSION_DENIED: 403,
  RESOURCE_EXHAUSTED: 429,
  FAILED_PRECONDITION: 400,
  ABORTED: 409,
  OUT_OF_RANGE: 400,
  UNIMPLEMENTED: 501,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DATA_LOSS: 500,
  UNAUTHENTICATED: 401,
});

/** Operations whose request names a task in its path, so that what was not found is that task, or what belongs to it. */
const taskOperations: ReadonlySet<OperationName> = new Set<OperationName>([
  "GetTask",
  "CancelTask",
  "SubscribeToTask",
  "CreateTaskPushNotificationConfig",
  "GetTaskPushNotificationConfig",
  "ListTaskPushNotificationConfigs",
  "DeleteTaskPushNotificationConfig",
]);

/** A failure of HTTP+JSON, with the HTTP status that it stands for. */
export interface StatusFailure {
  /** What failed; its code is left out where it says the status once more. */
  readonly failure: RemoteFailure;
  /** The HTTP status that it names. */
  readonly httpStatus?: number;
}

/**
 * Reads the numbers of a `google.rpc.Status`: its code is the HTTP status (11.6), or the canonical code where it comes
 * from a gRPC gateway. A code below zero is one of JSON-RPC and stays what it is.
 */
export function readStatus(failure: RemoteFailure): StatusFailure {
  const { code, ...rest } = failure;
  if (code !== undefined && code < 0) return { failure };
  const isHttp = code !== undefined && code >= 100 && code <= 599;
  const name = rest.status ?? (code === undefined ? undefined : statusNames[code]);
  const httpStatus = isHttp ? code : name === undefined ? undefined : httpStatuses[name.toUpperCase()];
  return {
    failure: { ...rest, ...(name === undefined ? {} : { status: name.toUpperCase() }) },
    ...(httpStatus === undefined ? {} : { httpStatus }),
  };
}

/**
 * The JSON-RPC code whose error a canonical status stands for, where it stands for one alone (5.4): six A2A errors
 * share FAILED_PRECONDITION, and only a reason tells them apart.
 */
export function codeOfStatus(status: string | undefined, operation: OperationName): number | undefined {
  switch (status) {
    case "NOT_FOUND":
      return taskOperations.has(operation) ? -32001 : undefined;
    case "INVALID_ARGUMENT":
    case "OUT_OF_RANGE":
      return -32602;
    case "UNIMPLEMENTED":
      return -32601;
    case "INTERNAL":
      return -32603;
    default:
      return undefined;
  }
}

/**
 * The error in a body of HTTP+JSON: `{ error: {…} }` (11.6), a bare `google.rpc.Status` as gRPC gateways write it, or
 * problem details (RFC 9457), which earlier drafts of A2A 1.0 had. A text in the place of an error is a framework's and
 * says nothing of A2A.
 */
export function findStatus(body: unknown): RemoteFailure | undefined {
  if (!isRecord(body)) return undefined;
  if (isRecord(body.error)) return readRemoteFailure(body.error);
  const { code, message, details, type, title, detail } = body;
  if (Number.isInteger(code) && (typeof message === "string" || Array.isArray(details))) {
    return readRemoteFailure(body);
  }
  const reason =
    typeof type === "string" ? /\ba2a-protocol\.org\/.*?([\w-]+)\/?$/.exec(cut(type, 500)) : null;
  if (!reason) return undefined;
  const info = { reason: reason[1], domain: "a2a-protocol.org" };
  return readRemoteFailure({ message: detail ?? title, details: [info] });
}
