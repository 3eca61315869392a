import { describe, expect, test } from "vitest";
import { copyJson } from "../../src/util/json-copy.ts";

describe("a copy of plain data", () => {
  test("has the same values, is frozen, and leaves what it was made from alone", () => {
    const given = { a: [1, { b: null }], c: "x", d: undefined, e: -0 };
    const { value, tooDeep, problems } = copyJson(given, 64);
    expect({ value, tooDeep, problems }).toEqual({
      value: { a: [1, { b: null }], c: "x", e: -0 },
      tooDeep: false,
      problems: [],
    });
    const copied = value as typeof given;
    expect([copied, copied.a, copied.a[1]].map(Object.isFrozen)).toEqual([true, true, true]);
    expect([given, given.a, given.a[1]].map(Object.isFrozen)).toEqual([false, false, false]);
  });

  test.each([
    [{ a: [Number.NaN] }, "$.a[0]: found NaN, wanted JSON"],
    [{ a: Number.POSITIVE_INFINITY }, "$.a: found Infinity, wanted JSON"],
    [{ a: 1n }, "$.a: found BigInt, wanted JSON"],
    [{ a: () => 1 }, "$.a: found Function, wanted JSON"],
    [{ a: Symbol("s") }, "$.a: found Symbol, wanted JSON"],
    [{ at: new Date(0) }, "$.at: found Date, wanted JSON"],
    [{ a: new Map() }, "$.a: found Map, wanted JSON"],
    [{ url: new URL("https://h.example") }, "$.url: found URL, wanted JSON"],
    [[undefined], "$[0]: found Undefined, wanted JSON"],
    [new Array(1), "$[0]: found Undefined, wanted JSON"],
  ])("can't be made of what JSON can't carry: %#", (value, message) => {
    expect(() => copyJson(value, 64)).toThrow(new TypeError(message));
  });

  test("is too deep past the limit, and of data that holds itself", () => {
    const round: Record<string, unknown> = {};
    Object.assign(round, { a: round, b: [round, round] });
    const found = [[[[]]], [[[[]]]], round].map((value) => copyJson(value, 3).tooDeep);
    expect(found).toEqual([false, true, true]);
    expect(copyJson(round, 64).tooDeep).toBe(true);
  });

  test("says what I-JSON forbids, and where", () => {
    const given = { a: ["\ud800"], b: JSON.parse('{"__proto__":1}'), "\udfff": 1 };
    expect(copyJson(given, 64).problems).toEqual([
      { kind: "lone-surrogate", steps: ["a", 0], found: String.raw`"\ud800"` },
      { kind: "proto-member", steps: ["b", "__proto__"], found: "__proto__" },
      { kind: "lone-surrogate", steps: ["\udfff"], found: String.raw`"\udfff"` },
    ]);
  });
});
