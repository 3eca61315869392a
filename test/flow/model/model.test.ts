import fc from "fast-check";
import { afterAll, beforeAll, test } from "vitest";
import { sightsOf } from "./coverage.ts";
import { scripts, worldSettings } from "./script.ts";
import { World } from "./world.ts";

const runs = Number(process.env.FC_RUNS ?? 1_000);
const seed = Number(process.env.FC_SEED ?? Math.floor(Math.random() * 2 ** 31));

const seen = new Map<string, number>();
const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);
beforeAll(() => {
  process.on("unhandledRejection", note);
});
afterAll(() => {
  process.off("unhandledRejection", note);
});

test(`whatever agent and caller do, the card is asked first (FC_SEED=${seed} FC_RUNS=${runs})`, async () => {
  await fc.assert(
    fc.asyncProperty(worldSettings, scripts(24), async (settings, script) => {
      unhandled.length = 0;
      const world = new World(settings, unhandled);
      await world.open();
      await fc.asyncModelRun(() => ({ model: world, real: world }), script);
      await world.finish();
      for (const sight of sightsOf(world.record)) seen.set(sight, (seen.get(sight) ?? 0) + 1);
    }),
    { seed, numRuns: runs },
  );
  if (process.env.FC_SIGHTS)
    console.log(
      [...seen]
        .sort()
        .map(([sight, count]) => `${count}\t${sight}`)
        .join("\n"),
    );
}, 600_000);
