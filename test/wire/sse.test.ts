import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSseParser, type SseBatch, type SseEvent } from "../../src/wire/sse.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const large = 1_000_000;

/** Feeds chunks to a new parser and gives all that came out. */
function parse(chunks: readonly (string | Uint8Array)[], maxEventBytes = large) {
  const parser = createSseParser(maxEventBytes);
  const events: SseEvent[] = [];
  let failure: SseBatch["failure"];
  for (const chunk of chunks) {
    const batch = parser.feed(typeof chunk === "string" ? encode(chunk) : chunk);
    events.push(...batch.events);
    failure = batch.failure;
  }
  return { events, failure, retryMs: parser.retryMs, ignored: parser.ignored };
}

const cutInto = (bytes: Uint8Array, places: readonly number[]) => {
  const cuts = [...new Set([0, ...places.map((place) => place % (bytes.length + 1)), bytes.length])].sort(
    (a, b) => a - b,
  );
  return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end));
};

describe("an event stream", () => {
  test.each([
    ["LF", "data: a\n\ndata: b\n\n"],
    ["CRLF", "data: a\r\n\r\ndata: b\r\n\r\n"],
    ["CR", "data: a\r\rdata: b\r\r"],
    ["a mixture", "data: a\r\n\ndata: b\n\r\n"],
  ])("may end its lines with %s", (_name, text) => {
    expect(parse([text]).events).toEqual([{ data: "a" }, { data: "b" }]);
  });

  test("gives an event as soon as its blank line is there, also when that is a CR", () => {
    const parser = createSseParser(large);
    expect(parser.feed(encode("data: a\r\r")).events).toEqual([{ data: "a" }]);
    expect(parser.feed(encode("\ndata: b\r\n\r")).events).toEqual([{ data: "b" }]);
    expect(parser.feed(encode("\n")).events).toEqual([]);
  });

  test("may begin with a byte order mark, whole or in pieces, and with one only", () => {
    const marked = encode("\ufeffdata: a\n\n");
    expect(parse([marked]).events).toEqual([{ data: "a" }]);
    expect(parse(cutInto(marked, [1, 2])).events).toEqual([{ data: "a" }]);
    expect(parse([encode("\ufeff\ufeffdata: a\n\n")]).events).toEqual([]);
    expect(parse([encode("\u00ef\u00bb\u00bfdata: a\n\n")]).events).toEqual([]);
  });

  test("joins the lines of an event's data", () => {
    expect(parse(["data: a\ndata:b\ndata:  c\ndata\n\n"]).events).toEqual([{ data: "a\nb\n c\n" }]);
  });

  test("gives names and ids, and leaves out comments, unknown fields and events without data", () => {
    const text = ": hello\nevent: ping\nid: 7\ndata: é\nfoo: bar\n\nevent: empty\n\n:\n\n";
    const { events, ignored } = parse([text]);
    expect(events).toEqual([{ name: "ping", id: "7", data: "é" }]);
    expect(ignored).toEqual({ count: 1, first: "foo: bar" });
  });

  test("is none when thousands of its lines belong to no event", () => {
    const { events, failure } = parse(["data: a\n\n", "<p>\n".repeat(10_001), "data: b\n\n"]);
    expect(events).toEqual([{ data: "a" }]);
    expect(failure).toMatchObject({ code: "MALFORMED_RESPONSE", body: "<p>" });
  });

  test("may have lines of its own in each event, for as long as it goes on", () => {
    const { events, failure, ignored } = parse(["sent: now\ndata: a\n\n".repeat(10_001)]);
    expect([events.length, failure, ignored.count]).toEqual([10_001, undefined, 10_001]);
  });

  test.each([
    ["comments", ": still here\n\n"],
    ["wishes for a pause", "retry: 10\n"],
    ["events without data", "event: ping\n\n"],
  ])("has come to its end when %s go on and on without an event", (_name, text) => {
    const chunk = encode(text.repeat(10_000));
    const count = Math.ceil((8 * 1024 * 1024 + large) / chunk.length);
    expect(parse(Array(count + 1).fill(chunk)).failure).toMatchObject({ limit: "eventBytes" });
    const withEvent = [...Array(count - 1).fill(chunk), "data: a\n\n", ...Array(count - 1).fill(chunk)];
    expect(parse(withEvent)).toMatchObject({ events: [{ data: "a" }], failure: undefined });
  });

  test("drops an event whose blank line never came", () => {
    expect(parse(["data: a\n\ndata: b\n"]).events).toEqual([{ data: "a" }]);
  });

  test("tells the server's wish for a pause, bounded, and ignores one that is no number", () => {
    expect(parse(["retry: 2500\n"]).retryMs).toBe(2500);
    expect(parse([`retry: ${"9".repeat(400)}\n`]).retryMs).toBe(3_600_000);
    expect(parse(["retry: soon\n"]).retryMs).toBeUndefined();
  });

  test("leaves out data whose bytes are no UTF-8 and reads the ones around it", () => {
    const bytes = new Uint8Array([
      ...encode("data: é\n\ndata: "),
      0xff,
      0xc3,
      ...encode("\n\ndata: \ufffd\n\n"),
    ]);
    expect(parse([bytes]).events).toEqual([{ data: "é" }, {}, { data: "\ufffd" }]);
  });
});

