import { A2ALeaseError } from "../errors/base.ts";
import { CardUnreachableError } from "../errors/card.ts";
import { InternalError, UnknownProtocolError } from "../errors/protocol.ts";
import { ConnectionError, GatewayError, HttpStatusError } from "../errors/transport.ts";
import type { OperationName, Operations } from "../model/operations.ts";
import { operationFacts } from "../model/operations.ts";

/** Statuses that say "not now": a request timed out, came too early or too often, or found nobody behind a gateway. */
const passingStatuses: ReadonlySet<number | undefined> = new Set([408, 425, 429, 502, 503, 504]);

/**
 * Whether a call may be said twice: reads, what takes something away, and the creation of a push configuration under an
 * id of the caller's own.
 */
export function isRepeatable<O extends OperationName>(
  operation: O,
  request: Operations[O]["request"],
): boolean {
  if (operation !== "CreateTaskPushNotificationConfig") return operationFacts[operation].repeatable;
  const { id } = request as { readonly id?: unknown };
  return typeof id === "string" && id !== "";
}

/**
 * Whether a failure is one that passes: the connection failed, and not for good, or a status says "not now". No other is
 * tried again.
 */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof A2ALeaseError)) return false;
  if (error instanceof ConnectionError) return error.reason === undefined;
  const hasStatus =
    error instanceof HttpStatusError ||
    error instanceof GatewayError ||
    error instanceof CardUnreachableError;
  if (hasStatus) return passingStatuses.has(error.status);
  // A body that names no error of A2A decides nothing beside the status that it came with.
  const isGeneric = error instanceof InternalError || error instanceof UnknownProtocolError;
  return isGeneric && passingStatuses.has(error.httpStatus);
}

/** Whether a failure proves that nothing of the request left this machine: then even a send may go once more. */
export function isNeverSent(error: unknown): boolean {
  return error instanceof ConnectionError && error.neverSent;
}
