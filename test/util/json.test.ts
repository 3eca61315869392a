import { describe, expect, test } from "vitest";
import {
  canonicalJson,
  hasLoneSurrogate,
  isDeeperThan,
  jsonPath,
  jsonPointer,
  parseJson,
} from "../../src/util/json.ts";

describe("the canonical form", () => {
  test("is that of the example of RFC 8785, 3.2.2", () => {
    const text = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`;
    expect(canonicalJson(JSON.parse(text))).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  test("sorts names as the example of RFC 8785, 3.2.3 does: by UTF-16 code units, so that astral ones come before U+FB33", () => {
    const text = String.raw`{
      "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"
    }`;
    expect(canonicalJson(JSON.parse(text))).toBe(
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis",' +
        '"€":"Euro Sign","😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    );
  });

  test.each([
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["ffefffffffffffff", "-1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["c340000000000000", "-9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ])("writes the double %s of RFC 8785, appendix B as %s", (hex, text) => {
    const double = new DataView(new ArrayBuffer(8));
    double.setBigUint64(0, BigInt(`0x${hex}`));
    expect(canonicalJson(double.getFloat64(0))).toBe(text);
  });

  test("has integer-like names in the order of texts, not of numbers", () => {
    expect(canonicalJson({ 9: 1, 10: 2, a: 3 })).toBe('{"10":2,"9":1,"a":3}');
  });

  test("leaves out members that are undefined", () => {
    expect(canonicalJson({ a: undefined, b: [null] })).toBe('{"b":[null]}');
  });

  test.each([
    ["a number that is not finite", Number.NaN, "the number NaN has no canonical form"],
    ["half of a surrogate pair", "a\ud800", "a string with a lone surrogate has no canonical form"],
    [
      "half of a surrogate pair in a name",
      { "\udc00": 1 },
      "a string with a lone surrogate has no canonical form",
    ],
    ["undefined in a list", [undefined], "a value of type undefined has no canonical form"],
    ["a bigint", 1n, "a value of type bigint has no canonical form"],
  ])("does not exist for %s", (_what, value, message) => {
    expect(() => canonicalJson(value)).toThrow(new TypeError(message));
  });
});

describe("parsing", () => {
  test.each([
    ["as it stands", '{"a":{"__proto__":{"x":1}},"b":2}'],
    ["with an underscore escaped", String.raw`{"a":{"\u005F_proto__":{"x":1}},"b":2}`],
    ["with a letter escaped", String.raw`{"a":{"__\u0070roto__":{"x":1}},"b":2}`],
    ["with its last letter escaped", String.raw`{"a":{"__prot\u006F__":{"x":1}},"b":2}`],
  ])("leaves a member __proto__ out, %s", (_how, text) => {
    const parsed = parseJson(text) as { a: object };
    expect(parsed).toEqual({ a: {}, b: 2 });
    expect(Object.keys(parsed.a)).toEqual([]);
    expect(Object.getPrototypeOf(parsed.a)).toBe(Object.prototype);
  });

  test("keeps everything else", () => {
    expect(parseJson(String.raw`{"\u0070":"__proto__","c":[1,null]}`)).toEqual({
      p: "__proto__",
      c: [1, null],
    });
  });
});

test.each([
  [[], "$", ""],
  [["skills", 0, "id"], "$.skills[0].id", "/skills/0/id"],
  [["odd name", "a/b~c", ""], '$["odd name"]["a/b~c"][""]', "/odd name/a~1b~0c/"],
])("the steps %j are the path %s and the pointer %s", (steps, path, pointer) => {
  expect([jsonPath(steps), jsonPointer(steps)]).toEqual([path, pointer]);
});

test("the depth of a value counts its objects and arrays", () => {
  const depths = [1, [], [[]], { a: [{}] }].map((value) =>
    [0, 1, 2, 3].map((max) => isDeeperThan(value, max)),
  );
  expect(depths).toEqual([
    [false, false, false, false],
    [true, false, false, false],
    [true, true, false, false],
    [true, true, true, false],
  ]);
});

test("a text has a lone surrogate when half of a pair stands without the other", () => {
  const texts = ["", "a", "😀", "\ud83d", "\ude00", "\ude00\ud83d", "a\ud83d\ud83d\ude00"];
  expect(texts.map(hasLoneSurrogate)).toEqual([false, false, false, true, true, true, true]);
});
