import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openEventStream } from "../../src/wire/event-stream.ts";
import { createHttp } from "../../src/wire/http.ts";
import { answerOf, collect, createPipe, settle, streamOf } from "./answers.ts";
import { createFakeClock } from "./fake-clock.ts";
import { serve } from "./loopback.ts";

function setUp(controller = new AbortController()) {
  const clock = createFakeClock();
  const options = { clock, signal: controller.signal, firstEventMs: 500, idleMs: 1000, maxEventBytes: 1000 };
  return { clock, options, controller };
}

/** Opens a stream over a pipe and collects it. */
function openPiped() {
  const { clock, options, controller } = setUp();
  const pipe = createPipe();
  const stream = openEventStream(answerOf(pipe.body), options);
  return { clock, controller, pipe, stream, result: collect(stream.batches) };
}

describe("an event stream over a connection", () => {
  test("gives all that one chunk completed at a time", async () => {
    const { options } = setUp();
    const answer = answerOf(["data: 1\n\ndata: 2\n\ndata: 3", ": no event\n", "\n\n"]);
    expect(await collect(openEventStream(answer, options).batches)).toEqual({
      items: [[{ data: "1" }, { data: "2" }], [{ data: "3: no event" }]],
    });
  });

  test("comes through real sockets with all its characters", async () => {
    const { clock, options } = setUp();
    const text = "Grüße, 世界, 🜲".repeat(20);
    const server = await serve((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const byte of Buffer.from(`data: ${text}\n\n`)) response.write(Buffer.from([byte]));
      response.end();
    });
    const http = createHttp({ fetch: (url, init) => fetch(url, init), clock });
    const { signal } = options;
    const response = await http({ url: server.url, method: "GET", headers: {}, signal, firstByteMs: 1000 });
    expect(await collect(openEventStream(response, options).batches)).toEqual({ items: [[{ data: text }]] });
    expect(clock.timers).toBe(0);
  });

  test("without a body ends at once", async () => {
    const { clock, options } = setUp();
    expect(await collect(openEventStream(answerOf(null), options).batches)).toEqual({ items: [] });
    expect(clock.timers).toBe(0);
  });

  test("reads no further than its consumer", async () => {
    const { options } = setUp();
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled++;
          controller.enqueue(new TextEncoder().encode(`data: ${pulled}\n\n`));
        },
      },
      { highWaterMark: 0 },
    );
    const stream = openEventStream(answerOf(body), options);
    await settle();
    expect(pulled).toBe(0);
    for await (const batch of stream.batches) {
      await settle();
      expect({ batch, pulled }).toEqual({ batch: [{ data: String(pulled) }], pulled });
      if (pulled === 3) break;
    }
    expect(pulled).toBe(3);
  });

  test("tells what the server asked for and what it could not read", async () => {
    const { options } = setUp();
    const stream = openEventStream(answerOf(["retry: 7\nnonsense\n\n"]), options);
    await collect(stream.batches);
    expect({ retryMs: stream.retryMs, ignored: stream.ignored }).toEqual({
      retryMs: 7,
      ignored: { count: 1, first: "nonsense" },
    });
  });
});

describe("a stream that stays silent", () => {
  test("until its first event is over after that budget, comments or not", async () => {
    const { clock, pipe, result } = openPiped();
    await settle();
    clock.advance(300);
    pipe.write(": hello\n\n");
    await settle();
    clock.advance(200);
    expect(await result).toMatchObject({
      items: [],
      error: { code: "STREAM_STALLED", budget: "first-event", budgetMs: 500 },
    });
    expect({ cancelled: pipe.cancelled.length, timers: clock.timers }).toEqual({ cancelled: 1, timers: 0 });
  });

  test("after an event is over after the idle budget", async () => {
    const { clock, pipe, result } = openPiped();
    pipe.write("data: 1\n\n");
    await settle();
    clock.advance(999);
    clock.advance(1);
    expect(await result).toMatchObject({
      items: [[{ data: "1" }]],
      error: { code: "STREAM_STALLED", budget: "idle", budgetMs: 1000 },
    });
    expect({ cancelled: pipe.cancelled.length, timers: clock.timers }).toEqual({ cancelled: 1, timers: 0 });
  });

  test("is read on for as long as its silences are answered, counted until something comes", async () => {
    const { clock, options } = setUp();
    const pipe = createPipe();
    const silences: object[] = [];
    const onSilence = async (silence: object) => {
      silences.push(silence);
      if (silences.length > 4) throw new RangeError("enough");
    };
    const result = collect(openEventStream(answerOf(pipe.body), { ...options, onSilence }).batches);
    for (const waitMs of [500, 500]) {
      await settle();
      clock.advance(waitMs);
    }
    await settle();
    pipe.write("data: 1\n\n");
    for (const waitMs of [1000, 1000]) {
      await settle();
      clock.advance(waitMs);
    }

    expect(await result).toMatchObject({ items: [[{ data: "1" }]], error: { message: "enough" } });
    expect(silences).toEqual([
      { budget: "first-event", periods: 1, silentMs: 500 },
      { budget: "idle", periods: 1, silentMs: 1000 },
      { budget: "first-event", periods: 2, silentMs: 1000 },
      { budget: "idle", periods: 1, silentMs: 1000 },
      { budget: "idle", periods: 2, silentMs: 2000 },
    ]);
    expect({ cancelled: pipe.cancelled.length, timers: clock.timers }).toEqual({ cancelled: 1, timers: 0 });
  });

  test("is alive as long as any byte comes", async () => {
    const { clock, pipe, result } = openPiped();
    pipe.write("data: 1\n\n");
    for (let beat = 0; beat < 100; beat++) {
      await settle();
      clock.advance(900);
      pipe.write(":");
    }
    await settle();
    pipe.end();
    expect(await result).toEqual({ items: [[{ data: "1" }]] });
  });

  test("is not blamed for a consumer that takes its time", async () => {
    const { clock, options } = setUp();
    const stream = openEventStream(answerOf(["data: 1\n\n", "data: 2\n\n"]), options);
    clock.advance(100_000);
    let batches = 0;
    for await (const batch of stream.batches) {
      batches += batch.length;
      clock.advance(100_000);
      await settle();
    }
    expect(batches).toBe(2);
  });
});

