import { describe, expect, test } from "vitest";
import { freshForMs } from "../../src/card/freshness.ts";
import { createCardHistory } from "../../src/card/history.ts";
import { snapshotCard } from "../../src/card/snapshot.ts";
import { baseCard } from "./cards.ts";

const versioned = (version: string) =>
  snapshotCard(new TextEncoder().encode(JSON.stringify(baseCard({ version }))), { maxDepth: 64 });

/** A history of cards that differ by their version alone. */
function historyOf(...versions: readonly string[]) {
  const history = createCardHistory();
  for (const version of versions) history.note(versioned(version));
  return history;
}

describe("a card flaps", () => {
  test.each([
    [["1", "2", "1"], "1", true],
    [["1", "2", "1", "2"], "2", true],
    [["1", "2", "1"], "2", false],
    [["1", "2", "3"], "3", false],
    [["1", "1", "1"], "1", false],
    [[], "1", false],
  ])("after %j at %s: %s", (versions, version, isFlapping) => {
    expect(historyOf(...versions).isFlapping(versioned(version).digest)).toBe(isFlapping);
  });
});

describe("a version is rolled back", () => {
  test.each([
    [["1.0.0", "1.2.0"], "1.1.9", true],
    [["1.0.0", "1.10.0", "1.2.0"], "1.9.0", true],
    [["1.0.0"], "1.0.0", false],
    [["1.0.0"], "1.0.1", false],
    [["2.0.0"], "2.0.0-rc.1", true],
    [["spring"], "1.0.0", false],
    [["1.0.0"], "spring", false],
    [["2"], "1", true],
    [["1-rc1", "1.0.0-a..b", "1.0.0-_", "1++"], "0.1.0", false],
    [["1.0.0"], "0-rc1", false],
    [["1.0.0"], "0.1.0-", false],
    [["1.0.0"], "^0.1.0", false],
  ])("after %j at %s: %s", (versions, version, isRolledBack) => {
    expect(historyOf(...versions).isRolledBack(version)).toBe(isRolledBack);
  });

  test("no longer, once the caller accepted it", () => {
    const history = historyOf("2.0.0");
    history.resetMark("1.0.0");
    expect([history.isRolledBack("1.0.0"), history.isRolledBack("0.9.0")]).toEqual([false, true]);
    history.resetMark("spring");
    expect(history.isRolledBack("0.1.0")).toBe(false);
  });
});

test.each([
  [{ "cache-control": "max-age=60" }, 60_000],
  [{ "cache-control": "max-age=60", age: "20" }, 40_000],
  [{ "cache-control": "max-age=60", age: "90" }, 0],
  [{ "cache-control": "max-age=60, no-store" }, 0],
  [{ "cache-control": "max-age=60, no-cache" }, 0],
  [{ "cache-control": "private, max-age=60, s-maxage=5" }, 60_000],
  [{ "cache-control": "nonsense" }, 0],
  [{}, 0],
])("an answer with %j is fresh for %s ms", (headers, ms) => {
  expect(freshForMs(200, headers, Date.UTC(2026, 0, 1))).toBe(ms);
});
