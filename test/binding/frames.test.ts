import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isA2ALeaseError } from "../../src/errors/any.ts";
import { collect, createPipe, settle, streamOf, thrownBy } from "../wire/answers.ts";
import { createRig, events, failure, json, result, type SeenCall, statusUpdate, task } from "./rig.ts";

const working = { task: task("TASK_STATE_WORKING") };
const completed = statusUpdate("TASK_STATE_COMPLETED");
const sse = { "content-type": "text/event-stream" };

async function subscribe(answer: (seen: SeenCall) => Response, more = {}) {
  const rig = createRig(answer);
  const stream = await rig.binding.open("SubscribeToTask", { id: "t1" }, rig.call(more));
  return { ...rig, stream };
}

/** Subscribes to an agent that sends these frames and takes all that comes. */
async function take(...frames: readonly unknown[]) {
  const { stream, clock } = await subscribe(() => events(...frames));
  const { items, error } = await collect(stream.events);
  expect(clock.timers).toBe(0);
  return { items, error, skipped: stream.skipped, deviations: stream.deviations };
}

describe("a stream", () => {
  test("gives its events in order, frozen, and asks for an event stream", async () => {
    const { stream, seen } = await subscribe(() => events(result(1, working), result("1", completed)));
    const { items } = await collect(stream.events);
    expect(items).toEqual([working, completed]);
    expect(items.every((item) => Object.isFrozen(item))).toBe(true);
    expect(seen[0]).toMatchObject({
      headers: { accept: "text/event-stream, application/json", "a2a-version": "1.0" },
      body: { method: "SubscribeToTask", params: { id: "t1" } },
    });
    expect({ skipped: stream.skipped, deviations: stream.deviations }).toEqual({
      skipped: { count: 0 },
      deviations: [],
    });
  });

  test("with no frame at all ends without an error and without an event", async () => {
    expect(await take()).toMatchObject({ items: [], error: undefined, skipped: { count: 0 } });
    expect(await take(": only a comment\n\n")).toMatchObject({ items: [], error: undefined });
  });

  test("collects its deviations, each kind at a place once", async () => {
    const legacy = statusUpdate("working");
    const { deviations } = await take(result(1, legacy), result(1, legacy), { id: 1, result: working });
    expect(deviations.map(({ kind }) => kind)).toEqual(["legacy-state", "wrong-jsonrpc-version"]);
  });

  test("tells the server's wish for a pause", async () => {
    const { stream } = await subscribe(() => events("retry: 250\n", result(1, working)));
    await collect(stream.events);
    expect(stream.retryMs).toBe(250);
  });
});

describe("a frame that can't be used", () => {
  test.each([
    ["an empty object", "data: {}\n\n", "$: found neither result nor error, wanted one of them"],
    ["broken JSON", "data: {bad\n\n", "found a text that is no JSON, wanted JSON"],
    ["a heartbeat", "event: ping\ndata: ping\n\n", "found a text that is no JSON, wanted JSON"],
    ["no data", "data:\n\n", "found an empty text, wanted JSON"],
    [
      "a foreign id",
      `data: ${JSON.stringify(result(7, working))}\n\n`,
      "$.id: found number 7, wanted 1, the id of the request",
    ],
    [
      "two events in one",
      `data: ${JSON.stringify(result(1, { ...working, ...completed }))}\n\n`,
      "$.result: found task and statusUpdate of task, message, statusUpdate, artifactUpdate; wanted exactly one",
    ],
  ])("because it is %s is skipped, counted and kept as evidence", async (_what, frame, reason) => {
    const { items, error, skipped } = await take(frame, result(1, working), "data: {}\n\n");
    expect({ items, error }).toEqual({ items: [working], error: undefined });
    const snippet = frame.split("data:")[1]?.trim().slice(0, 200) ?? "";
    expect(skipped).toMatchObject({ count: 2, first: { reason } });
    expect(skipped.first?.snippet.startsWith(snippet)).toBe(true);
  });

  test("because its bytes are no UTF-8 is skipped as well", async () => {
    const frame = new TextEncoder().encode(`data: "?"\n\ndata: ${JSON.stringify(result(1, working))}\n\n`);
    frame[7] = 0xff;
    const { stream } = await subscribe(() => new Response(frame, { headers: sse }));
    expect(await collect(stream.events)).toEqual({ items: [working] });
    expect(stream.skipped).toEqual({
      count: 1,
      first: { reason: "found bytes that are no UTF-8", snippet: "" },
    });
  });

  test("has its name ignored when its data is an envelope", async () => {
    const { items } = await take(`event: whatever\ndata: ${JSON.stringify(result(1, working))}\n\n`);
    expect(items).toEqual([working]);
  });

  test("in every place is an error with the evidence", async () => {
    const { items, error } = await take("data: {}\n\n", "data: {bad\n\n");
    expect(items).toEqual([]);
    expect(error).toMatchObject({ code: "MALFORMED_RESPONSE", body: "{}" });
    expect(String(error)).toContain("found 2 events and none of use");
  });

  test("in the form of A2A 0.3 in every place is an error that says so", async () => {
    const old = { kind: "status-update", taskId: "t1", final: true, status: { state: "completed" } };
    const { items, error } = await take(result(1, old));
    expect(items).toEqual([]);
    expect(String(error)).toContain("A2A 0.3");
  });

  test("is kept short and without secrets", async () => {
    const { skipped } = await take(`data: Bearer s3cr3t-token ${"x".repeat(5000)}\n\n`);
    expect(JSON.stringify(skipped).length).toBeLessThan(500);
    expect(JSON.stringify(skipped)).not.toContain("s3cr3t");
  });

  test("may be a line: a page under the media type of a stream is an error", async () => {
    const { error } = await take("<html>\n<p>busy</p>\n");
    expect(error).toMatchObject({ code: "MALFORMED_RESPONSE", body: "<html>" });
  });
});

