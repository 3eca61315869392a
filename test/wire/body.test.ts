import { describe, expect, test } from "vitest";
import { discardBody, readBeginning, readBytes, readText } from "../../src/wire/body.ts";
import { createHttp } from "../../src/wire/http.ts";
import { answerOf, createPipe, settle, thrownBy } from "./answers.ts";
import { createFakeClock } from "./fake-clock.ts";
import { serve } from "./loopback.ts";

const clock = createFakeClock();
const { signal } = new AbortController();
const options = { clock, signal, idleMs: 1000, maxBytes: 10, limit: "responseBytes" };
const send = (url: string) =>
  createHttp({ fetch: (to, init) => fetch(to, init), clock })({
    url,
    method: "GET",
    headers: {},
    signal,
    firstByteMs: 1000,
  });

describe("a whole body", () => {
  test("is joined from its chunks, byte for byte", async () => {
    const chunks = [new Uint8Array([0, 255]), new Uint8Array([]), new Uint8Array([7])];
    expect(await readBytes(answerOf(chunks), options)).toEqual(new Uint8Array([0, 255, 7]));
  });

  test("may be as large as the limit, and may be absent", async () => {
    expect(await readText(answerOf(["12345", "67890"]), options)).toBe("1234567890");
    expect(await readText(answerOf(null), options)).toBe("");
  });

  test("is UTF-8 without its byte order mark, wherever its characters were cut", async () => {
    const bytes = new TextEncoder().encode("\ufeffé€");
    const chunks = [...bytes].map((byte) => new Uint8Array([byte]));
    expect(await readText(answerOf(chunks), options)).toBe("é€");
  });

  test("that is no UTF-8 is a malformed answer", async () => {
    expect(await thrownBy(readText(answerOf([new Uint8Array([0x61, 0xff])]), options))).toMatchObject({
      code: "MALFORMED_RESPONSE",
      issues: [{ path: "$", message: "found bytes that are no UTF-8, wanted UTF-8" }],
      body: "a\ufffd",
    });
  });

  test("that is no UTF-8 is told without a secret, also where it is cut", async () => {
    const secret = `kx-${"0123456789".repeat(150)}`;
    const bytes = new TextEncoder().encode(`${secret.repeat(40)}?`);
    bytes[bytes.length - 1] = 0xff;
    const reading = readText(answerOf([bytes]), { ...options, maxBytes: 1_000_000, secrets: [secret] });
    expect(JSON.stringify(await thrownBy(reading))).not.toContain("kx-");
  });

  test("of chunks that are no bytes is a broken connection", async () => {
    const body = new ReadableStream({ start: (controller) => controller.enqueue("text") });
    expect(await thrownBy(readBytes(answerOf(body), options))).toMatchObject({ code: "CONNECTION" });
  });
});

describe("a body that is too large", () => {
  test("is refused before it is read when its head says so", async () => {
    const pipe = createPipe();
    const answer = answerOf(pipe.body, { "content-length": "11" });
    expect(await thrownBy(readBytes(answer, { ...options, limit: "cardBytes" }))).toMatchObject({
      code: "LIMIT_EXCEEDED",
      limit: "cardBytes",
      max: 10,
    });
    expect(pipe.cancelled).toHaveLength(1);
  });

  test("is cancelled as soon as it is over the limit, and never read to its end", async () => {
    const pipe = createPipe();
    const reading = thrownBy(readBytes(answerOf(pipe.body, { "content-length": "nonsense" }), options));
    pipe.write("12345678901");
    expect(await reading).toMatchObject({ code: "LIMIT_EXCEEDED", limit: "responseBytes" });
    expect(pipe.cancelled).toHaveLength(1);
  });

  test("closes the connection to the server", async () => {
    const server = await serve((response) => response.write("x".repeat(100_000)));
    const response = await send(server.url);
    expect(await thrownBy(readBytes(response, options))).toMatchObject({ code: "LIMIT_EXCEEDED" });
    await server.hungUp;
  });
});

describe("a body that does not come", () => {
  test("is a timeout after the idle budget, counted from the last byte", async () => {
    const pipe = createPipe();
    const reading = thrownBy(readBytes(answerOf(pipe.body), options));
    await settle();
    clock.advance(999);
    pipe.write("1");
    await settle();
    clock.advance(999);
    pipe.write("2");
    await settle();
    clock.advance(1000);
    expect(await reading).toMatchObject({ code: "TIMEOUT", budget: "idle", budgetMs: 1000 });
    expect({ cancelled: pipe.cancelled.length, timers: clock.timers }).toEqual({ cancelled: 1, timers: 0 });
  });

  test("is a connection error when the server breaks it off", async () => {
    const server = await serve((response) => {
      response.writeHead(200, { "content-length": "10" });
      response.write("123", () => response.destroy());
    });
    const response = await send(server.url);
    expect(await thrownBy(readBytes(response, options))).toMatchObject({
      code: "CONNECTION",
      neverSent: false,
    });
    expect(clock.timers).toBe(0);
  });

  test("is a timeout too when the platform's own deadline was shorter", async () => {
    const pipe = createPipe();
    const reading = thrownBy(readBytes(answerOf(pipe.body), options));
    await settle();
    clock.advance(300);
    pipe.fail(Object.assign(new TypeError("terminated"), { cause: { code: "UND_ERR_BODY_TIMEOUT" } }));
    expect(await reading).toMatchObject({ code: "TIMEOUT", budget: "idle", budgetMs: 300 });
  });

  test("ends with the caller's reason, unchanged, and closes the connection", async () => {
    const server = await serve((response) => response.write("1"));
    const controller = new AbortController();
    const response = await send(server.url);
    const reading = thrownBy(readBytes(response, { ...options, signal: controller.signal }));
    await settle();
    const reason = Symbol("enough");
    controller.abort(reason);
    expect(await reading).toBe(reason);
    await server.hungUp;
    expect(clock.timers).toBe(0);
  });

  test("is not even asked for when the caller has aborted before", async () => {
    const pipe = createPipe();
    const aborted = { ...options, signal: AbortSignal.abort("no") };
    expect(await thrownBy(readBytes(answerOf(pipe.body), aborted))).toBe("no");
    expect(pipe.cancelled).toEqual(["no"]);
  });
});

describe("the beginning of an error's body", () => {
  test("is cut at the limit instead of refused", async () => {
    const answer = answerOf(["1234567", "890123"], { "content-length": "13" });
    expect(await readBeginning(answer, options)).toMatch(/^1234567890… \(\d+ more\)$/);
  });

  test("is what came before the connection broke", async () => {
    const pipe = createPipe();
    const reading = readBeginning(answerOf(pipe.body), options);
    pipe.write("half");
    await settle();
    pipe.fail(new TypeError("terminated"));
    expect(await reading).toBe("half");
  });

  test("is what came before the server fell silent", async () => {
    const pipe = createPipe();
    const reading = readBeginning(answerOf(pipe.body), options);
    pipe.write("half");
    await settle();
    clock.advance(1000);
    expect(await reading).toBe("half");
  });

  test("is not worth an abort of the caller", async () => {
    const controller = new AbortController();
    const reading = thrownBy(
      readBeginning(answerOf(createPipe().body), { ...options, signal: controller.signal }),
    );
    controller.abort("enough");
    expect(await reading).toBe("enough");
  });
});

test("a body that nobody wants is let go of", async () => {
  const pipe = createPipe();
  discardBody(answerOf(pipe.body));
  discardBody(answerOf(null));
  expect(pipe.cancelled).toHaveLength(1);
});