describe("the size of an event", () => {
  const event = (length: number) => `data: ${"x".repeat(length)}\n\n`;

  test("may be as large as the limit, however it arrives", () => {
    for (const places of [[], [3], [6, 50, 100], [105], [106], [107]]) {
      const { events, failure } = parse(cutInto(encode(event(100)), places), 100);
      expect({ events: events.length, failure }).toEqual({ events: 1, failure: undefined });
    }
  });

  test("may not be larger, whole in one chunk or in many, and the events before it still count", () => {
    const bytes = encode(event(5) + event(101) + event(5));
    for (const places of [[], [1, 20, 40, 60, 80], [...bytes.keys()]]) {
      const { events, failure } = parse(cutInto(bytes, places), 100);
      expect(events).toEqual([{ data: "xxxxx" }]);
      expect(failure).toMatchObject({ code: "LIMIT_EXCEEDED", limit: "eventBytes", max: 100 });
    }
  });

  test("is counted in bytes and over all its lines", () => {
    expect(parse(["data: éé\n\n"], 4).failure).toBeUndefined();
    expect(parse(["data: ééé\n\n"], 4).failure).toBeDefined();
    expect(parse(["data: xx\ndata: xx\n\n"], 4).failure).toBeDefined();
  });

  test("is bounded for a line without an end too, whatever the line is", () => {
    for (const start of ["data: ", ": ", "event: ", "x"]) {
      const chunks = [start, ...Array<string>(30).fill("y".repeat(10))];
      expect(parse(chunks, 100).failure).toMatchObject({ code: "LIMIT_EXCEEDED" });
    }
  });

  test("does not count comments, however many there are", () => {
    const { failure, events } = parse([...Array<string>(1000).fill(": still here\n\n"), "data: a\n\n"], 100);
    expect({ failure, events }).toEqual({ failure: undefined, events: [{ data: "a" }] });
  });
});

/** The data of the events, line by line as the standard says it. */
function plainReading(bytes: Uint8Array): string[] {
  const events: string[] = [];
  let lines: string[] = [];
  // What follows the last line end is no line.
  for (const line of new TextDecoder()
    .decode(bytes)
    .split(/\r\n|\r|\n/)
    .slice(0, -1)) {
    if (line === "") {
      const data = lines.join("\n");
      // An event whose data is one empty line has the data of none (9.2.6, "dispatch the event", step 2).
      if (lines.length > 0) events.push(data);
      lines = [];
      continue;
    }
    const [, field = line, value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === "data") lines.push(value);
  }
  return events;
}

describe("for any bytes", () => {
  const line = fc.oneof(
    fc.string({ unit: "binary" }).map((text) => `data: ${text}`),
    fc.constantFrom("", "", "data", "data:", ": comment", "event: ping", "id: 1", "retry: 10", "foo"),
  );
  const stream = fc
    .tuple(fc.boolean(), fc.array(fc.tuple(line, fc.constantFrom("\n", "\r", "\r\n"))))
    .map(([isMarked, lines]) => encode((isMarked ? "\ufeff" : "") + lines.flat().join("")));
  const noise = fc.uint8Array({ maxLength: 300 });
  const dense = fc
    .array(
      fc.constantFrom(
        ..."data:\r\n e".split("").map((text) => text.charCodeAt(0)),
        0xef,
        0xbb,
        0xbf,
        0xc3,
        0xa9,
      ),
    )
    .map((bytes) => new Uint8Array(bytes));

  test("any way to cut a stream into chunks gives the same events", () => {
    fc.assert(
      fc.property(fc.oneof(stream, noise, dense), fc.array(fc.nat()), (bytes, places) => {
        expect(parse(cutInto(bytes, places))).toEqual(parse([bytes]));
        expect(parse(cutInto(bytes, [...bytes.keys()]))).toEqual(parse([bytes]));
      }),
      { numRuns: 1000 },
    );
  });

  test("the events are those of a plain reading of HTML 9.2.6", () => {
    fc.assert(
      fc.property(stream, (bytes) => {
        expect(parse([bytes]).events.map(({ data }) => data)).toEqual(plainReading(bytes));
      }),
      { numRuns: 1000 },
    );
  });

  test("the parser never throws, and fails only on its limit", () => {
    fc.assert(
      fc.property(
        fc.oneof(stream, noise, dense),
        fc.array(fc.nat()),
        fc.integer({ min: 1, max: 50 }),
        (bytes, places, max) => {
          const { failure } = parse(cutInto(bytes, places), max);
          expect(failure === undefined || failure.code === "LIMIT_EXCEEDED").toBe(true);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
