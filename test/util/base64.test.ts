import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { decodeBase64, decodeInPieces, encodeBase64, encodeInPieces } from "../../src/util/base64.ts";

const bytes = fc.uint8Array({ maxLength: 300 });
const base64Of = (value: Uint8Array) => Buffer.from(value).toString("base64");

/** The forms in which one and the same bytes may come. */
const formsOf = (text: string) => {
  const url = text.replaceAll("+", "-").replaceAll("/", "_");
  return [text, text.replace(/=+$/, ""), url, url.replace(/=+$/, "")];
};

describe("base64", () => {
  test("of any bytes is what every other implementation makes of them", () => {
    fc.assert(
      fc.property(bytes, (value) => {
        expect(encodeBase64(value)).toBe(base64Of(value));
        expect(encodeInPieces(value)).toBe(base64Of(value));
      }),
    );
  });

  test("is read by the platform where it can, in the alphabet that it is in and without a copy", () => {
    const asked: unknown[] = [];
    vi.stubGlobal("Uint8Array", {
      fromBase64: (text: string, { alphabet }: { readonly alphabet: string }) => asked.push([text, alphabet]),
    });
    for (const text of ["-_-_", "+/+/", "AAEC"]) decodeBase64(text);
    vi.unstubAllGlobals();
    expect(asked).toEqual([
      ["-_-_", "base64url"],
      ["+/+/", "base64"],
      ["AAEC", "base64"],
    ]);
  });

  test("in either alphabet, padded or not, is the same bytes", () => {
    fc.assert(
      fc.property(bytes, (value) => {
        for (const form of formsOf(base64Of(value))) {
          expect(decodeBase64(form)).toEqual(value);
          expect(decodeInPieces(form)).toEqual(value);
        }
      }),
    );
  });

  test("of a window on larger memory is of the window alone", () => {
    const memory = Uint8Array.from({ length: 64 }, (_, index) => index);
    expect(encodeBase64(memory.subarray(8, 11))).toBe(base64Of(Uint8Array.of(8, 9, 10)));
  });

  test.each([24_575, 24_576, 24_577, 8 * 1_024 * 1_024])("of %i bytes is whole at every seam", (length) => {
    const value = Uint8Array.from({ length }, (_, index) => (index * 7) & 255);
    const text = base64Of(value);
    expect(encodeInPieces(value) === text && encodeBase64(value) === text).toBe(true);
    for (const read of [decodeBase64(text), decodeInPieces(text)]) {
      expect(read && Buffer.from(value).equals(read)).toBe(true);
    }
  });

  test("gives bytes on memory of their own", () => {
    expect(decodeBase64("AAEC")?.buffer.byteLength).toBe(3);
    expect(Object.prototype.toString.call(decodeBase64("AAEC"))).toBe("[object Uint8Array]");
    expect(Buffer.isBuffer(decodeBase64("AAEC"))).toBe(false);
  });

  test.each(["A", "AAAAA", "AA=", "AAA==", "A===", "AA=A", "AA AA", "AAEC\n", "AA?A", "-+AA", "ä", "===="])(
    "%j is none",
    (text) => {
      expect(decodeBase64(text)).toBeUndefined();
    },
  );
});
