import { A2ALeaseError } from "../errors/base.ts";
import { CardUnreachableError } from "../errors/card.ts";
import { lastingAdvice } from "../errors/lasting.ts";
import { InternalError, TaskNotFoundError } from "../errors/protocol.ts";
import { StreamInterruptedError, StreamStalledError } from "../errors/stream.ts";
import { ConnectionError, GatewayError, HttpStatusError, TimeoutError } from "../errors/transport.ts";

/** Statuses after which a read may be tried again. */
const transientStatuses: readonly number[] = [408, 425, 429, 500, 502, 503, 504];

/** Whether a read that failed so may well go better a little later. */
export function isTransient(error: unknown): boolean {
  if (lastingAdvice(error) !== undefined) return false;
  if (error instanceof CardUnreachableError) {
    if (error.retry === "never") return false;
    return error.status === undefined || transientStatuses.includes(error.status);
  }
  if (error instanceof HttpStatusError || error instanceof GatewayError) {
    return transientStatuses.includes(error.status);
  }
  const passing = [ConnectionError, TimeoutError, StreamInterruptedError, StreamStalledError, InternalError];
  return passing.some((type) => error instanceof type) && !(error instanceof TaskNotFoundError);
}

/** Waits between two streams: the cap of the first, and of the longest. */
export const streamBackoff = Object.freeze({ firstMs: 500, longestMs: 15_000 });
/** The first wait between two polls, in milliseconds. */
export const firstPollMs = 1_000;
/** The longest wait between two polls, in milliseconds. */
export const longestPollMs = 30_000;

/** The shortest wait that a server's `retry:` leads to, so that a server of 0 is no tight loop. */
const shortestRetryMs = 100;

/**
 * How long to wait before the next try, in milliseconds: full jitter under a growing cap, or what the server's `retry:`
 * said in place of that; and never less than a `Retry-After` asked for.
 */
export function backoffMs(
  attempt: number,
  details: {
    readonly firstMs: number;
    readonly longestMs: number;
    readonly random: () => number;
    readonly error?: unknown;
    readonly retryMs?: number | undefined;
  },
): number {
  const { firstMs, longestMs, random, error, retryMs } = details;
  const cap = Math.min(longestMs, firstMs * 2 ** attempt);
  const asked = error instanceof A2ALeaseError ? (error.retryAfterMs ?? 0) : 0;
  const ownMs = retryMs === undefined ? random() * cap : Math.max(retryMs, shortestRetryMs);
  return Math.max(ownMs, asked);
}
