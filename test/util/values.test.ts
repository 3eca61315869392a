import { createHash } from "node:crypto";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { expect, test } from "vitest";
import { deepFreeze, defined, isRecord, own } from "../../src/util/freeze.ts";
import { groupBy } from "../../src/util/group.ts";
import { sha256Hex, sha256HexOfText } from "../../src/util/hash.ts";
import { createUuid } from "../../src/util/uuid.ts";

test("freezing goes all the way down", () => {
  const value = deepFreeze({ a: [{ b: 1 }], c: null });
  expect([value, value.a, value.a[0]].map(Object.isFrozen)).toEqual([true, true, true]);
});

test("a member that is undefined is not there", () => {
  expect(Object.entries(defined({ a: undefined, b: null, c: 0 }))).toEqual([
    ["b", null],
    ["c", 0],
  ]);
});

test("a record is neither null nor a list", () => {
  expect([{}, Object.create(null), null, [], "x", 1].map(isRecord)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test("a member of a prototype is no member of an object's own", () => {
  expect([own({ a: 1 }, "a"), own({}, "constructor"), own({}, "__proto__")]).toEqual([
    1,
    undefined,
    undefined,
  ]);
});

test("groups are in order of first appearance", () => {
  expect([...groupBy([3, 1, 4, 1, 5], (item) => item % 2)]).toEqual([
    [1, [3, 1, 1, 5]],
    [0, [4]],
  ]);
});

test.each(["", "abc", "€😀", "x".repeat(100_000)])(
  "a hash is the platform's, and the portable one is the same: %#",
  (text) => {
    const bytes = new TextEncoder().encode(text);
    const expected = createHash("sha256").update(bytes).digest("hex");
    expect([sha256Hex(bytes), sha256HexOfText(text), bytesToHex(sha256(bytes))]).toEqual([
      expected,
      expected,
      expected,
    ]);
  },
);

test("a UUID has version 4, also one of a test's own chance", () => {
  const pattern = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
  expect([createUuid(), createUuid(() => 0), createUuid(() => 0.999999)]).toEqual([
    expect.stringMatching(pattern),
    "00000000-0000-4000-8000-000000000000",
    "ffffffff-ffff-4fff-bfff-ffffffffffff",
  ]);
});
