import { expect, test } from "vitest";
import { createTestClock } from "../../src/testing.ts";

test("time stands still until it is moved, and then both clocks move alike", async () => {
  const clock = createTestClock({ startMs: 1000 });
  const before = [clock.now(), clock.monotonicMs()];
  await clock.advance(250);
  expect([before, clock.now(), clock.monotonicMs()]).toEqual([[1000, 0], 1250, 250]);
});

test("timers run in order of time, older ones first, with the clock at their own moment", async () => {
  const clock = createTestClock({ startMs: 0 });
  const ran: string[] = [];
  clock.schedule(30, () => ran.push(`c at ${clock.now()}`));
  clock.schedule(10, () => ran.push(`a at ${clock.now()}`));
  clock.schedule(10, () => ran.push(`b at ${clock.now()}`));
  clock.schedule(31, () => ran.push("too early"));
  await clock.advance(30);
  expect(ran).toEqual(["a at 10", "b at 10", "c at 30"]);
});

test("a timer that a timer's promise sets runs in the same advance when it comes due", async () => {
  const clock = createTestClock({ startMs: 0 });
  const ran: number[] = [];
  const again = async () => {
    await Promise.resolve();
    ran.push(clock.now());
    clock.schedule(10, again);
  };
  clock.schedule(10, again);
  await clock.advance(35);
  expect([ran, clock.pendingCount]).toEqual([[10, 20, 30], 1]);
});

test("what was set just before an advance through a promise is seen by it", async () => {
  const clock = createTestClock();
  let hasRun = false;
  Promise.resolve().then(() => clock.schedule(5, () => (hasRun = true)));
  await clock.advance(5);
  expect(hasRun).toBe(true);
});

test("a cancelled timer neither runs nor counts", async () => {
  const clock = createTestClock();
  let hasRun = false;
  const cancel = clock.schedule(10, () => {
    hasRun = true;
  });
  cancel();
  await clock.advance(10);
  expect([hasRun, clock.pendingCount]).toEqual([false, 0]);
});

test("setting the wall clock moves neither the monotonic clock nor the timers", async () => {
  const clock = createTestClock({ startMs: 5000 });
  let ranAt = 0;
  clock.schedule(100, () => {
    ranAt = clock.monotonicMs();
  });
  clock.setWall(9000);
  await clock.advance(100);
  expect([ranAt, clock.now(), clock.monotonicMs()]).toEqual([100, 9100, 100]);
});

test("two advances at once happen one after the other", async () => {
  const clock = createTestClock({ startMs: 0 });
  const ran: number[] = [];
  for (const delayMs of [5, 15]) clock.schedule(delayMs, () => ran.push(clock.now()));
  await Promise.all([clock.advance(10), clock.advance(10)]);
  expect([ran, clock.now()]).toEqual([[5, 15], 20]);
});

test("what a timer throws comes out of the advance, and the clock goes on working", async () => {
  const clock = createTestClock({ startMs: 0 });
  clock.schedule(1, () => {
    throw new RangeError("mine");
  });
  await expect(clock.advance(5)).rejects.toThrow("mine");
  await clock.advance(5);
  expect(clock.now()).toBe(6);
});

test("times that can't be are refused by name", async () => {
  expect(() => createTestClock({ startMs: Number.NaN })).toThrow(/^startMs /);
  const clock = createTestClock();
  await expect(clock.advance(-1)).rejects.toThrow(/^ms /);
  expect(() => clock.setWall(Number.POSITIVE_INFINITY)).toThrow(/^ms /);
});
