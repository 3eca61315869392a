import type { Clock } from "../util/clock.ts";
import { checkOptions } from "../util/options.ts";

/** Settings of a test clock. */
export interface TestClockOptions {
  /** Wall time at the start, in milliseconds since the Unix epoch. @default 2026-01-01T00:00:00Z */
  readonly startMs?: number;
}

/** A clock that stands still until a test moves it. Hand it to the client and to the scripted agent alike. */
export interface TestClock extends Clock {
  /**
   * Moves both clocks on by `ms` and runs every timer that comes due, in order of time (timers that are set meanwhile
   * included). Before the first timer, after each one and at the end it lets promises and I/O callbacks run, so what
   * a timer set off has gone as far as it can without more time. `advance(0)` only does that last part.
   *
   * Over a real socket a round trip needs an unknown number of turns of the event loop: await what you expect instead
   * of trusting that `advance` waited long enough.
   *
   * @throws what a timer callback throws.
   */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock alone, as an operator or NTP would; the monotonic clock and all timers stay. */
  setWall(ms: number): void;
  /** Number of timers that are set and neither ran nor were cancelled. */
  readonly pendingCount: number;
}

interface Timer {
  readonly dueMs: number;
  readonly run: () => void;
}

const defaultStartMs = 1_767_225_600_000;

/** Turns of the event loop that `advance` gives to promises and I/O each time it stops. */
const turnsPerStop = 12;

/**
 * Makes a clock for tests.
 *
 * @throws TypeError when `startMs` is not a finite number, and for an option that is none.
 */
export function createTestClock(options: TestClockOptions = {}): TestClock {
  checkOptions(options, { startMs: "any" });
  const { startMs = defaultStartMs } = options;
  if (!Number.isFinite(startMs)) throw new TypeError(`startMs must be a finite number, found ${startMs}`);
  const timers = new Set<Timer>();
  let elapsedMs = 0;
  let wallAheadMs = startMs;
  let running: Promise<void> = Promise.resolve();

  async function moveTo(targetMs: number): Promise<void> {
    await settle();
    for (let timer = earliest(timers); timer && timer.dueMs <= targetMs; timer = earliest(timers)) {
      timers.delete(timer);
      elapsedMs = Math.max(elapsedMs, timer.dueMs);
      timer.run();
      await settle();
    }
    elapsedMs = targetMs;
    await settle();
  }

  return {
    now: () => wallAheadMs + elapsedMs,
    monotonicMs: () => elapsedMs,
    schedule(delayMs, run) {
      if (Number.isNaN(delayMs)) throw new TypeError("delayMs must be a number, found NaN");
      const timer: Timer = { dueMs: elapsedMs + Math.max(0, delayMs), run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance(ms) {
      if (!Number.isFinite(ms) || ms < 0) {
        return Promise.reject(new TypeError(`ms must be finite and not negative, found ${ms}`));
      }
      // Two advances at once would interleave their timers; the second waits for the first.
      const moved = running.then(() => moveTo(elapsedMs + ms));
      running = moved.catch(() => {});
      return moved;
    },
    setWall(ms) {
      if (!Number.isFinite(ms)) throw new TypeError(`ms must be a finite number, found ${ms}`);
      wallAheadMs = ms - elapsedMs;
    },
    get pendingCount() {
      return timers.size;
    },
  };
}

function earliest(timers: ReadonlySet<Timer>): Timer | undefined {
  let first: Timer | undefined;
  // A Set keeps insertion order, so of two timers for one moment the older one runs first.
  for (const timer of timers) if (!first || timer.dueMs < first.dueMs) first = timer;
  return first;
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < turnsPerStop; turn++) await macrotask();
}

const immediate = (globalThis as { setImmediate?: (run: () => void) => unknown }).setImmediate;

/** One whole turn of the event loop: promises settle and I/O callbacks run, and no timer is involved. */
function macrotask(): Promise<void> {
  return new Promise((resolve) => {
    if (immediate) return void immediate(() => resolve());
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
