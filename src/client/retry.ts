import pRetry from "p-retry";
import { A2ALeaseError, noteRetries } from "../errors/base.ts";
import type { RetryEvent } from "../model/client-events.ts";
import type { RetryOptions, RetryRefusal } from "../model/retry.ts";
import { sleep } from "../util/abort.ts";
import { type Clock, elapsedMs, type Instant } from "../util/clock.ts";
import { backoffMs } from "./backoff.ts";
import { type RetryBudget, usualBudget } from "./retry-budget.ts";
import { isNeverSent, isPassing } from "./retryable.ts";

/** What is carried out, again where that does no harm. */
export interface RetryJob {
  /** The operation, for who listens. */
  readonly operation: RetryEvent["operation"];
  /** Where it goes; its origin is whose budget is spent. */
  readonly url: string;
  /** Whether saying it twice does no harm. */
  readonly isRepeatable: boolean;
  /** Ends it, waits included. */
  readonly signal: AbortSignal;
  /** When its budget of time began. */
  readonly since: Instant;
  /** That budget, in milliseconds. */
  readonly deadlineMs: number;
}

/** Tries again where that does no harm. */
export interface Retrier {
  /** Carries out one step over the wire, again where that does no harm. Rejects as the last attempt did. */
  <T>(job: RetryJob, attempt: () => Promise<T>): Promise<T>;
  /**
   * Takes one repetition from the budget of a URL's origin, if one is left; also where nothing is tried again. What it
   * returns gives it back.
   */
  take(url: string): (() => void) | undefined;
}

/** What a retrier is made of. */
export interface RetrierParts {
  /** Bounds, or `undefined` where nothing is tried again. */
  readonly options: Required<RetryOptions> | undefined;
  readonly budget: RetryBudget;
  readonly clock: Clock;
  readonly random: () => number;
  /** Told before each repetition. */
  readonly emit: (event: Pick<RetryEvent, "operation" | "code" | "with" | "waitMs">) => void;
}

/** What is done about one failure. */
type Decision = { readonly waitMs: number } | { readonly refused: RetryRefusal };

/**
 * Makes a {@link Retrier}: full jitter, a server's `Retry-After` honoured where the deadline allows it and never cut
 * short, one deadline over all attempts, and a budget for each origin. What may be said twice is tried again after a
 * failure that passes; anything else only when it provably never left.
 */
export function createRetrier({ options, budget, clock, random, emit }: RetrierParts): Retrier {
  function decide(job: RetryJob, error: A2ALeaseError, attemptCount: number): Decision {
    if (!isPassing(error)) return { refused: "definite" };
    if (!job.isRepeatable && !isNeverSent(error)) return { refused: "not-repeatable" };
    if (!options || attemptCount >= options.maxAttempts) return { refused: "attempts" };
    const waitMs = backoffMs(attemptCount - 1, { ...options, random, error });
    if (elapsedMs(clock, job.since) + waitMs >= job.deadlineMs) return { refused: "deadline" };
    if (!budget.take(job.url, options.budget)) return { refused: "budget" };
    return { waitMs };
  }

  const retry = async <T>(job: RetryJob, attempt: () => Promise<T>): Promise<T> => {
    let decision: Decision = { refused: "definite" };
    const { value, thrown } = await pRetry(
      async () => {
        try {
          return { value: await attempt() };
        } catch (error) {
          // A caller's own reason is nothing to look into, and anything else but an error of ours no reason to go on.
          if (job.signal.aborted || !(error instanceof A2ALeaseError)) return { thrown: { error } };
          throw error;
        }
      },
      {
        retries: Number.POSITIVE_INFINITY,
        minTimeout: 0,
        shouldRetry: () => "waitMs" in decision,
        async onFailedAttempt({ error, attemptNumber }) {
          const failure = error as A2ALeaseError;
          decision = decide(job, failure, attemptNumber);
          if ("refused" in decision) return noteRetries(failure, attemptNumber, decision.refused);
          emit({ operation: job.operation, code: failure.code, with: "time", waitMs: decision.waitMs });
          await sleep(clock, decision.waitMs, job.signal);
        },
      },
    );
    if (thrown) throw thrown.error;
    budget.refund(job.url);
    return value as T;
  };
  function take(url: string): (() => void) | undefined {
    return budget.take(url, options?.budget ?? usualBudget) ? () => budget.refund(url, 1) : undefined;
  }
  return Object.assign(retry, { take });
}
