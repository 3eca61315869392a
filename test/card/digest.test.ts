import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { cardDigest, cardStructureDigest } from "../../src/card/digest.ts";
import { CardInvalidError, CardUnreadableError } from "../../src/errors/card.ts";
import { baseCard, thrownBy } from "./cards.ts";

const sha256 = (text: string) => `sha256:${createHash("sha256").update(text, "utf8").digest("hex")}`;
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Cards as they are received, and the canonical form that the digest is taken of, written by hand. */
const vectors: readonly (readonly [what: string, received: string, canonical: string])[] = [
  ["nothing at all", "{}", "{}"],
  ["another order of names", '{"b":1,"a":{"d":2,"c":3}}', '{"a":{"c":3,"d":2},"b":1}'],
  ["white space", ' {\r\n\t"a" : [ 1 , 2 ]\n} ', '{"a":[1,2]}'],
  ["names in upper case before those in lower case", '{"a":1,"B":2,"_":3}', '{"B":2,"_":3,"a":1}'],
  [
    "names that look like integers, in the order of texts",
    '{"9":1,"10":2,"010":3}',
    '{"010":3,"10":2,"9":1}',
  ],
  ["names beyond ASCII", '{"é":1,"e":2,"z":3,"€":4}', '{"e":2,"z":3,"é":1,"€":4}'],
  ["astral names, by UTF-16 code units", '{"\uffee":1,"😀":2}', '{"😀":2,"\uffee":1}'],
  ["escaped names", String.raw`{"\u0062":1,"\u0061":2}`, '{"a":2,"b":1}'],
  ["numbers of any form", "[1E21,1e21,1.0e+21]", "[1e+21,1e+21,1e+21]"],
  ["zero of either sign", "[0,-0,0.0,-0e5]", "[0,0,0,0]"],
  [
    "fractions",
    "[0.1,1.0,1.50,1e-7,0.000001,123456789012345.60]",
    "[0.1,1,1.5,1e-7,0.000001,123456789012345.6]",
  ],
  ["a number with an exponent that is an integer", "[1e2,100,1.0E+2]", "[100,100,100]"],
  [
    "the largest exact integers",
    "[9007199254740991,-9007199254740991]",
    "[9007199254740991,-9007199254740991]",
  ],
  [
    "escapes in texts",
    String.raw`["\u0041\/\b\u000b\"\\\u20ac\u2028\ud83d\ude00"]`,
    '["A/\\b\\u000b\\"\\\\€\u2028😀"]',
  ],
  ["a control character", String.raw`["\u007f\u001F"]`, '["\u007f\\u001f"]'],
  ["texts that are only canonically equivalent, as two", String.raw`["\u00e9","e\u0301"]`, '["é","e\u0301"]'],
  ["explicit nulls", '{"provider":null,"a":[null]}', '{"a":[null],"provider":null}'],
  [
    "unknown members, nested",
    '{"x-future":{"b":[{"d":1,"c":2}],"a":1}}',
    '{"x-future":{"a":1,"b":[{"c":2,"d":1}]}}',
  ],
  ["no signatures", '{"a":1,"signatures":[{"protected":"e30","signature":"AA"}]}', '{"a":1}'],
  ["signatures that are not the card's own", '{"x":{"signatures":[1]}}', '{"x":{"signatures":[1]}}'],
  ["a byte order mark", '\ufeff{"a":1}', '{"a":1}'],
];

describe("the content digest", () => {
  test.each(vectors)("of %s", (_what, received, canonical) => {
    const object = canonical.startsWith("[") ? `{"v":${received}}` : received;
    const expected = sha256(canonical.startsWith("[") ? `{"v":${canonical}}` : canonical);
    const parsed = JSON.parse(object.replace(/^\ufeff/, ""));
    expect([cardDigest(object), cardDigest(bytesOf(object)), cardDigest(parsed)]).toEqual([
      expected,
      expected,
      expected,
    ]);
  });

  test("of a card with two spaces of indentation is that of the compact one (K4)", () => {
    const card = baseCard();
    expect(cardDigest(JSON.stringify(card, null, 2))).toBe(cardDigest(JSON.stringify(card)));
  });

  test("sees explicit nulls, which the shape takes for nothing (A12)", () => {
    const nulls = baseCard({
      provider: null,
      documentationUrl: null,
      securitySchemes: null,
      signatures: null,
    });
    expect(cardDigest(nulls)).not.toBe(cardDigest(baseCard()));
    expect(cardStructureDigest(nulls)).toBe(cardStructureDigest(baseCard()));
  });

  test("sees unknown members (I7)", () => {
    expect(cardDigest(baseCard({ "x-future": { a: 1 } }))).not.toBe(cardDigest(baseCard()));
  });

  test("leaves the object that it is asked of as it was", () => {
    const card = baseCard({ metadata: { list: [1] } });
    cardDigest(card);
    cardStructureDigest(card);
    expect([card, card.metadata, card.skills].map(Object.isFrozen)).toEqual([false, false, false]);
  });
});

