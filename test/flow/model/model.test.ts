import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sightsOf, wantedSights } from "./coverage.ts";
import { scripts, worldSettings } from "./script.ts";
import { World } from "./world.ts";

const runs = Number(process.env.FC_RUNS ?? 1_000);
/** The same stories each time, so that a green tree stays green; another seed explores. */
const seed = Number(process.env.FC_SEED ?? 11);

/** From how many runs on everything that matters must have been met, with next to no luck. */
const enough = 1_000;
/** A script has half as many lines on average. */
const mostLines = 24;

const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);
beforeAll(() => {
  process.on("unhandledRejection", note);
});
afterAll(() => {
  process.off("unhandledRejection", note);
});

test(`whatever agent and caller do, the card is asked first (FC_SEED=${seed} FC_RUNS=${runs})`, async () => {
  const sights = new Set<string>();
  const run = fc.asyncProperty(worldSettings, scripts(mostLines), async (settings, script) => {
    unhandled.length = 0;
    const world = new World(settings, unhandled);
    await world.open();
    await fc.asyncModelRun(() => ({ model: world, real: world }), script);
    await world.finish();
    for (const sight of sightsOf(world.record)) sights.add(sight);
  });

  await fc.assert(run, { seed, numRuns: runs });

  if (runs >= enough) expect(wantedSights.filter((sight) => !sights.has(sight))).toEqual([]);
}, 600_000);
