import { CardDriftError, LeaseUnverifiableError } from "a2a-lease";
import { type CardRead, isGateClosed } from "./card-reads.ts";
import { leaseEndOf } from "./leases.ts";
import { errorOf, hasCause, isGivenUp, nameOf, type RunRecord } from "./record.ts";
import type { Surprise } from "./surprises.ts";

/** Whether a surprise had to lead to a forced reading: it was judged at all, and nothing came before. */
export function mustBeChecked(record: RunRecord, surprise: Surprise, reads: readonly CardRead[]): boolean {
  const { step, isCertain, isAlongside, error } = surprise;
  if (!isCertain || !step.settled || isGivenUp(step)) return false;
  // What comes in on a stream whose lease is over tells nobody anything.
  if ((leaseEndOf(record, step.holder)?.at ?? surprise.until) < surprise.at) return false;
  const thrown = errorOf(step);
  // An event that nobody took before the call's own time was over.
  if (surprise.at < step.startedAt && hasCause(thrown, "TimeoutError")) return false;
  // The check that goes on beside an open stream may find the drift while a silence on it is still being judged.
  if (!isAlongside) return !(thrown instanceof CardDriftError && thrown.drift.phase.check === "alongside");
  // What was answered is withheld, unseen, where the check that went with the call failed.
  if (thrown instanceof CardDriftError) {
    const isOthers = record.steps.some((other) => other !== step && errorOf(other) === thrown);
    return thrown.drift.phase.check === "forced" && !isOthers;
  }
  if (/^(?:CapabilityMissing|RequirementUnmet)Error$/.test(nameOf(thrown))) return false;
  if (thrown instanceof LeaseUnverifiableError) {
    return (error !== undefined && hasCause(thrown, error)) || !hasFailedCheck(record, surprise, reads);
  }
  return nameOf(thrown) !== "TimeoutError" || readsFor(surprise, reads).length > 0;
}

/** Whether the check that went with a call failed. */
function hasFailedCheck(record: RunRecord, { step, at }: Surprise, reads: readonly CardRead[]): boolean {
  if (isGateClosed(record, step.startedAt, step.startedMs)) return true;
  return reads.some(
    ({ from, until = Number.POSITIVE_INFINITY, found }) =>
      from < at && until > step.startedAt && found.kind === "nothing",
  );
}

/** Whether what a step threw names what surprised it, where that has a name. */
export function isTold({ step, error, isLookedInto, isFollowed }: Surprise): boolean {
  // A second look can find the drift, and then what it showed is the cause.
  return error === undefined || hasCause(errorOf(step), error) || (isLookedInto && isFollowed);
}

/** The whole readings that may have been the one for a surprise. */
export function readsFor({ at, until }: Surprise, reads: readonly CardRead[]): readonly CardRead[] {
  return readsWithin(at, until, reads);
}

/** The whole readings that began and ended within a while. */
export function readsWithin(at: number, until: number, reads: readonly CardRead[]): readonly CardRead[] {
  return reads.filter((read) => read.isFull && read.from > at && (read.until ?? until) < until);
}
