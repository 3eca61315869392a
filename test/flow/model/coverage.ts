import { CardDriftError, LeaseUnverifiableError } from "a2a-lease";
import { cardReadsOf, judge } from "./card-reads.ts";
import { exits } from "./kinds.ts";
import { endOf, errorOf, isAborted, type RunRecord } from "./record.ts";
import { surprisesOf } from "./surprises.ts";

/** What many runs have to come across, so that scripts which never meet what they are about don't pass for a test. */
export const wantedSights: readonly string[] = [
  ...["same", "drift", "no-telling"].map((verdict) => `a surprise: ${verdict}`),
  ...[-32602, -32601, -32003, -32004, -32005, -32006, -32007, -32008, -32009, -32001].map(String),
  ...["HTTP 401", "HTTP 403", "HTTP 404", "HTTP 200 text/html", "HTTP 502 text/html", "401"],
  ...["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED", "TASK_STATE_REJECTED", "a state unheard of"],
  ...["no event stream", "a silent stream"],
  ...["a forced read that is shared", "a forced read that was queued", "a closed gate", "a withdrawn card"],
  ...["a drift of the plan", "a drift of a handle", "an exit after a drift", "a call after a drift"],
  ...["a message that is sent again", "an abort", "a stream that is left while it is read", "a new pin"],
];

/** What a run came across. */
export function sightsOf(record: RunRecord): ReadonlySet<string> {
  const { steps, exchanges, settings } = record;
  const sights = new Set<string>();
  const note = (sight: string, isSeen: boolean) => void (isSeen && sights.add(sight));
  const reads = cardReadsOf(record);
  const surprises = surprisesOf(record);
  for (const { step, label, at, until } of surprises) {
    note(label, true);
    const read = reads.find(({ isFull, from }) => isFull && from > at && from < until);
    if (read && step.pin) note(`a surprise: ${judge(read, step.pin, settings.compare)}`, true);
  }
  for (const [index, read] of reads.entries()) {
    if (!read.isFull) continue;
    const waiting = surprises.filter(({ at, until }) => at < read.from && read.from < until);
    const before = reads[index - 1]?.until ?? 0;
    note("a forced read that is shared", waiting.length > 1);
    note(
      "a forced read that was queued",
      waiting.some(({ at }) => at < before),
    );
    note("a withdrawn card", read.found.kind === "withdrawn");
  }
  for (const step of steps) {
    const error = errorOf(step);
    const isDrift = error instanceof CardDriftError;
    const isAfter = steps.some(
      (other) =>
        errorOf(other) instanceof CardDriftError &&
        other.holder === step.holder &&
        endOf(other) < step.startedAt,
    );
    note("a drift of the plan", isDrift && error.taskId === undefined);
    note("a drift of a handle", isDrift && error.taskId !== undefined);
    note(exits.has(step.kind) ? "an exit after a drift" : "a call after a drift", isAfter);
    note("a closed gate", error instanceof LeaseUnverifiableError && error.retryAfterMs !== undefined);
    note("an abort", isAborted(step));
    note("a stream that is left while it is read", step.leftAt !== undefined);
    note("a new pin", step.kind === "repin" && step.settled?.isOk === true);
  }
  const ids = exchanges.flatMap((item) => (item.kind === "call" ? (item.messageId ?? []) : []));
  note("a message that is sent again", new Set(ids).size < ids.length);
  return sights;
}