describe("an error frame", () => {
  const gone = failure(1, { code: -32001, message: "gone" });

  test("throws what the same answer to a single call throws", async () => {
    const { items, error } = await take(gone);
    expect(items).toEqual([]);
    expect(error).toMatchObject({ code: "TASK_NOT_FOUND", rpcCode: -32001, operation: "SubscribeToTask" });
  });

  test("after events throws after they were delivered, whatever its id is", async () => {
    const { items, error } = await take(
      result(1, working),
      failure(null, { code: 503, message: "no upstream" }),
    );
    expect(items).toEqual([working]);
    expect(error).toMatchObject({ code: "GATEWAY", status: 503 });
  });

  test("ends the stream: what follows it is not read", async () => {
    const pipe = createPipe();
    const { stream, clock } = await subscribe(() => new Response(pipe.body, { headers: sse }));
    pipe.write(`data: ${JSON.stringify(gone)}\n\ndata: ${JSON.stringify(result(1, working))}\n\n`);
    expect(await collect(stream.events)).toMatchObject({ items: [], error: { code: "TASK_NOT_FOUND" } });
    expect({ cancelled: pipe.cancelled.length, timers: clock.timers }).toEqual({ cancelled: 1, timers: 0 });
  });

  test("nested too deep, or too large, is a limit", async () => {
    const deep = `data: {"a":${"[".repeat(200)}${"]".repeat(200)}}\n\n`;
    expect((await take(deep)).error).toMatchObject({ code: "LIMIT_EXCEEDED", limit: "responseDepth" });
    const rig = createRig(() => events(`data: ${"x".repeat(200)}\n\n`), { eventBytes: 100 });
    const stream = await rig.binding.open("SubscribeToTask", { id: "t1" }, rig.call());
    expect((await collect(stream.events)).error).toMatchObject({
      code: "LIMIT_EXCEEDED",
      limit: "eventBytes",
    });
  });
});

describe("a streaming call that is not answered with a stream", () => {
  test("but with a result is a stream of one event, with a deviation", async () => {
    const { stream } = await subscribe(() => json(result(1, { task: task("TASK_STATE_COMPLETED") })));
    expect(stream.deviations).toEqual([
      { kind: "json-instead-of-stream", message: "found application/json, wanted text/event-stream" },
    ]);
    expect(await collect(stream.events)).toEqual({ items: [{ task: task("TASK_STATE_COMPLETED") }] });
    expect(stream.skipped).toEqual({ count: 0 });
  });

  test("but with a result, and was closed or aborted before, gives nothing or the reason", async () => {
    const closed = await subscribe(() => json(result(1, working)));
    closed.stream.close();
    expect(await collect(closed.stream.events)).toEqual({ items: [] });
    const controller = new AbortController();
    const aborted = await subscribe(() => json(result(1, working)), { signal: controller.signal });
    controller.abort("enough");
    expect(await collect(aborted.stream.events)).toEqual({ items: [], error: "enough" });
  });

  test.each<[string, () => Response, object]>([
    [
      "an error",
      () => json(failure(1, { code: -32004, message: "over" })),
      { code: "UNSUPPORTED_OPERATION" },
    ],
    [
      "an older form",
      () => json(result(1, { kind: "task", ...task("completed") })),
      { code: "MALFORMED_RESPONSE" },
    ],
    ["nothing", () => new Response(null, { status: 204 }), { code: "MALFORMED_RESPONSE" }],
    [
      "a page",
      () => new Response("<html>", { headers: { "content-type": "text/html" } }),
      { code: "HTTP_STATUS", status: 200, contentType: "text/html" },
    ],
    [
      "a status, even under the media type of a stream",
      () => new Response("data: x\n\n", { status: 503, headers: { ...sse, "retry-after": "5" } }),
      { code: "HTTP_STATUS", status: 503, retryAfterMs: 5000 },
    ],
    [
      "a demand for credentials",
      () => new Response("", { status: 401, headers: { "www-authenticate": "Bearer" } }),
      { code: "AUTHENTICATION", challenge: "Bearer" },
    ],
  ])("but with %s rejects the opening", async (_what, answer, error) => {
    expect(await thrownBy(subscribe(answer))).toMatchObject(error);
  });
});

