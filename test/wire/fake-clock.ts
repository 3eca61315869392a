import type { Clock } from "../../src/util/clock.ts";

/** A clock that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /** Moves both clocks on and runs what falls due, in order. */
  advance(ms: number): void;
  /** How many timers are set. */
  readonly timers: number;
}

/** Makes a clock that starts on 2026-01-01T00:00:00Z. */
export function createFakeClock(): FakeClock {
  const startMs = Date.UTC(2026, 0, 1);
  let elapsedMs = 0;
  const timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  return {
    now: () => startMs + elapsedMs,
    monotonicMs: () => elapsedMs,
    schedule(delayMs, run) {
      const timer = { atMs: elapsedMs + delayMs, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      const untilMs = elapsedMs + ms;
      for (;;) {
        const [next] = [...timers].filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs);
        if (!next) break;
        timers.delete(next);
        elapsedMs = Math.max(elapsedMs, next.atMs);
        next.run();
      }
      elapsedMs = untilMs;
    },
    get timers() {
      return timers.size;
    },
  };
}
