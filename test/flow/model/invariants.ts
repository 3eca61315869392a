import { CardDriftError, isA2ALeaseError, LeaseUnverifiableError } from "a2a-lease";
import { type CardRead, cardReadsOf, isGateClosed, judge } from "./card-reads.ts";
import {
  type CallExchange,
  endOf,
  errorOf,
  hasCause,
  isAborted,
  isGivenUp,
  nameOf,
  type RunRecord,
  type Step,
  type StepKind,
} from "./record.ts";
import { callsOf, isLeased, type Surprise, surprisesOf } from "./surprises.ts";

/** Something that must hold of every run: what breaks it, as sentences; none when it holds. */
export type Invariant = (record: RunRecord) => readonly string[];

/** Steps that ask for a full reading of the card by themselves. */
const readers: ReadonlySet<StepKind> = new Set(["create", "revalidate", "renegotiate", "repin"]);
/** Steps that are card-dependent calls of their own. */
const calls: ReadonlySet<StepKind> = new Set(["send", "stream", "reply", "get", "subscribe"]);
/** Steps that are always possible. */
const exits: ReadonlySet<StepKind> = new Set(["cancel", "salvage"]);
const sends: ReadonlySet<string> = new Set(["SendMessage", "SendStreamingMessage"]);

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
    if (end && step.startedAt > end.at && step.settled && calls.has(step.kind)) {
      const isKept = error === end.error || nameOf(error) === "TaskTerminalError" || isAborted(step);
      if (!isKept) complaints.push(`${step.label} did not throw what had ended its lease, but ${said(step)}`);
    }
    if (error instanceof CardDriftError && !isOwn(record, step, error)) {
      complaints.push(`${step.label} threw the drift of another lease, of ${error.taskId ?? "the plan"}`);
    }
    return complaints;
  });

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

/** Every surprise is followed by a whole reading of the card that began after it, before anything else comes of it. */
export const readAfterSurprise: Invariant = (record) => {
  const reads = cardReadsOf(record);
  const missed = surprisesOf(record)
    .filter((item) => mustBeChecked(record, item, reads) && readsFor(item, reads).length === 0)
    .filter((item) => !(isTold(item) && isHeldBack(record, item.step)) && !isOutOfTime(item, reads))
    .map(
      ({ label, step }) => `${label} surfaced from ${step.label} (${said(step)}) without a forced card read`,
    );
  const skipped = record.steps
    .filter(({ kind, settled }) => readers.has(kind) && settled)
    .filter((step) => !isAborted(step) && !isHeldBack(record, step))
    .filter((step) => readsWithin(step.startedAt, endOf(step), reads).length === 0)
    .map((step) => `${step.label} read no card`);
  return [...missed, ...skipped];
};

/** Nothing else causes a forced reading: each has a surprise of its own, or somebody who asked for it. */
export const noNeedlessRead: Invariant = (record) => {
  const forced = cardReadsOf(record).filter(({ isFull, isDue }) => isFull && !isDue);
  const reasons = [
    ...surprisesOf(record).map(({ at, until, step }) => ({ at, until: reach(step, until) })),
    ...record.steps
      .filter(({ kind }) => readers.has(kind))
      .map((step) => ({ at: step.startedAt, until: reach(step, endOf(step)) })),
  ];
  const fits = forced.map(({ from }) =>
    reasons.flatMap(({ at, until }, index) => (at < from && from < until ? [index] : [])),
  );
  const matched = matchAll(fits);
  return forced
    .filter((_read, index) => !matched[index])
    .map(({ from }) => `the forced card read at ${from} has no surprise of its own`);
};

/** The card decides what a surprise is: a drift with it as the cause, no telling, or itself. */
export const cardDecides: Invariant = (record) => {
  const reads = cardReadsOf(record);
  return surprisesOf(record).flatMap((surprise) => {
    const { step, error, label } = surprise;
    const { pin, settled } = step;
    if (!pin || !settled || !mustBeChecked(record, surprise, reads)) return [];
    // Where several readings may have been the one, they must agree to decide anything.
    const begun = reads.filter(({ isFull, from }) => isFull && from > surprise.at && from < surprise.until);
    const isDone = ({ until: end = Number.POSITIVE_INFINITY }: CardRead) => end < surprise.until;
    const verdicts = new Set(
      begun.map((read) => (isDone(read) ? judge(read, pin, record.settings.compare) : "no-telling")),
    );
    const [verdict] = verdicts;
    if (verdict === undefined || verdicts.size > 1) return [];
    const complaint = (wanted: string) => [
      `${label} at ${step.label} came to ${said(step)}, wanted ${wanted}`,
    ];
    const thrown = errorOf(step);
    const hasOriginal = isTold(surprise);
    const isTooLate = record.settings.credentials === "slow" && nameOf(thrown) === "TimeoutError";
    const isAgain = surprise.isRepeated || (error === "AuthenticationError" && isTooLate);
    const isOriginal = surprise.isFollowed || isAgain || isItself(surprise);
    if (verdict === "no-telling") {
      const isUnverifiable = thrown instanceof LeaseUnverifiableError && hasOriginal;
      return isUnverifiable ? [] : complaint(`LeaseUnverifiableError of ${error ?? "no error"}`);
    }
    const isDrift = thrown instanceof CardDriftError && (hasOriginal || isShared(record, step));
    // Under this posture the pin moves, and with it what counts as a drift.
    if (record.settings.posture === "degrade" && (isDrift || isOriginal)) return [];
    if (verdict === "drift") {
      return isDrift ? [] : complaint(`CardDriftError because of ${error ?? "what was answered"}`);
    }
    return isOriginal || isShared(record, step) ? [] : complaint(`the original ${error ?? "answer"}`);
  });
};