describe("a stream that ends early", () => {
  test("by a broken connection throws it after the events", async () => {
    const pipe = createPipe();
    const { stream } = await subscribe(() => new Response(pipe.body, { headers: sse }));
    const reading = collect(stream.events);
    pipe.write(`data: ${JSON.stringify(result(1, working))}\n\ndata: {}\n\n`);
    await settle();
    pipe.fail(new TypeError("terminated"));
    expect(await reading).toMatchObject({
      items: [working],
      error: { code: "CONNECTION", neverSent: false },
    });
  });

  test.each([
    ["first-event", "", 500],
    ["idle", `data: ${JSON.stringify(result(1, working))}\n\n`, 1000],
  ])("by silence is a stall of the budget %s", async (budget, text, budgetMs) => {
    const pipe = createPipe();
    const { stream, clock } = await subscribe(() => new Response(pipe.body, { headers: sse }));
    const reading = collect(stream.events);
    if (text) pipe.write(text);
    await settle();
    clock.advance(budgetMs);
    expect((await reading).error).toMatchObject({ code: "STREAM_STALLED", budget, budgetMs });
  });

  test("by the caller's abort throws its reason unchanged, also between two events of one chunk", async () => {
    const controller = new AbortController();
    const { stream } = await subscribe(() => events(result(1, working), result(1, completed)), {
      signal: controller.signal,
    });
    const reason = { enough: true };
    const taken: unknown[] = [];
    const reading = (async () => {
      for await (const event of stream.events) {
        taken.push(event);
        controller.abort(reason);
      }
    })();
    expect(await thrownBy(reading)).toBe(reason);
    expect(taken).toEqual([working]);
  });

  test.each(["break", "close", "close before reading"])(
    "by %s closes the connection and every timer",
    async (how) => {
      const pipe = createPipe();
      const { stream, clock } = await subscribe(() => new Response(pipe.body, { headers: sse }));
      pipe.write(`data: ${JSON.stringify(result(1, working))}\n\ndata: {}\n\n`);
      let taken = 0;
      if (how === "close before reading") stream.close();
      for await (const _event of stream.events) {
        taken++;
        if (how === "break") break;
        stream.close();
      }
      expect(taken).toBe(how === "close before reading" ? 0 : 1);
      expect({ cancelled: pipe.cancelled.length, timers: clock.timers }).toEqual({ cancelled: 1, timers: 0 });
    },
  );
});

test("closing a stream that had nothing of use yet is no error", async () => {
  const pipe = createPipe();
  const { stream } = await subscribe(() => new Response(pipe.body, { headers: sse }));
  const reading = collect(stream.events);
  pipe.write("data: {}\n\n");
  await settle();
  stream.close();
  expect(await reading).toEqual({ items: [] });
  expect(stream.skipped.count).toBe(1);
});

test("any frames in any chunks are events or a typed error, and leave nothing behind", async () => {
  const frame = fc.oneof(
    fc.jsonValue().map((value) => `data: ${JSON.stringify(value)}\n\n`),
    fc.constantFrom(
      `data: ${JSON.stringify(result(1, working))}\n\n`,
      `data: ${JSON.stringify(result(1, completed))}\r\n\r\n`,
      `data: ${JSON.stringify(failure(1, { code: -32603, message: "x" }))}\n\n`,
      ": beat\n\n",
      "data: {",
      "\n",
    ),
  );
  const bytes = fc.oneof(
    frame.map((text) => new TextEncoder().encode(text)),
    fc.uint8Array({ maxLength: 20 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(bytes), async (chunks) => {
      const { stream, clock } = await subscribe(() => new Response(streamOf(chunks), { headers: sse }));
      const { error } = await collect(stream.events);
      expect(error === undefined || isA2ALeaseError(error)).toBe(true);
      expect(clock.timers).toBe(0);
    }),
    { numRuns: 500 },
  );
});

test.each([
  ["a text", "event: error\ndata: boom\n\n", "boom"],
  ["an object that is no envelope", 'event: error\ndata: {"message":"boom"}\n\n', "boom"],
])("an event that is named an error and holds %s fails the stream", async (_what, frame, words) => {
  const { stream } = await subscribe(({ body }) => events(result(body.id, working), frame));
  const { items, error } = await collect(stream.events);
  expect(items).toEqual([working]);
  expect(error).toMatchObject({ code: "UNKNOWN_PROTOCOL_ERROR" });
  expect(String(error)).toContain(words);
});
