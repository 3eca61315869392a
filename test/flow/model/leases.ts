import { CardDriftError, LifecycleMismatchError } from "a2a-lease";
import { exits, type Invariant, leasedCalls, said } from "./kinds.ts";
import { endOf, errorOf, isAborted, nameOf, type RunRecord, type Step } from "./record.ts";
import { callsOf, isLeased } from "./surprises.ts";

/** No card-dependent request leaves under a lease that is known to be over. */
export const brokenLease: Invariant = (record) =>
  record.steps.flatMap((step) => {
    const end = leaseEndOf(record, step.holder);
    if (!end) return [];
    return callsOf(record, step)
      .filter((call) => isLeased(call, step) && call.at > end.at)
      .map((call) => `${call.operation} left for ${step.label} though ${end.step.label} had ended the lease`);
  });

/** A step under a lease that is over throws what ended it, the same object; and no other lease is touched. */
export const sameError: Invariant = (record) =>
  record.steps.flatMap((step) => {
    const error = errorOf(step);
    const end = leaseEndOf(record, step.holder);
    const complaints: string[] = [];
    if (end && step.startedAt > end.at && step.settled && leasedCalls.has(step.kind)) {
      const isKept = error === end.error || nameOf(error) === "TaskTerminalError" || isAborted(step);
      if (!isKept) complaints.push(`${step.label} did not throw what had ended its lease, but ${said(step)}`);
    }
    if (error instanceof CardDriftError && !isOwn(record, step, error)) {
      complaints.push(`${step.label} threw the drift of another lease, of ${error.taskId ?? "the plan"}`);
    }
    return complaints;
  });

/** Cancelling and salvaging ask no card, lease or none. */
export const leavingWorks: Invariant = (record) =>
  record.steps.flatMap((step) => {
    if (!exits.has(step.kind) || !step.settled || isAborted(step)) return [];
    const error = errorOf(step);
    const isOfTheCard = /^(?:CardDrift|LeaseUnverifiable|RequirementUnmet|CapabilityMissing)Error$/;
    if (isOfTheCard.test(nameOf(error))) return [`${step.label} was refused by ${nameOf(error)}`];
    const calls = callsOf(record, step);
    if (step.kind === "salvage") {
      const isAnswered = calls.some(({ sightings }) => sightings[0]?.status !== undefined);
      return isAnswered && error !== undefined ? [`${step.label} was answered and ${said(step)}`] : [];
    }
    const wasOver = isFinal(step.before?.state);
    if (calls.length === 0 && !wasOver) return [`${step.label} asked for no cancellation`];
    const isDone = calls.some(({ sightings }) =>
      sightings.some(({ status }) => status?.state === "TASK_STATE_CANCELED"),
    );
    // Another reader may have seen a different end first, and an agent that then tells of this one contradicts itself.
    const isContradiction = error instanceof LifecycleMismatchError && error.rule === "terminal-is-final";
    if (isContradiction) return [];
    return isDone && !wasOver && error !== undefined ? [`${step.label} was done and ${said(step)}`] : [];
  });

/** Whether a drift is one of the lease that a step depends on. */
function isOwn({ settings }: RunRecord, { holder, taskId, pin }: Step, error: CardDriftError): boolean {
  if (error.taskId === undefined) return holder?.startsWith("plan") === true;
  if (holder?.startsWith("plan")) return true;
  const isOfTask = taskId === undefined || taskId === error.taskId;
  const isOfPin =
    pin === undefined || settings.posture === "degrade" || pin.digest === error.drift.pinned.digest;
  return isOfTask && isOfPin;
}

/** The step that ended a lease, by throwing a drift of it. */
export function leaseEndOf(record: RunRecord, holder: string | undefined) {
  if (holder === undefined) return undefined;
  const ends = record.steps.flatMap((step) => {
    const error = errorOf(step);
    if (step.holder !== holder || !(error instanceof CardDriftError) || exits.has(step.kind)) return [];
    // A send can end the lease of the task that came of it, which is not the plan's.
    const isOfTask = error.taskId !== undefined;
    return isOfTask === holder.startsWith("plan") ? [] : [{ step, at: endOf(step), error }];
  });
  return ends.sort((a, b) => a.at - b.at)[0];
}

function isFinal(state: string | undefined): boolean {
  return state !== undefined && /_(?:COMPLETED|FAILED|CANCELED|REJECTED)$/.test(state);
}
