import { CardDriftError, LeaseUnverifiableError } from "a2a-lease";
import { cardReadsOf, judge } from "./card-reads.ts";
import { endOf, errorOf, isAborted, nameOf, type RunRecord, type Step } from "./record.ts";
import { surprisesOf } from "./surprises.ts";

/** What a run came across, so that a script that never meets what it is about does not pass for a test of it. */
export function sightsOf(record: RunRecord): ReadonlySet<string> {
  const { exchanges, steps, settings } = record;
  const reads = cardReadsOf(record);
  const forced = reads.filter(({ isFull, isDue }) => isFull && !isDue);
  const surprises = surprisesOf(record);
  const drifts = steps.filter((step) => errorOf(step) instanceof CardDriftError);
  const after = (step: Step) =>
    drifts.some((drift) => drift.holder === step.holder && endOf(drift) < step.startedAt);
  const sights: (string | false | undefined)[] = [
    ...surprises.map(({ step, label, at, until }) => {
      const own = forced.filter(({ from }) => from > at && from < until);
      const [read] = own;
      const verdict = read && step.pin ? judge(read, step.pin, settings.compare) : "not asked";
      return `${label}: ${verdict}`;
    }),
    ...forced.map(({ from }) => {
      const sharing = surprises.filter(({ at, until }) => at < from && from < until);
      return sharing.length > 1 && "a forced read that is shared";
    }),
    ...forced.map(({ from }, index) => {
      const { until = Number.POSITIVE_INFINITY } =
        reads[reads.findIndex((read) => read.from === from) - 1] ?? {};
      const isQueued = surprises.some(({ at }) => at < until && until < from && index > 0);
      return isQueued && "a forced read that was queued";
    }),
    ...steps.map((step) => {
      const { kind, settled } = step;
      if (!settled) return undefined;
      if (isAborted(step)) return `${kind}: aborted`;
      return `${kind}: ${settled.isOk ? "success" : nameOf(settled.error)}${after(step) ? ", after a drift" : ""}`;
    }),
    ...steps.map((step) => step.leftAt !== undefined && "a stream that is left while it is read"),
    ...exchanges.map((item, index) => {
      const isAgain =
        item.kind === "call" &&
        exchanges.findIndex((other) => "messageId" in other && other.messageId === item.messageId) < index;
      return isAgain && item.messageId !== undefined && "a message that is sent again";
    }),
    ...reads.map(({ found }) => `a card read that brings ${found.kind}`),
    ...steps.map((step) => {
      const error = errorOf(step);
      return error instanceof LeaseUnverifiableError && error.retryAfterMs !== undefined && "a closed gate";
    }),
  ];
  return new Set(sights.filter((sight): sight is string => typeof sight === "string"));
}
