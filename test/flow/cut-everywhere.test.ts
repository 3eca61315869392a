import { expect, test } from "vitest";
import type { Fault } from "./fault-proxy.ts";
import { setUpSweep } from "./sweep.ts";

// Thousands of tasks over real sockets. Each byte gets one kind of cut here; `CUTS=all` gives each byte every kind, at
// every pace.
const isFull = process.env.CUTS === "all";
const timeout = isFull ? 3_600_000 : 900_000;
const kinds = ["end", "reset"] as const;

test("a follower is told all of a task, once and in order, whatever byte its stream is cut at", {
  timeout,
}, async () => {
  const sweep = await setUpSweep();
  const cut = (cutAfterBytes: number, how: Fault["how"] = "end") => [{ cutAfterBytes, how }];
  if (isFull) {
    for (const pace of ["told", "at-once", "between"] as const) {
      for (const how of kinds) {
        const faults = sweep.places().map((at) => cut(at, how));
        await sweep.run(faults, pace);
      }
    }
  } else {
    const faults = sweep.places().map((at) => cut(at, kinds[at % 2]));
    await sweep.run(faults, "told");
  }

  // A cut within the last event's blank line comes when the follower has gone already.
  expect(sweep.rig.proxy.cutCount).toBeGreaterThan(sweep.size - 5);
  await sweep.rig.close();
});