/** Nothing is sent before the card was checked for it, and nothing of an alongside call is delivered before. */
export const checkedFirst: Invariant = (record) => {
  const { settings } = record;
  const reads = cardReadsOf(record);
  const isChecked = (step: Step, until: number) => {
    const { pin } = step;
    if (!pin) return true;
    return reads.some((read) => {
      const isTimely = (read.until ?? 0) > step.startedAt;
      const isWithinTerm = step.startedMs - (read.untilMs ?? 0) < settings.leaseTermMs;
      if (read.until === undefined || read.until > until || !(isTimely || isWithinTerm)) return false;
      const verdict = judge(read, pin, settings.compare);
      return verdict === "same" || (verdict === "drift" && settings.posture === "degrade");
    });
  };
  return record.steps.flatMap((step) => {
    if (step.kind === "find") return [];
    const calls = callsOf(record, step).filter((call) => isLeased(call, step));
    const sent = calls
      .filter((call) => sends.has(call.operation) && !isChecked(step, call.at))
      .map((call) => `${call.operation} of ${step.label} left without a check of the card`);
    const { settled } = step;
    const isDelivered = settled?.isOk && (step.kind === "get" || step.kind === "subscribe");
    if (!isDelivered || isChecked(step, settled.at)) return sent;
    return [...sent, `${step.label} was delivered without a check of the card`];
  });
};

/** At most one reading of the card is in flight. */
export const oneReadAtATime: Invariant = (record) => {
  const reads = cardReadsOf(record).filter(({ isGivenUp }) => !isGivenUp);
  return reads.slice(1).flatMap((read, index) => {
    const before = reads[index];
    const isBeside = before && read.from < (before.until ?? Number.POSITIVE_INFINITY);
    return isBeside ? [`the card read at ${read.from} began while the one at ${before.from} went on`] : [];
  });
};

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
    return isDone && !wasOver && error !== undefined ? [`${step.label} was done and ${said(step)}`] : [];
  });

/** Every call carries the headers of the caller that it is made for. */
export const ownHeaders: Invariant = ({ exchanges }) =>
  exchanges.flatMap((call) => {
    if (call.kind !== "call" || call.stepId !== undefined) return [];
    return [`${call.operation} of ${call.taskId ?? "a new task"} left without the headers of its caller`];
  });

/** Everything thrown is an error of the library, or the caller's own reason. */
export const typedErrors: Invariant = (record) =>
  record.steps.flatMap((step) => {
    const error = errorOf(step);
    if (error === undefined || isA2ALeaseError(error) || isAborted(step)) return [];
    return [`${step.label} threw ${said(step)}`];
  });

/** An abort ends a step at once, with the caller's own reason. Holds between two commands, not within one. */
export const abortEnds: Invariant = (record) =>
  record.steps.flatMap((step) => {
    const { aborted, settled, leftAt } = step;
    if (!aborted || isAborted(step) || endOf(step) < aborted.at) return [];
    if (leftAt !== undefined && settled) return [];
    return [`${step.label} was aborted and ${step.settled ? said(step) : "goes on"}`];
  });

/** Every invariant by its name. */
export const invariants: Readonly<Record<string, Invariant>> = Object.freeze({
  brokenLease,
  sameError,
  sentOnce,
  knownIfUnsent,
  noFalseSafety,
  readAfterSurprise,
  noNeedlessRead,
  cardDecides,
  checkedFirst,
  oneReadAtATime,
  leavingWorks,
  ownHeaders,
  typedErrors,
  abortEnds,
});

/** What breaks any invariant. */
export function complaintsOf(record: RunRecord): readonly string[] {
  return Object.entries(invariants).flatMap(([name, find]) => find(record).map((text) => `${name}: ${text}`));
}

/** What is left open after everything was left and closed. */
export interface Leftovers {
  readonly timers: number;
  readonly requests: number;
  readonly unhandled: readonly unknown[];
}

