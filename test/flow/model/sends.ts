import { isA2ALeaseError, LeaseUnverifiableError } from "a2a-lease";
import { type Invariant, sends } from "./kinds.ts";
import { type CallExchange, errorOf, nameOf, type RunRecord, type Step } from "./record.ts";
import { callsOf } from "./surprises.ts";

/** No message is sent twice, but for one more time with other credentials after a 401; and no id is used again. */
export const sentOnce: Invariant = ({ exchanges }) => {
  const byId = new Map<string, CallExchange[]>();
  for (const call of exchanges) {
    if (call.kind !== "call" || !sends.has(call.operation) || call.failure?.how === "refused") continue;
    const id = call.messageId ?? "";
    byId.set(id, [...(byId.get(id) ?? []), call]);
  }
  return [...byId].flatMap(([id, calls]) => {
    const [first, second, ...more] = calls;
    if (!first || !second) return [];
    if (first.stepId !== second.stepId)
      return [`the id ${id} of ${first.stepId} was used by ${second.stepId}`];
    const isRefreshed = first.answer?.status === 401 && first.authorization !== second.authorization;
    return isRefreshed && more.length === 0
      ? []
      : [`${id} of ${first.stepId} was sent ${calls.length} times`];
  });
};

/** An outcome is unknown only where the message left, and nobody said that it was refused. */
export const knownIfUnsent: Invariant = (record) =>
  record.steps.flatMap((step) => {
    if (nameOf(errorOf(step)) !== "SendOutcomeUnknownError") return [];
    const sent = callsOf(record, openerOf(record, step)).filter(({ operation }) => sends.has(operation));
    return sent.some((call) => !isRefused(call))
      ? []
      : [`${step.label} has an unknown outcome, and nothing was sent that was not refused`];
  });

/** A send that may have been taken is not called safe to repeat. */
export const noFalseSafety: Invariant = (record) =>
  record.steps.flatMap((step) => {
    const error = errorOf(step);
    if (!isA2ALeaseError(error) || error.retry !== "safe" || error instanceof LeaseUnverifiableError)
      return [];
    const isOpen = callsOf(record, openerOf(record, step)).some((call) => {
      if (!sends.has(call.operation) || isRefused(call)) return false;
      // Once the task is known, reading on is safe.
      return step.stream === undefined || call.sightings.every(({ taskId }) => taskId === undefined);
    });
    return isOpen ? [`${step.label} may have been taken, and ${error.name} calls it safe to repeat`] : [];
  });

/** Whether a send was turned down for certain, or never left. */
function isRefused({ answer, failure, sightings }: CallExchange): boolean {
  const code = sightings[0]?.code;
  const isByCode = code !== undefined && code < 0 && code !== -32603 && code !== -32006;
  const isByStatus = answer !== undefined && answer.status >= 400 && answer.status < 500;
  return failure?.how === "refused" || isByCode || (isByStatus && answer.status !== 408);
}

/** The step whose calls a step depends on: for an event of a stream, the one that opened it. */
function openerOf({ steps }: RunRecord, step: Step): Step {
  return steps.find(({ id }) => id === step.stream) ?? step;
}
