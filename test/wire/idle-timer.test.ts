import { expect, test } from "vitest";
import { createIdleTimer } from "../../src/wire/idle-timer.ts";
import { createFakeClock } from "./fake-clock.ts";

function watch(idleMs = 100) {
  const clock = createFakeClock();
  let fired = 0;
  const timer = createIdleTimer(clock, idleMs, () => fired++);
  return { clock, timer, fired: () => fired };
}

test("a wait that lasts as long as the budget is silence", () => {
  const { clock, timer, fired } = watch();
  timer.start();
  clock.advance(99);
  expect(fired()).toBe(0);
  clock.advance(1);
  expect({ fired: fired(), timers: clock.timers }).toEqual({ fired: 1, timers: 0 });
});

test("time counts only while somebody waits", () => {
  const { clock, timer, fired } = watch();
  timer.start();
  clock.advance(60);
  timer.stop();
  clock.advance(10_000);
  timer.start();
  clock.advance(99);
  expect(fired()).toBe(0);
  clock.advance(1);
  expect(fired()).toBe(1);
});

test("many waits share one timer", () => {
  const { clock, timer, fired } = watch();
  for (let wait = 0; wait < 1000; wait++) {
    timer.start();
    clock.advance(50);
    timer.stop();
    expect(clock.timers).toBeLessThanOrEqual(1);
  }
  expect(fired()).toBe(0);
});

test("a released watch has no timer and never fires", () => {
  const { clock, timer, fired } = watch();
  timer.start();
  timer.release();
  expect(clock.timers).toBe(0);
  clock.advance(1000);
  expect(fired()).toBe(0);
});

test("an infinite budget sets no timer", () => {
  const { clock, timer } = watch(Number.POSITIVE_INFINITY);
  timer.start();
  expect(clock.timers).toBe(0);
});
