import { describe, expect, test } from "vitest";
import { inspectIJson } from "../../src/util/i-json.ts";
import { measured, patience } from "./cpu.ts";

const nothing = { tooDeep: false, problems: [] };

describe("a look for what I-JSON forbids", () => {
  test.each([
    ['{"a":1,"a":2}', "duplicate-name", ["a"], "a"],
    [String.raw`{"a":1,"\u0061":2}`, "duplicate-name", ["a"], "a"],
    ['{"x":[0,{"b":{},"c":{"d":1,"d":1}}]}', "duplicate-name", ["x", 1, "c", "d"], "d"],
    ['{"a":{"b":1},"c":[{"b":1},{"b":1}],"a":0}', "duplicate-name", ["a"], "a"],
    [String.raw`{"a":"x\ud800"}`, "lone-surrogate", ["a"], String.raw`"x\ud800"`],
    [String.raw`["\udc00\ud800"]`, "lone-surrogate", [0], String.raw`"\udc00\ud800"`],
    [String.raw`{"\udfff":1}`, "lone-surrogate", ["\udfff"], String.raw`"\udfff"`],
    ['["\ud800"]', "lone-surrogate", [0], '"\ud800"'],
    ['{"a":[1,1e400]}', "number-overflow", ["a", 1], "1e400"],
    ["-1E999", "number-overflow", [], "-1E999"],
    ['{"a":9007199254740993}', "unsafe-integer", ["a"], "9007199254740993"],
    ["[-9007199254740992]", "unsafe-integer", [0], "-9007199254740992"],
    ['{"a":{"__proto__":1}}', "proto-member", ["a", "__proto__"], "__proto__"],
    [String.raw`[{"\u005f\u005fproto__":1}]`, "proto-member", [0, "__proto__"], "__proto__"],
  ])("finds in %s a %s", (text, kind, steps, found) => {
    expect(inspectIJson(text, 64)).toEqual({ tooDeep: false, problems: [{ kind, steps, found }] });
  });

  test.each([
    '{"a":"a","b":{"a":[{"a":1},{"a":1}]},"c":["a","a"]}',
    "[9007199254740991,-9007199254740991,1e21,0.1,-0,1e-400,9007199254740993.5]",
    String.raw`{"😀":"\ud83d\ude00","__proto":"__proto__"}`,
    ' \r\n\t{ "a" : [ ] , "b" : { } } ',
    "",
    "{",
    '{"a',
    "nonsense",
  ])("finds nothing in %s", (text) => {
    expect(inspectIJson(text, 64)).toEqual(nothing);
  });

  test("lists a hundred problems at most", () => {
    const text = `[${Array.from({ length: 200 }, () => "1e999").join(",")}]`;
    expect(inspectIJson(text, 64).problems).toHaveLength(100);
  });

  test("takes as many levels as it is told, and not one more", () => {
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    expect(inspectIJson(nested(64), 64)).toEqual(nothing);
    expect(inspectIJson(nested(65), 64)).toEqual({ tooDeep: true, problems: [] });
    expect(inspectIJson(`[${nested(63)},${nested(63)}]`, 64)).toEqual(nothing);
  });

  test.each([
    ["escapes", `"${"\\n".repeat(1_000_000)}"`],
    ["escapes without an end", `"${"\\n".repeat(1_000_000)}`],
    ["opening quotes", '"'.repeat(1_000_000)],
    ["numbers", `[${"1,".repeat(500_000)}1]`],
    ["names", `{${Array.from({ length: 100_000 }, (_, index) => `"${index}":0`).join(",")}}`],
    ["white space", " ".repeat(2_000_000)],
  ])("takes work in proportion to the text: %s", patience, (_what, text) => {
    measured(() => inspectIJson(text, 64));
  });
});