describe("a stream that ends early", () => {
  test("by a broken connection is a connection error, after the events that came", async () => {
    const { clock, options } = setUp();
    const server = await serve((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\n", () => response.destroy());
    });
    const http = createHttp({ fetch: (url, init) => fetch(url, init), clock });
    const { signal } = options;
    const response = await http({ url: server.url, method: "GET", headers: {}, signal, firstByteMs: 1000 });
    const { items, error } = await collect(openEventStream(response, options).batches);
    expect(items).toEqual([[{ data: "1" }]]);
    expect(error).toMatchObject({ code: "CONNECTION", neverSent: false });
    expect(clock.timers).toBe(0);
  });

  test("by an event that is too large gives the events before it first", async () => {
    const { clock, options } = setUp();
    const answer = answerOf([`data: 1\n\ndata: ${"x".repeat(2000)}\n\n`, "data: 3\n\n"]);
    const { items, error } = await collect(openEventStream(answer, options).batches);
    expect(items).toEqual([[{ data: "1" }]]);
    expect(error).toMatchObject({ code: "LIMIT_EXCEEDED", limit: "eventBytes", max: 1000 });
    expect(clock.timers).toBe(0);
  });

  test("by the caller's abort throws its reason unchanged", async () => {
    const { clock, pipe, controller, result } = openPiped();
    pipe.write("data: 1\n\n");
    await settle();
    const reason = new RangeError("enough");
    controller.abort(reason);
    expect((await result).error).toBe(reason);
    expect(pipe.cancelled).toEqual([reason]);
    expect(clock.timers).toBe(0);
  });

  test("by the caller's abort between two batches throws its reason too", async () => {
    const { options, controller } = setUp();
    const stream = openEventStream(answerOf(["data: 1\n\n", "data: 2\n\n"]), options);
    const taken: unknown[] = [];
    const reading = (async () => {
      for await (const batch of stream.batches) {
        taken.push(...batch);
        controller.abort("enough");
      }
    })();
    await expect(reading).rejects.toBe("enough");
    expect(taken).toEqual([{ data: "1" }]);
  });
});

describe("leaving a stream", () => {
  test("by the loop closes the connection and every timer", async () => {
    const { clock, options } = setUp();
    const server = await serve((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\n");
    });
    const http = createHttp({ fetch: (url, init) => fetch(url, init), clock });
    const { signal } = options;
    const response = await http({ url: server.url, method: "GET", headers: {}, signal, firstByteMs: 1000 });
    for await (const _batch of openEventStream(response, options).batches) break;
    await server.hungUp;
    expect(clock.timers).toBe(0);
  });

  test("by close ends a loop that waits, without an error", async () => {
    const { clock, pipe, stream, result } = openPiped();
    pipe.write("data: 1\n\n");
    await settle();
    stream.close();
    stream.close();
    expect(await result).toEqual({ items: [[{ data: "1" }]] });
    expect({ cancelled: pipe.cancelled.length, timers: clock.timers }).toEqual({ cancelled: 1, timers: 0 });
  });

  test("by close before it was begun closes the connection and leaves no timer", async () => {
    const { clock, options } = setUp();
    const pipe = createPipe();
    const stream = openEventStream(answerOf(pipe.body), options);
    stream.close();
    expect(await collect(stream.batches)).toEqual({ items: [] });
    expect({ cancelled: pipe.cancelled.length, timers: clock.timers }).toEqual({ cancelled: 1, timers: 0 });
  });
});

test("any bytes in any chunks end the stream, with nothing but a typed error", async () => {
  const chunks = fc.array(
    fc.oneof(fc.uint8Array({ maxLength: 60 }), fc.constantFrom("data: a\n\n", "data:", "\r", "\n\n")),
  );
  await fc.assert(
    fc.asyncProperty(chunks, async (bytes) => {
      const { clock, options } = setUp();
      const { error } = await collect(
        openEventStream(answerOf(streamOf(bytes)), { ...options, maxEventBytes: 40 }).batches,
      );
      expect(error === undefined || (error as { code: string }).code === "LIMIT_EXCEEDED").toBe(true);
      expect(clock.timers).toBe(0);
    }),
    { numRuns: 500 },
  );
});
