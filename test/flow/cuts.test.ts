import { createTestClock, type TestClock } from "a2a-lease/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { life } from "./followed.ts";
import { type Sweep, setUpSweep } from "./sweep.ts";

// Hundreds of tasks over real sockets.
vi.setConfig({ testTimeout: 120_000 });

let sweep: Sweep;

afterEach(async () => {
  await vi.waitUntil(() => sweep.rig.agent.openRequestCount === 0);
  await sweep.rig.close();
});

describe("a follower is told all of a task, once and in order", () => {
  beforeEach(async () => {
    sweep = await setUpSweep();
  });

  test("by a stream that nothing happens to", () => {
    expect(sweep.whole.worth.kinds).toEqual([
      ...["snapshot", "status", "artifact", "artifact", "artifact"],
      ...["message", "status", "artifact", "artifact", "status"],
    ]);
    expect(sweep.whole.worth.kinds).toHaveLength(life.length + 1);
    sweep.judge(sweep.whole, "told");
  });

  test.each([
    ["end", "at-once"],
    ["end", "between"],
    ["close", "told"],
    ["close", "at-once"],
    ["close", "between"],
    ["reset", "told"],
    ["reset", "between"],
  ] as const)("by a cut of the kind %s at the pace %s", async (how, pace) => {
    await sweep.run(
      sweep.places(47).map((cutAfterBytes) => [{ cutAfterBytes, how }]),
      pace,
    );
  });

  test.each(["\r\n", "\r"] as const)("with lines that end in %j", async (lineEnd) => {
    const cuts = sweep.places(47).map((cutAfterBytes) => [{ lineEnd, cutAfterBytes }]);
    await sweep.run([[{ lineEnd }], ...cuts], "told");
  });

  test.each(["\n", "\r\n", "\r"] as const)("by single bytes, lines ending in %j", async (lineEnd) => {
    const cuts = sweep.places(301).map((cutAfterBytes) => [{ lineEnd, chunkBytes: 1, cutAfterBytes }]);
    await sweep.run([[{ lineEnd, chunkBytes: 1 }], ...cuts], "told");
  });

  test.each(["told", "at-once", "between"] as const)(
    "by streams that are cut one after another, the artifact growing, at the pace %s",
    async (pace) => {
      const cuts = sweep.places(151).flatMap((first) =>
        [0, 150, 420].map((second, at) => [
          { cutAfterBytes: first, how: (["end", "close", "reset"] as const)[at % 3] ?? "end" },
          { cutAfterBytes: second, how: (["reset", "end", "close"] as const)[at % 3] ?? "end" },
        ]),
      );
      await sweep.run(cuts, pace);
    },
  );
});

describe("with time that passes", () => {
  let clock: TestClock;

  /** Waits for work that is under way while the clock runs. */
  async function during<T>(work: Promise<T>, stepMs: number): Promise<T> {
    let isOver = false;
    const over = work.finally(() => {
      isOver = true;
    });
    over.catch(() => {});
    while (!isOver) await clock.advance(stepMs);
    return over;
  }

  beforeEach(async () => {
    clock = createTestClock();
    sweep = await setUpSweep(clock);
  });

  test.each(["told", "at-once"] as const)(
    "a stream may stall for a second again and again, at the pace %s",
    async (pace) => {
      const stalled = { stallEveryBytes: 40, stallMs: 1_000 };
      const startMs = clock.monotonicMs();
      sweep.judge(await during(sweep.rig.follow([{ ...stalled }], pace), 250), pace);
      sweep.judge(
        await during(sweep.rig.follow([{ ...stalled, cutAfterBytes: 700 }, stalled], pace), 250),
        pace,
      );
      expect(clock.monotonicMs() - startMs).toBeGreaterThan(40_000);
    },
  );

  test("an hour of heartbeats keeps one stream alive", async () => {
    const following = sweep.rig.follow([{ heartbeatMs: 15_000 }], "held");
    for (let beats = 0; beats < 240; beats++) await clock.advance(15_000);
    sweep.rig.goOn();
    const followed = await during(following, 0);
    sweep.judge(followed, "at-once");
    expect(followed.streams).toBe(1);
  });
});
