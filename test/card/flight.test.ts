import { describe, expect, test } from "vitest";
import { createFlights, type FlightKind } from "../../src/card/flight.ts";
import { rejectionOf } from "./cards.ts";

/** Flights whose reads a test lands by hand. */
function createAirport() {
  const reads: {
    kind: FlightKind;
    signal: AbortSignal;
    land: (cargo: string) => void;
    crash: (error: unknown) => void;
  }[] = [];
  const join = createFlights<string>((kind, signal) => {
    return new Promise<string>((land, crash) => {
      reads.push({ kind, signal, land, crash });
      signal.addEventListener("abort", () => crash(signal.reason));
    });
  });
  return { join, reads };
}

const turns = async () => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};

describe("ordinary callers", () => {
  test("a thousand in one tick share one read", async () => {
    const { join, reads } = createAirport();
    const results = Promise.all(Array.from({ length: 1_000 }, () => join("ordinary", undefined)));
    await turns();
    expect(reads.map(({ kind }) => kind)).toEqual(["ordinary"]);
    reads[0]?.land("a");
    expect(new Set(await results)).toEqual(new Set(["a"]));
  });

  test("join the read in flight, also a forced one, and start the next when it has landed", async () => {
    const { join, reads } = createAirport();
    const first = join("forced", undefined);
    await turns();
    const second = join("ordinary", undefined);
    reads[0]?.land("a");
    expect(await Promise.all([first, second])).toEqual(["a", "a"]);
    const third = join("ordinary", undefined);
    await turns();
    reads[1]?.land("b");
    expect([await third, reads.map(({ kind }) => kind)]).toEqual(["b", ["forced", "ordinary"]]);
  });

  test("all see it fail, and the next one reads anew", async () => {
    const { join, reads } = createAirport();
    const both = [join("ordinary", undefined), join("ordinary", undefined)].map(rejectionOf);
    await turns();
    reads[0]?.crash("broken");
    expect(await Promise.all(both)).toEqual(["broken", "broken"]);
    const next = join("ordinary", undefined);
    await turns();
    reads[1]?.land("b");
    expect(await next).toBe("b");
  });
});

describe("forced callers", () => {
  test("of one tick share one read", async () => {
    const { join, reads } = createAirport();
    const both = Promise.all([join("forced", undefined), join("forced", undefined)]);
    await turns();
    expect(reads.map(({ kind }) => kind)).toEqual(["forced"]);
    reads[0]?.land("a");
    expect(await both).toEqual(["a", "a"]);
  });

  test("never share a read that had begun, so one is in flight, one is queued, and no more", async () => {
    const { join, reads } = createAirport();
    const first = join("ordinary", undefined);
    await turns();
    const second = join("forced", undefined);
    const third = join("forced", undefined);
    await turns();
    expect(reads).toHaveLength(1);
    reads[0]?.land("a");
    await turns();
    const fourth = join("forced", undefined);
    await turns();
    expect(reads).toHaveLength(2);
    reads[1]?.land("b");
    await turns();
    reads[2]?.land("c");
    expect(await Promise.all([first, second, third, fourth])).toEqual(["a", "b", "b", "c"]);
    expect(reads.map(({ kind }) => kind)).toEqual(["ordinary", "forced", "forced"]);
  });

  test("read also after one in flight failed", async () => {
    const { join, reads } = createAirport();
    const first = rejectionOf(join("ordinary", undefined));
    await turns();
    const second = join("forced", undefined);
    reads[0]?.crash("broken");
    await turns();
    reads[1]?.land("b");
    expect([await first, await second]).toEqual(["broken", "b"]);
  });

  test("in the tick of an ordinary one still get a full read", async () => {
    const { join, reads } = createAirport();
    const both = Promise.all([join("ordinary", undefined), join("forced", undefined)]);
    await turns();
    reads[0]?.land("a");
    await turns();
    reads[1]?.land("b");
    expect([await both, reads.map(({ kind }) => kind)]).toEqual([
      ["a", "b"],
      ["ordinary", "forced"],
    ]);
  });
});

describe("a caller who leaves", () => {
  test("gets its own reason and takes nobody along", async () => {
    const { join, reads } = createAirport();
    const controller = new AbortController();
    const leaver = rejectionOf(join("ordinary", controller.signal));
    const stayer = join("ordinary", new AbortController().signal);
    await turns();
    controller.abort("left");
    expect([await leaver, reads[0]?.signal.aborted]).toEqual(["left", false]);
    reads[0]?.land("a");
    expect(await stayer).toBe("a");
  });

  test("as the last one aborts the read, and the next caller starts another", async () => {
    const { join, reads } = createAirport();
    const controllers = [new AbortController(), new AbortController()];
    const leavers = controllers.map(({ signal }) => rejectionOf(join("ordinary", signal)));
    await turns();
    controllers[0]?.abort("first");
    controllers[1]?.abort("second");
    expect([await Promise.all(leavers), reads[0]?.signal.reason]).toEqual([["first", "second"], "second"]);
    const next = join("ordinary", undefined);
    await turns();
    reads[1]?.land("b");
    expect(await next).toBe("b");
  });

  test("before its queued read began never has it made", async () => {
    const { join, reads } = createAirport();
    const controller = new AbortController();
    const first = join("ordinary", undefined);
    await turns();
    const leaver = rejectionOf(join("forced", controller.signal));
    controller.abort("left");
    const later = join("forced", undefined);
    reads[0]?.land("a");
    await turns();
    reads[1]?.land("b");
    expect([await leaver, await first, await later, reads.length]).toEqual(["left", "a", "b", 2]);
  });

  test("had left before it came", async () => {
    const { join, reads } = createAirport();
    expect(await rejectionOf(join("ordinary", AbortSignal.abort("before")))).toBe("before");
    await turns();
    expect(reads).toEqual([]);
  });

  test("after its read has landed leaves nothing behind", async () => {
    const { join, reads } = createAirport();
    const controller = new AbortController();
    const first = join("ordinary", controller.signal);
    await turns();
    reads[0]?.land("a");
    expect(await first).toBe("a");
    await turns();
    controller.abort("late");
    expect(reads[0]?.signal.aborted).toBe(false);
  });
});
