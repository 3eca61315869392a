import { A2ALeaseError } from "../errors/base.ts";
import { CardDriftError, LeaseUnverifiableError } from "../errors/lease.ts";

/**
 * Says of an error which task it concerns, where it does not say so itself. What a caller aborted with stays as it is,
 * and the errors of a lease know whose lease it was.
 */
export function aboutTask(error: unknown, taskId: string, callers?: AbortSignal): unknown {
  if (!(error instanceof A2ALeaseError) || isCallersOwn(error, callers)) return error;
  if (error instanceof CardDriftError || error instanceof LeaseUnverifiableError) return error;
  return error.taskId === undefined ? Object.assign(error, { taskId }) : error;
}

/**
 * The same for a wait that was begun by sending a message: the task is there, so the call is not to be made again,
 * whatever is true of the read that failed. A drift has its own way on, which leads to the task.
 */
export function afterSend(error: unknown, taskId: string, callers?: AbortSignal): unknown {
  const told = aboutTask(error, taskId, callers);
  if (!(told instanceof A2ALeaseError) || isCallersOwn(told, callers)) return told;
  if (told instanceof CardDriftError || told.retry === "unknown-outcome") return told;
  return Object.assign(told, { retry: "never" });
}

function isCallersOwn(error: A2ALeaseError, callers: AbortSignal | undefined): boolean {
  return callers?.aborted === true && callers.reason === error;
}
