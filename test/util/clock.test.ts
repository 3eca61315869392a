import { createTestClock } from "a2a-lease/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import { elapsedMs, isoTime, parseTime, readInstant, systemClock } from "../../src/util/clock.ts";

afterEach(() => void vi.useRealTimers());

describe("elapsed time", () => {
  test("is the larger of the monotonic and the wall difference, and never negative", async () => {
    const clock = createTestClock({ startMs: 1_000_000 });
    const since = readInstant(clock);
    await clock.advance(500);
    expect(elapsedMs(clock, since)).toBe(500);
    clock.setWall(1_000_000 + 9_000);
    expect(elapsedMs(clock, since)).toBe(9_000);
    clock.setWall(0);
    expect(elapsedMs(clock, since)).toBe(500);
    expect(elapsedMs(clock, { wallMs: 5_000_000, monotonicMs: 900 })).toBe(0);
  });
});

describe("the clock of the machine", () => {
  test("waits out a delay that is longer than its timers can be", () => {
    vi.useFakeTimers();
    const run = vi.fn();
    const thirtyDaysMs = 30 * 86_400_000;
    systemClock.schedule(thirtyDaysMs, run);
    vi.advanceTimersByTime(thirtyDaysMs - 1);
    expect(run).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(run).toHaveBeenCalledOnce();
  });

  test("takes a delay back at any time", () => {
    vi.useFakeTimers();
    const run = vi.fn();
    const cancel = systemClock.schedule(30 * 86_400_000, run);
    vi.advanceTimersByTime(26 * 86_400_000);
    cancel();
    vi.advanceTimersByTime(30 * 86_400_000);
    expect([run.mock.calls, vi.getTimerCount()]).toEqual([[], 0]);
  });

  test("runs at once what was due before now", () => {
    vi.useFakeTimers();
    const run = vi.fn();
    systemClock.schedule(-5, run);
    vi.advanceTimersByTime(0);
    expect(run).toHaveBeenCalledOnce();
  });
});

test("a time is written by RFC 3339 and read from that and from HTTP dates", () => {
  const atMs = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
  expect(isoTime(atMs)).toBe("2026-01-02T03:04:05.006Z");
  expect(["2026-01-02T03:04:05.006Z", "Fri, 02 Jan 2026 03:04:05 GMT", "never"].map(parseTime)).toEqual([
    atMs,
    atMs - 6,
    undefined,
  ]);
});

test("what is no time is a TypeError", () => {
  for (const wallMs of [Number.NaN, Number.POSITIVE_INFINITY, 9e15]) {
    expect(() => isoTime(wallMs)).toThrow(
      new TypeError(`found the time ${wallMs}, wanted milliseconds since the Unix epoch`),
    );
  }
});
