import { parseTime } from "../util/clock.ts";

/** The longest wait that a server can ask for: one hour, in milliseconds. */
export const longestRetryMs = 3_600_000;

const seconds = /^\d{1,15}$/;
/** How each of the three forms of an HTTP-date begins; other texts are dates to `Date.parse` too, `"-5"` for one. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /i;

/**
 * Reads a `Retry-After` header (RFC 9110 10.2.3) into milliseconds from `nowMs`, at most {@link longestRetryMs}.
 * `undefined` when there is none, when it is no wait that a server may ask for, or when its date has passed.
 */
export function readRetryAfter(value: string | null, nowMs: number): number | undefined {
  const text = value?.trim() ?? "";
  if (seconds.test(text)) return Math.min(Number(text) * 1000, longestRetryMs);
  const atMs = httpDate.test(text) ? parseTime(text) : undefined;
  return atMs === undefined || atMs < nowMs ? undefined : Math.min(atMs - nowMs, longestRetryMs);
}
