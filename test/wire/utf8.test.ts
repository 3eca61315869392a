import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createUtf8Reader, decodeUtf8, hasDamage } from "../../src/wire/utf8.ts";

const encode = (text: string) => new TextEncoder().encode(text);

function read(chunks: Iterable<Uint8Array>) {
  const reader = createUtf8Reader();
  const text = [...chunks].map((chunk) => reader.read(chunk)).join("");
  return { text, isDamaged: reader.isDamaged };
}
const bytewise = (bytes: Uint8Array) => [...bytes].map((byte) => new Uint8Array([byte]));

describe("bytes read as they come", () => {
  test("are the text that they are as a whole, wherever they are cut", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const bytes = encode(text);
        const whole = { text: decodeUtf8(bytes), isDamaged: false };
        expect(read([bytes])).toEqual(whole);
        expect(read(bytewise(bytes))).toEqual(whole);
      }),
    );
  });

  test("keep a byte order mark that is not the first character", () => {
    expect(read([encode("\ufeffa"), encode("\ufeffb")]).text).toBe("a\ufeffb");
  });

  test("show each byte that is no UTF-8, and nothing else, as damage", () => {
    const bytes = new Uint8Array([...encode("é"), 0xff, ...encode("🜲"), 0xc3, 0x28, ...encode("\ufffd")]);
    const { text, isDamaged } = read([bytes]);
    expect({ text, isDamaged }).toEqual({ text: "é\udcff🜲\udcc3(\ufffd", isDamaged: true });
  });

  test.each([
    ["a longer form than needed", [0xc0, 0x80]],
    ["the same in three bytes", [0xe0, 0x80, 0x80]],
    ["the same in four bytes", [0xf0, 0x80, 0x80, 0x80]],
    ["a surrogate", [0xed, 0xa0, 0x80]],
    ["a character past the last one", [0xf4, 0x90, 0x80, 0x80]],
    ["a lead byte that there is not", [0xff, 0x80, 0x80, 0x80]],
    ["another one", [0xf8, 0x90, 0x80, 0x80]],
    ["the last of them that looks like one", [0xfc, 0x80, 0x80, 0x80]],
    ["a continuation of nothing", [0x80]],
  ])("hold no character in %s", (_what, bytes) => {
    const { text } = read([new Uint8Array([...bytes, 0x61])]);
    expect(text).toBe(`${bytes.map((byte) => String.fromCharCode(0xdc00 + byte)).join("")}a`);
  });

  test("are damaged exactly when they are no UTF-8, whatever the first two bytes of a character are", () => {
    const wrong: number[][] = [];
    for (let lead = 0; lead < 256; lead++) {
      for (let second = 0; second < 256; second++) {
        const bytes = [lead, second, 0x80, 0xbf, 0x61];
        const { text } = read([new Uint8Array(bytes)]);
        if (hasDamage(text) !== (decodeUtf8(new Uint8Array(bytes)) === undefined)) wrong.push(bytes);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("are damaged in the same places wherever they are cut", () => {
    const continuation = fc.constantFrom(0x80, 0x82, 0x8f, 0x90, 0x9f, 0xa0, 0xac, 0xbb, 0xbf);
    const lead = fc.constantFrom(0x61, 0xc0, 0xc3, 0xe0, 0xe2, 0xed, 0xef, 0xf0, 0xf4, 0xf8, 0xff);
    fc.assert(
      fc.property(fc.array(fc.oneof(lead, continuation, fc.nat(255))), (list) => {
        const bytes = new Uint8Array([...list, 0x61]);
        const whole = read([bytes]);
        expect(read(bytewise(bytes))).toEqual(whole);
        expect(hasDamage(whole.text)).toBe(decodeUtf8(bytes) === undefined);
      }),
      { numRuns: 2000 },
    );
  });
});

test("two halves of one character are no damage", () => {
  expect(hasDamage("🜲")).toBe(false);
  expect(hasDamage("\ud83d\ude00\udc80")).toBe(true);
});
