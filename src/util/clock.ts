/** Where the library takes time from. Every wait and every age goes through it, so that a test can own time. */
export interface Clock {
  /** Wall time in milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds on a clock that never goes backwards; only differences mean something. */
  monotonicMs(): number;
  /** Calls `run` once after `delayMs`; the returned function cancels it. */
  schedule(delayMs: number, run: () => void): () => void;
}

/** One instant read off both clocks; what an age is measured from. */
export interface Instant {
  /** Wall time in milliseconds since the Unix epoch. */
  readonly wallMs: number;
  /** Reading of the monotonic clock in milliseconds. */
  readonly monotonicMs: number;
}

/** The longest delay that `setTimeout` takes; it fires at once for a longer one, which is waited for in steps. */
const longestDelayMs = 2 ** 31 - 1;

/** The clock of the machine: `Date`, `performance` and `setTimeout`. */
export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  schedule(delayMs: number, run: () => void) {
    let timer: ReturnType<typeof setTimeout>;
    const wait = (leftMs: number) => {
      const stepMs = Math.min(leftMs, longestDelayMs);
      timer = setTimeout(() => (stepMs < leftMs ? wait(leftMs - stepMs) : run()), stepMs);
    };
    wait(Math.max(0, delayMs));
    return () => clearTimeout(timer);
  },
});

/** Reads both clocks at once. */
export function readInstant(clock: Clock): Instant {
  return Object.freeze({ wallMs: clock.now(), monotonicMs: clock.monotonicMs() });
}

/**
 * Milliseconds since `since`: the larger of the monotonic and the wall difference, so that neither a machine that
 * slept nor a wall clock that was set back makes something look younger than it is.
 */
export function elapsedMs(clock: Clock, since: Instant): number {
  return Math.max(clock.monotonicMs() - since.monotonicMs, clock.now() - since.wallMs, 0);
}

/**
 * RFC 3339 text of a wall time, in UTC with milliseconds.
 *
 * @throws TypeError for what is no time.
 */
export function isoTime(wallMs: number): string {
  const date = new Date(wallMs);
  if (Number.isNaN(date.getTime())) {
    throw new TypeError(`found the time ${wallMs}, wanted milliseconds since the Unix epoch`);
  }
  return date.toISOString();
}

/** A wall time as what other packages want it to be. */
export function dateOf(wallMs: number): Date {
  return new Date(wallMs);
}

/** Wall time of an RFC 3339 or HTTP date text, or `undefined` when it is none. */
export function parseTime(text: string): number | undefined {
  const wallMs = Date.parse(text);
  return Number.isNaN(wallMs) ? undefined : wallMs;
}

/** The difference of two RFC 3339 texts in milliseconds; `undefined` where one is missing or unreadable. */
export function timeDifference(a: string | undefined, b: string | undefined): number | undefined {
  const first = a === undefined ? undefined : parseTime(a);
  const second = b === undefined ? undefined : parseTime(b);
  return first === undefined || second === undefined ? undefined : first - second;
}
