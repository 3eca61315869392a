/**
 * Why a call that failed was not tried again: every attempt was used up (`"attempts"`); the origin's budget of
 * repetitions is spent (`"budget"`); the next attempt would come after the call's deadline (`"deadline"`); a repetition
 * could do the work twice (`"not-repeatable"`); or the failure is none that passes (`"definite"`).
 */
export type RetryRefusal = "attempts" | "budget" | "deadline" | "not-repeatable" | "definite";

/** How often a call that failed was tried, and why not once more. */
export interface RetryReport {
  /** Attempts in all, the first one included. */
  readonly attemptCount: number;
  /** Why there was no other. */
  readonly refused: RetryRefusal;
}

/** How calls that may be repeated are tried again. */
export interface RetryOptions {
  /** Most attempts of one call, the first one included. @default 3 */
  readonly maxAttempts?: number;
  /** Most that the first wait is, in milliseconds; each later one may be twice as long. The wait is random. @default 250 */
  readonly firstMs?: number;
  /** Most that any wait is, in milliseconds, where the server asks for no longer one. @default 5 000 */
  readonly longestMs?: number;
  /**
   * Repetitions that may be outstanding at one origin; ten successes there give one back. All clients that go to the
   * network by the same `fetch` share it, so that an outage is not amplified. @default 10
   */
  readonly budget?: number;
}
