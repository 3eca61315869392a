import { bytesOf, dataPart, filePart, MalformedResponseError, type Part, textOf, textPart } from "a2a-lease";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const details = { mediaType: "image/png", filename: "cat.png", metadata: { width: 3 } };

describe("a part", () => {
  test("of text, of data, of bytes and of a URL has its content and what was said of it, and nothing else", () => {
    const url = "https://files.example/cat.png?size=2";
    const parts = [
      textPart("hi", details),
      dataPart(null, details),
      dataPart({ a: [1] }),
      filePart(Uint8Array.of(0, 1, 2), details),
      filePart(new URL(url), details),
      filePart("HTTPS://files.example/A%20b"),
    ];

    expect(parts).toStrictEqual([
      { text: "hi", ...details },
      { data: null, ...details },
      { data: { a: [1] } },
      { raw: "AAEC", ...details },
      { url, ...details },
      // A URL stays as it was written.
      { url: "HTTPS://files.example/A%20b" },
    ]);
    expect(parts.every((part) => Object.isFrozen(part))).toBe(true);
  });

  test("of any bytes, however they are held, gives the same bytes back", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const wide = Uint8Array.from([9, ...bytes, 9]);
        const parts: readonly Part[] = [
          filePart(bytes),
          filePart(bytes.slice().buffer),
          filePart(wide.subarray(1, -1)),
          filePart(Buffer.from(bytes)),
          await filePart(new Blob([bytes])),
        ];
        for (const part of parts) expect(bytesOf(part)).toEqual(bytes);
      }),
    );
  });

  test("of a Blob or a File says what it says of itself, unless it is told otherwise", async () => {
    const file = new File(["a"], "a.txt", { type: "text/plain" });

    expect(await filePart(new Blob(["a"]))).toStrictEqual({ raw: "YQ==" });
    expect(await filePart(file)).toStrictEqual({ raw: "YQ==", mediaType: "text/plain", filename: "a.txt" });
    expect(await filePart(file, { filename: "b.txt" })).toMatchObject({
      mediaType: "text/plain",
      filename: "b.txt",
    });
  });

  test("of eight MiB is the same bytes on both ends", () => {
    const bytes = Uint8Array.from({ length: 8 * 1_024 * 1_024 }, (_, index) => (index * 31) & 255);

    expect(Buffer.from(bytes).equals(bytesOf(filePart(bytes)) ?? new Uint8Array())).toBe(true);
  });

  test.each<[string, () => unknown]>([
    ["text", () => textPart(1 as never)],
    ["data", () => dataPart(undefined)],
    ["source", () => filePart("cat.png")],
    ["source", () => filePart("")],
    ["source", () => filePart(new URL("file:///etc/hosts"))],
    ["source", () => filePart("blob:https://a.example/1")],
    ["source", () => filePart([1, 2] as never)],
    ["source", () => filePart(null as never)],
    ["filename", () => filePart(new Uint8Array(), { filename: 1 as never })],
    ["mediaType", () => textPart("a", { mediaType: null as never })],
    ["metadata", () => textPart("a", { metadata: [] as never })],
  ])("can't be made of a wrong %s", (name, make) => {
    expect(make).toThrow(TypeError);
    expect(make).toThrow(name);
  });

  test("takes no second content from the details", () => {
    expect(textPart("a", { raw: "AAEC" } as never)).toStrictEqual({ text: "a" });
  });
});

describe("what comes back", () => {
  test("has bytes where it is bytes, in whichever base64", () => {
    const read = ["AAEC-_8", "AAEC+/8=", "AAEC+/8", "AAEC-_8="].map((raw) => bytesOf({ raw }));
    expect(read).toEqual(read.map(() => Uint8Array.of(0, 1, 2, 251, 255)));
    expect(bytesOf({ raw: "" })).toEqual(new Uint8Array());
  });

  test("has none where it is something else", () => {
    const others: readonly Part[] = [{ text: "AAEC" }, { data: "AAEC" }, { url: "https://a.example/AAEC" }];
    expect(others.map(bytesOf)).toEqual([undefined, undefined, undefined]);
  });

  test.each(["?", "A", "AAEC\n", "[binary]"])(
    "that is no base64 (%j) is an error, not a placeholder",
    (raw) => {
      expect(() => bytesOf({ raw })).toThrow(MalformedResponseError);
    },
  );

  test("has its text in order, and says what it skipped", () => {
    const parts: readonly Part[] = [
      { text: "one, " },
      { raw: "AAEC", filename: "x.bin", mediaType: "application/octet-stream" },
      { text: "two" },
      { data: { text: "no text" } },
      { url: "https://a.example/" },
    ];
    const skipped = [parts[1], parts[3], parts[4]];

    expect(textOf(parts)).toEqual({ text: "one, two", skipped });
    expect(textOf({ parts })).toEqual({ text: "one, two", skipped });
    expect(textOf([])).toEqual({ text: "", skipped: [] });
  });
});
