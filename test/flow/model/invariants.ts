import { isA2ALeaseError } from "a2a-lease";
import { type Invariant, said } from "./kinds.ts";
import { brokenLease, leavingWorks, sameError } from "./leases.ts";
import {
  cardDecides,
  checkedFirst,
  noNeedlessRead,
  oneReadAtATime,
  readAfterSurprise,
  waitsAsAsked,
} from "./readings.ts";
import { endOf, errorOf, isAborted, nameOf, type RunRecord } from "./record.ts";
import { knownIfUnsent, noFalseSafety, sentOnce } from "./sends.ts";

/** Every call carries the headers of the caller that it is made for. */
const ownHeaders: Invariant = ({ exchanges }) =>
  exchanges.flatMap((call) => {
    if (call.kind !== "call" || call.stepId !== undefined) return [];
    return [`${call.operation} of ${call.taskId ?? "a new task"} left without the headers of its caller`];
  });

/** Everything thrown is an error of the library, or the caller's own reason. */
const typedErrors: Invariant = (record) =>
  record.steps.flatMap((step) => {
    const error = errorOf(step);
    if (error === undefined || isA2ALeaseError(error) || isAborted(step)) return [];
    return [`${step.label} threw ${said(step)}`];
  });

/** An abort ends a step at once, with the caller's own reason. Holds between two commands, not within one. */
const abortEnds: Invariant = (record) =>
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
  waitsAsAsked,
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
