import { CardDriftError, LeaseUnverifiableError } from "a2a-lease";
import { type CardRead, cardReadsOf, isGateClosed, judge } from "./card-reads.ts";
import { isTold, mustBeChecked, readsFor, readsWithin } from "./judged.ts";
import { type Invariant, readers, said, sends } from "./kinds.ts";
import {
  endOf,
  errorOf,
  hasCause,
  isAborted,
  isGivenUp,
  nameOf,
  type RunRecord,
  type Step,
} from "./record.ts";
import { callsOf, isLeased, type Surprise, surprisesOf } from "./surprises.ts";

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
    // A stream may have been checked once more, at its reading, when the card could not be asked for again yet.
    const isGated = isGateClosed(record, step.startedAt, step.startedMs);
    if (isGated && thrown instanceof LeaseUnverifiableError && hasOriginal) return [];
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

/** The card is left alone for as long as its server asked. */
export const waitsAsAsked: Invariant = (record) =>
  record.exchanges
    .filter(({ kind, at, atMs }) => kind === "card" && isGateClosed(record, at, atMs))
    .map(({ at }) => `the card was read at ${at}, before the time that its server asked for`);

/** At most one reading of the card is in flight. */
export const oneReadAtATime: Invariant = (record) => {
  const reads = cardReadsOf(record).filter(({ isGivenUp }) => !isGivenUp);
  return reads.slice(1).flatMap((read, index) => {
    const before = reads[index];
    const isBeside = before && read.from < (before.until ?? Number.POSITIVE_INFINITY);
    return isBeside ? [`the card read at ${read.from} began while the one at ${before.from} went on`] : [];
  });
};

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