/** What I-JSON forbids: text, path, and what the error says of it. */
const forbidden: readonly (readonly [text: string, path: string, message: string])[] = [
  ['{"a":1,"a":1}', "$.a", "found the name twice, wanted it once"],
  [String.raw`{"name":1,"\u006eame":2}`, "$.name", "found the name twice, wanted it once"],
  ['{"skills":[{},{"id":1,"id":2}]}', "$.skills[1].id", "found the name twice, wanted it once"],
  [String.raw`{"a":"\ud800"}`, "$.a", "found half of a surrogate pair, wanted Unicode text"],
  [String.raw`{"a":["\udc00x"]}`, "$.a[0]", "found half of a surrogate pair, wanted Unicode text"],
  [String.raw`{"\ud800":1}`, String.raw`$["\ud800"]`, "found half of a surrogate pair, wanted Unicode text"],
  ['{"a":1e400}', "$.a", "found the number 1e400, wanted one that a double can hold"],
  ['{"a":-1E999}', "$.a", "found the number -1E999, wanted one that a double can hold"],
  [
    '{"a":9007199254740993}',
    "$.a",
    "found the integer 9007199254740993, wanted at most 9007199254740991 either way",
  ],
  ['{"__proto__":{}}', "$.__proto__", "found a member __proto__, wanted none"],
  ['{"a":[{"b":{"__proto__":1}}]}', "$.a[0].b.__proto__", "found a member __proto__, wanted none"],
  [String.raw`{"a":{"__\u0070roto__":1}}`, "$.a.__proto__", "found a member __proto__, wanted none"],
];

describe("no digest is given", () => {
  test.each(forbidden)("of %s", (text, path, message) => {
    const found = [text, bytesOf(text)].map((input) => thrownBy(() => cardDigest(input)));
    const expected = { name: "CardInvalidError", issues: [{ path, message }], digest: sha256(text) };
    expect(found).toEqual([expect.objectContaining(expected), expect.objectContaining(expected)]);
  });

  test("of a text with half of a surrogate pair that no escape hides", () => {
    const error = thrownBy(() => cardDigest('{"a":"\ud800"}'));
    expect(error).toBeInstanceOf(CardInvalidError);
    expect(error).toMatchObject({
      issues: [{ path: "$.a", message: "found half of a surrogate pair, wanted Unicode text" }],
    });
  });

  test.each([
    [JSON.parse('{"a":{"__proto__":1}}'), "$.a.__proto__"],
    [{ a: "\ud800" }, "$.a"],
  ])("of an object with what I-JSON forbids: %#", (card, path) => {
    const error = thrownBy(() => cardDigest(card));
    expect(error).toBeInstanceOf(CardInvalidError);
    expect(error).toMatchObject({
      issues: [{ path }],
      digest: expect.stringMatching(/^sha256:[\da-f]{64}$/),
    });
  });

  test("of bytes that are no UTF-8", () => {
    const error = thrownBy(() => cardDigest(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])));
    expect(error).toBeInstanceOf(CardUnreadableError);
    expect(error).toMatchObject({ reason: "not-json" });
  });

  test.each([null, undefined, 3, true, [], () => {}])("of %j, which is no card", (input) => {
    expect(thrownBy(() => cardDigest(input as never))).toBeInstanceOf(TypeError);
  });

  test.each(["[]", "null", "3", '"x"'])("of the JSON %s, which is no object", (text) => {
    expect(thrownBy(() => cardDigest(text))).toMatchObject({
      name: "CardInvalidError",
      issues: [{ path: "$" }],
    });
  });

  test("of an object with what JSON can't carry", () => {
    expect(() => cardDigest({ at: new Date(0) })).toThrow(new TypeError("$.at: found Date, wanted JSON"));
  });

  test("of an object that holds itself", () => {
    const card: Record<string, unknown> = {};
    card.self = card;
    expect(thrownBy(() => cardDigest(card))).toMatchObject({
      name: "CardUnreadableError",
      reason: "too-deep",
    });
  });
});
