import { checkProbe } from "a2a-lease";
import { createTestCard } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { type Look, readLook } from "../lifecycle/look.ts";

const card = createTestCard();
const claiming = createTestCard({ capabilities: { streaming: true, stateTransitionHistory: true } as never });
const checked = (looks: readonly Look[], of = card) =>
  checkProbe(
    of,
    looks.map((look) => readLook(look).seen),
  );
const failed = (looks: readonly Look[], of = card) =>
  checked(looks, of)
    .filter(({ outcome }) => outcome === "failed")
    .map(({ name }) => name);

describe("what was seen of a probed task", () => {
  const honest = [
    "stream SUBMITTED @1",
    "stream WORKING @2",
    "stream COMPLETED @3",
    "get COMPLETED @3",
    "get COMPLETED @3",
  ];

  test("fails nothing where it kept every rule", () => {
    expect(failed(honest)).toEqual([]);
    expect(checked(honest).find(({ name }) => name === "reaches-terminal")).toMatchObject({
      outcome: "passed",
      evidence: [{ state: "TASK_STATE_COMPLETED", isSnapshot: true }],
    });
  });

  test("is judged as if everything were depended on, with all that led to it as evidence", () => {
    const looks = ["stream WORKING @2", "stream COMPLETED"];
    expect(failed(looks)).toEqual(["timestamp-present"]);
    expect(checked(looks).find(({ name }) => name === "timestamp-present")?.evidence).toMatchObject([
      { state: "TASK_STATE_WORKING" },
      { state: "TASK_STATE_COMPLETED" },
    ]);
  });

  test("is told with each rule that it broke, and goes on after the first one", () => {
    const looks = [
      "stream WORKING",
      "stream ?PAUSED @2",
      "get WORKING @3 task:t2",
      "stream COMPLETED @4",
      "get WORKING @5",
      "stream COMPLETED @6",
    ];
    expect(failed(looks)).toEqual([
      "known-state",
      "terminal-is-final",
      "single-terminal",
      "timestamp-present",
      "identity",
    ]);
  });

  test("that never was is no proof of anything", () => {
    const checks = checked([], claiming);
    expect(checks.filter(({ outcome }) => outcome === "passed")).toEqual([]);
    expect(failed([], claiming)).toEqual(["reaches-terminal"]);
  });

  test("that never ends fails for that alone", () => {
    expect(failed(["stream WORKING @1", "get INPUT_REQUIRED @2 m:ask q:region"])).toEqual([
      "reaches-terminal",
    ]);
  });

  test("names another context once any look has named one", () => {
    expect(
      failed(["stream WORKING @1 ctx:", "stream WORKING @2 ctx:c1", "get COMPLETED @3 ctx:c2"]),
    ).toContain("identity");
  });
});

describe("a history that is claimed", () => {
  const check = (looks: readonly Look[], of = claiming) =>
    checked(looks, of)
      .filter(({ name }) => name === "history-grows" || name === "history-progress")
      .map(({ outcome }) => outcome);

  test.each([
    ["grows", ["get WORKING @1 h:1/u", "get COMPLETED @2 h:2/a"], ["passed", "passed"]],
    ["stands still", ["get WORKING @1 h:1/u", "get COMPLETED @2 h:1/u"], ["failed", "failed"]],
    [
      "was seen at the end alone",
      ["get COMPLETED @2 h:1/u", "get COMPLETED @2 h:1/u"],
      ["passed", "not-run"],
    ],
    ["was never seen whole", ["stream WORKING @1", "stream COMPLETED @2"], ["passed", "not-run"]],
  ])("and %s", (_how, looks, outcomes) => {
    expect(check(looks)).toEqual(outcomes);
  });

  test("is not looked for where nobody claims it", () => {
    expect(check(["get WORKING @1 h:1/u", "get COMPLETED @2 h:1/u"], card)).toEqual(["not-run", "not-run"]);
  });
});
