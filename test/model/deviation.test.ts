import { expect, test } from "vitest";
import { addDeviations, type Deviation } from "../../src/model/deviation.ts";
import { describeValue } from "../../src/model/issues.ts";
import { operationFacts } from "../../src/model/operations.ts";

const deviation = (kind: string, path?: string): Deviation => ({
  kind,
  message: "m",
  ...(path === undefined ? {} : { path }),
});

test("deviations are kept once each, the first ones first", () => {
  const known = [deviation("a")];
  const all = addDeviations(known, [deviation("b"), deviation("a"), deviation("b"), deviation("b", "$.x")]);
  expect([all, Object.isFrozen(all)]).toEqual([
    [deviation("a"), deviation("b"), deviation("b", "$.x")],
    true,
  ]);
});

test("a list that gets nothing new is the same list", () => {
  const known = [deviation("a")];
  expect(addDeviations(known, [deviation("a")])).toBe(known);
});

test("a hundred deviations are kept at most, in time in proportion to what came", () => {
  const many = Array.from({ length: 50_000 }, (_, index) => deviation(`${index}`));
  const kept = addDeviations([], many);
  expect(kept).toEqual(many.slice(0, 100));
  expect(addDeviations(kept, many)).toBe(kept);
});

test.each([
  [undefined, "nothing"],
  [null, "null"],
  [[1, 2], "an array of 2"],
  [{}, "an object"],
  ["a", 'string "a"'],
  [1, "number 1"],
  [true, "boolean true"],
  ["x".repeat(100), `string "${"x".repeat(79)}… (22 more)`],
])("a value in a message: %#", (value, text) => {
  expect(describeValue(value)).toBe(text);
});

test("leaving an agent is never checked, and only sends are said once: what is created has an id of ours", () => {
  const names = Object.entries(operationFacts);
  expect(names.filter(([, facts]) => facts.check === "none").map(([name]) => name)).toEqual([
    "CancelTask",
    "DeleteTaskPushNotificationConfig",
    "GetExtendedAgentCard",
  ]);
  expect(names.filter(([, facts]) => !facts.repeatable).map(([name]) => name)).toEqual([
    "SendMessage",
    "SendStreamingMessage",
  ]);
});
