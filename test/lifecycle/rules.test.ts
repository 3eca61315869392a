import { describe, expect, test } from "vitest";
import { observe } from "../../src/lifecycle/observe.ts";
import { brokenBy, judgeAll, judgeNext, trusted } from "./look.ts";
import { type JudgedRule, type RuleTraces, traces } from "./traces.ts";
import { wireTraces } from "./wire-traces.ts";

const rows = Object.entries(traces) as [JudgedRule, RuleTraces][];

describe.each(rows)("the rule %s", (rule, { breaking, legal, setting }) => {
  test.each(Object.entries(breaking))("is broken by %s, and by nothing less", (_what, looks) => {
    expect(brokenBy(looks, setting)).toEqual([rule]);
    expect(judgeAll(looks, setting).judgements.at(-1)?.outcome).toBe("broken");
    for (const left of looks.keys()) {
      expect(brokenBy(looks.toSpliced(left, 1), setting)).not.toContain(rule);
    }
  });

  test("is kept by all that only looks like breaking it", () => {
    const { judgements } = judgeAll(legal, setting);
    expect(judgements.filter(({ outcome, rules }) => outcome === "broken" || rules.length > 0)).toEqual([]);
  });

  test.each(Object.entries(breaking))("tells with %s what was seen, last what broke it", (_what, looks) => {
    const before = judgeAll(looks.slice(0, -1), setting).memory;
    const { verdict, seen } = judgeNext(before, looks.at(-1) ?? "", setting);
    expect(verdict).toMatchObject({
      outcome: "broken",
      rule,
      message: expect.stringMatching(/^found .*, wanted /),
      observations: [...before.observations, seen],
    });
  });
});

test("a step that a stream had told before is no excuse for a history that stands still", () => {
  const looks = [
    "get WORKING @1 h:2/a",
    "stream INPUT_REQUIRED @2 m:ask q:region",
    "get INPUT_REQUIRED @2 m:ask q:region h:2/a",
  ];
  expect(brokenBy(looks, trusted)).toEqual(["history-progress"]);
});

const depending: readonly JudgedRule[] = ["timestamp-present", "timestamp-monotonic", "history-progress"];

test.each(depending)("%s is a deviation, and no more, where nothing was earned", (rule) => {
  for (const looks of Object.values(traces[rule].breaking)) {
    const { judgements } = judgeAll(looks, { claimsHistory: true });
    expect(judgements.filter(({ outcome }) => outcome === "broken")).toEqual([]);
    expect(judgements.flatMap(({ rules }) => rules)).toContain(rule);
  }
});

test("history that nobody claims is held against nobody", () => {
  for (const looks of Object.values(traces["history-progress"].breaking)) {
    expect(brokenBy(looks, { trustsTimestamps: true })).toEqual([]);
  }
});

test("what breaks the end of a task, or belongs to another one, changes nothing of what is known", () => {
  for (const rule of ["terminal-is-final", "single-terminal", "identity", "answered"] as const) {
    for (const looks of Object.values(traces[rule].breaking)) {
      const before = judgeAll(looks.slice(0, -1)).memory;
      expect(judgeAll(looks).memory).toEqual(before);
    }
  }
});

test("every rule has traces that break it and one that does not", () => {
  const found = { ...traces, ...wireTraces };
  // The compiler knows that no rule is left out: both tables are records over the names of the rules.
  expect(Object.keys(found).length).toBe(11);
  for (const { breaking, legal } of Object.values(found)) {
    expect(Object.keys(breaking).length).toBeGreaterThan(0);
    expect(legal.length).toBeGreaterThan(1);
  }
});

test("what is remembered of a look is short, however long what was sent is", () => {
  const long = "x".repeat(1_000_000);
  const status = { state: "unknown", raw: long, timestamp: long } as const;
  const seen = observe({ id: "t", status }, { source: "get", seenAt: "", isFullHistory: false });

  expect(JSON.stringify(seen).length).toBeLessThan(1_000);
  expect(seen.raw).toBe(`${"x".repeat(256)}… (999744 more)`);
});