/** A run that is over leaves nothing behind. */
export function quietEnd({ timers, requests, unhandled }: Leftovers): readonly string[] {
  return [
    ...(timers > 0 ? [`quietEnd: ${timers} timers are still set`] : []),
    ...(requests > 0 ? [`quietEnd: ${requests} requests are still open`] : []),
    ...unhandled.map((reason) => `quietEnd: nobody handled the rejection by ${nameOf(reason)}`),
  ];
}

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
function leaseEndOf(record: RunRecord, holder: string | undefined) {
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

/** Whether a surprise had to lead to a forced reading: it was judged at all, and nothing came before. */
function mustBeChecked(record: RunRecord, surprise: Surprise, reads: readonly CardRead[]): boolean {
  const { step, isCertain, isAlongside, error } = surprise;
  if (!isCertain || !step.settled || isGivenUp(step)) return false;
  // What comes in on a stream whose lease is over tells nobody anything.
  if ((leaseEndOf(record, step.holder)?.at ?? surprise.until) < surprise.at) return false;
  const thrown = errorOf(step);
  // An event that nobody took before the call's own time was over.
  if (surprise.at < step.startedAt && hasCause(thrown, "TimeoutError")) return false;
  if (!isAlongside) return true;
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
function isTold({ step, error, isLookedInto, isFollowed }: Surprise): boolean {
  // A second look can find the drift, and then what it showed is the cause.
  return error === undefined || hasCause(errorOf(step), error) || (isLookedInto && isFollowed);
}

/** Whether the card may not be read yet, and the step said so. */
function isHeldBack(record: RunRecord, step: Step): boolean {
  const { settled } = step;
  if (!settled || !(errorOf(step) instanceof LeaseUnverifiableError)) return false;
  return isGateClosed(record, settled.at, settled.atMs);
}

/** Whether a step's own time ran out while it waited for its reading, and it said so, and of what surprise. */
function isOutOfTime(surprise: Surprise, reads: readonly CardRead[]): boolean {
  const { step, at } = surprise;
  const isWaiting = reads.some(
    ({ from, until = Number.POSITIVE_INFINITY }) => from < endOf(step) && until > at,
  );
  return errorOf(step) instanceof LeaseUnverifiableError && isTold(surprise) && isWaiting;
}

function readsFor({ at, until }: Surprise, reads: readonly CardRead[]): readonly CardRead[] {
  return readsWithin(at, until, reads);
}

/** The whole readings that began and ended within a while. */
function readsWithin(at: number, until: number, reads: readonly CardRead[]): readonly CardRead[] {
  return reads.filter((read) => read.isFull && read.from > at && (read.until ?? until) < until);
}

/** Whether a step came to what surprised it. */
function isItself({ step, error, label, isLookedInto }: Surprise): boolean {
  const thrown = errorOf(step);
  if (isLookedInto && nameOf(thrown) === "LifecycleMismatchError") return true;
  if (error !== undefined) {
    return hasCause(thrown, error) && !(thrown instanceof CardDriftError);
  }
  const isBroken = nameOf(thrown) === "LifecycleMismatchError";
  if (label === "a state unheard of") return isBroken;
  return step.settled?.isOk === true || (isBroken && label !== "no event stream");
}

/** Whether somebody else under the same lease was under way, who may have ended it first. */
function isShared({ steps }: RunRecord, step: Step): boolean {
  return steps.some(
    (other) =>
      other !== step &&
      (other.holder === step.holder || (step.taskId !== undefined && other.taskId === step.taskId)) &&
      endOf(other) > step.startedAt &&
      other.startedAt < endOf(step),
  );
}

/** A reading that was queued for a step goes on for others when the step is given up. */
function reach(step: Step, until: number): number {
  return isGivenUp(step) ? Number.POSITIVE_INFINITY : until;
}

function isFinal(state: string | undefined): boolean {
  return state !== undefined && /_(?:COMPLETED|FAILED|CANCELED|REJECTED)$/.test(state);
}

/** Gives each row one of the columns that fit it, no column twice, as far as that goes; says which rows got one. */
function matchAll(fits: readonly (readonly number[])[]): readonly boolean[] {
  const rowOf = new Map<number, number>();
  const place = (row: number, tried: Set<number>): boolean => {
    for (const column of fits[row] ?? []) {
      if (tried.has(column)) continue;
      tried.add(column);
      const holder = rowOf.get(column);
      if (holder !== undefined && !place(holder, tried)) continue;
      rowOf.set(column, row);
      return true;
    }
    return false;
  };
  return fits.map((_columns, row) => place(row, new Set()));
}

/** How a step ended, for people. */
function said({ settled }: Step): string {
  if (!settled) return "nothing yet";
  if (settled.isOk) return `success${settled.state === undefined ? "" : ` in ${settled.state}`}`;
  const { error } = settled;
  const causes: string[] = [];
  for (let cause = error; cause instanceof Error && causes.length < 4; cause = cause.cause)
    causes.push(cause.name);
  return causes.length > 0 ? causes.join(" < ") : String(error);
}
