import { createTestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { CardAuthError, CardUnreachableError, CardUnreadableError } from "../../src/errors/card.ts";
import { ConnectionError, RedirectRefusedError, TimeoutError } from "../../src/errors/transport.ts";
import { baseCard, rejectionOf } from "./cards.ts";
import { type Answer, bodyOf, createReader, createWeb, json, silence, status } from "./reader.ts";

const url = "https://agent.example/card.json?assistant=9";
const { signal } = new AbortController();
const bearer = async () => ({ headers: { authorization: "Bearer s3cr3t" } });
const guarded: Answer = ({ headers }) =>
  headers.authorization === "Bearer s3cr3t" ? json({}) : status(401, { "www-authenticate": "Bearer" });

describe("a read", () => {
  test("asks for the URL verbatim, with the version, past every cache", async () => {
    const web = createWeb({ [url]: json({ a: 1 }, { etag: '"v1"', "last-modified": "then", age: "7" }) });
    const read = createReader(web, { headers: { "x-own": "1", "A2A-Version": "0.3" } });
    const answer = await read({ url, signal });
    expect([answer, bodyOf(answer)]).toEqual([
      expect.objectContaining({
        kind: "card",
        validators: { etag: '"v1"', lastModified: "then" },
        mediaType: "application/json",
        ageSeconds: 7,
      }),
      '{"a":1}',
    ]);
    expect(web.asked).toEqual([
      {
        url,
        headers: {
          accept: "application/json",
          "a2a-version": "1.0",
          "cache-control": "no-cache",
          "x-own": "1",
        },
        cache: "no-store",
      },
    ]);
  });

  test("with a validator asks whether the card changed (B1)", async () => {
    const web = createWeb({ [url]: status(304, { etag: '"v1"' }) });
    const answer = await createReader(web)({
      url,
      signal,
      validators: { etag: '"v1"', lastModified: "then" },
    });
    expect(answer).toMatchObject({ kind: "not-modified", validators: { etag: '"v1"' } });
    expect(web.asked).toEqual([
      {
        url,
        headers: { accept: "application/json", "a2a-version": "1.0", "if-none-match": '"v1"' },
        cache: "no-cache",
      },
    ]);
  });

  test("asks by the date where there is no tag", async () => {
    const web = createWeb({ [url]: status(304) });
    await createReader(web)({ url, signal, validators: { lastModified: "then" } });
    expect(web.asked[0]?.headers).toMatchObject({ "if-modified-since": "then" });
  });

  test.each([404, 405, 410])("that is answered %s finds nothing there", async (code) => {
    const answer = await createReader(createWeb({ [url]: status(code) }))({ url, signal });
    expect(answer).toEqual({ kind: "absent", status: code });
  });

  test.each([
    [500, {}, undefined],
    [503, { "retry-after": "30" }, 30_000],
    [429, { "retry-after": "2" }, 2_000],
    [503, { "retry-after": "Thu, 01 Jan 2026 00:01:00 GMT" }, 60_000],
    [204, {}, undefined],
    [304, {}, undefined],
    [400, {}, undefined],
  ])("that is answered %s with %j can't tell now", async (code, headers, retryAfterMs) => {
    const error = await rejectionOf(
      createReader(createWeb({ [url]: status(code, headers) }))({ url, signal }),
    );
    expect(error).toBeInstanceOf(CardUnreachableError);
    expect(error).toMatchObject({ url, status: code, attemptCount: 1, retry: "safe", nextStep: "wait" });
    expect((error as CardUnreachableError).retryAfterMs).toBe(retryAfterMs);
  });

  test("that the server asked to put off is put off without a request, until the time is over (A14)", async () => {
    const clock = createTestClock();
    const web = createWeb({
      [url]: [status(503, { "retry-after": "30" }), status(503, { "retry-after": "5" }), json({})],
    });
    const read = createReader(web, { clock });
    await rejectionOf(read({ url, signal }));
    await clock.advance(29_000);
    const errors = [await rejectionOf(read({ url, signal })), await rejectionOf(read({ url, signal }))];
    expect(errors).toEqual(
      Array(2).fill(expect.objectContaining({ retryAfterMs: 1_000, status: 503, attemptCount: 1 })),
    );
    expect(web.asked).toHaveLength(1);
    await clock.advance(1_000);
    expect(await rejectionOf(read({ url, signal }))).toMatchObject({ retryAfterMs: 5_000 });
    await clock.advance(5_000);
    expect(await read({ url, signal })).toMatchObject({ kind: "card" });
    expect(web.asked).toHaveLength(3);
  });

  test("takes one mebibyte and not a byte more", async () => {
    const sized = (bytes: number) =>
      createReader(createWeb({ [url]: json("x".repeat(bytes)) }))({ url, signal });
    expect(bodyOf(await sized(1024 * 1024))).toHaveLength(1024 * 1024);
    const error = await rejectionOf(sized(1024 * 1024 + 1));
    expect(error).toBeInstanceOf(CardUnreadableError);
    expect(error).toMatchObject({
      url,
      reason: "too-large",
      message: expect.stringContaining("found more than 1048576 bytes"),
    });
  });

  test("fails as the connection does", async () => {
    const error = await rejectionOf(
      createReader(createWeb({ [url]: new TypeError("fetch failed") }))({ url, signal }),
    );
    expect(error).toBeInstanceOf(ConnectionError);
  });
});

describe("a read behind authentication", () => {
  test.each([401, 403])("without credentials is refused with %s, once", async (code) => {
    const web = createWeb({ [url]: status(code, { "www-authenticate": 'Bearer realm="agents"' }) });
    const error = await rejectionOf(createReader(web)({ url, signal }));
    expect(error).toBeInstanceOf(CardAuthError);
    expect(error).toMatchObject({
      url,
      status: code,
      challenge: 'Bearer realm="agents"',
      attempts: [{ url, status: code }],
      message: `the agent card at ${url} answered ${code}, wanted 200; the server asks for Bearer realm="agents"`,
    });
    expect(web.asked).toHaveLength(1);
  });

  test("shows them when they are asked for, and from then on unasked", async () => {
    const web = createWeb({ [url]: guarded });
    const asked: unknown[] = [];
    const read = createReader(web, {
      authorize: async ({ url: forUrl, challenge }) => {
        asked.push([forUrl, challenge]);
        return bearer();
      },
    });
    await read({ url, signal });
    await read({ url, signal });
    expect(web.asked.map(({ headers }) => headers.authorization)).toEqual([
      undefined,
      "Bearer s3cr3t",
      "Bearer s3cr3t",
    ]);
    expect(asked).toEqual([
      [url, "Bearer"],
      [url, undefined],
    ]);
  });

  test("shows them from the start where the caller says so", async () => {
    const web = createWeb({ [url]: guarded });
    await createReader(web, { authorize: bearer, alwaysAuthorize: true })({ url, signal });
    expect(web.asked.map(({ headers }) => headers.authorization)).toEqual(["Bearer s3cr3t"]);
  });

  test("shows them once more at most, and tells when they are not enough", async () => {
    const web = createWeb({ [url]: status(403) });
    const error = await rejectionOf(createReader(web, { authorize: bearer })({ url, signal }));
    expect([error, web.asked.length]).toEqual([
      expect.objectContaining({ name: "CardAuthError", status: 403 }),
      2,
    ]);
  });

  test("is refused where the caller has none to give", async () => {
    const web = createWeb({ [url]: guarded });
    const error = await rejectionOf(createReader(web, { authorize: async () => undefined })({ url, signal }));
    expect([error, web.asked.length]).toEqual([
      expect.objectContaining({ name: "CardAuthError", status: 401 }),
      1,
    ]);
  });

  test("ends at its budget though whoever gives credentials never answers", async () => {
    const clock = createTestClock();
    const reading = rejectionOf(
      createReader(createWeb({ [url]: guarded }), { clock, authorize: () => new Promise(() => {}) })({
        url,
        signal,
      }),
    );
    await clock.advance(30_000);
    expect(await reading).toMatchObject({ name: "TimeoutError", budget: "total", budgetMs: 30_000 });
    expect(clock.pendingCount).toBe(0);
  });
});

describe("a redirect", () => {
  test("within the origin is followed, with the same headers", async () => {
    const web = createWeb({
      [url]: status(302, { location: "/moved" }),
      "https://agent.example/moved": status(308, { location: "https://agent.example/there" }),
      "https://agent.example/there": guarded,
    });
    await createReader(web, { authorize: bearer, alwaysAuthorize: true })({ url, signal });
    expect(web.asked.map((asked) => [asked.url, asked.headers.authorization])).toEqual([
      [url, "Bearer s3cr3t"],
      ["https://agent.example/moved", "Bearer s3cr3t"],
      ["https://agent.example/there", "Bearer s3cr3t"],
    ]);
  });

  test.each([
    ["another host", "https://evil.example/card?token=s3cr3t", "https://evil.example/card?token=***"],
    ["another scheme", "http://agent.example/card", "http://agent.example/card"],
    ["another port", "https://agent.example:8443/card", "https://agent.example:8443/card"],
    ["no URL", "https://", undefined],
    ["a blob of the same origin", "blob:https://agent.example/card", "blob:https://agent.example/card"],
  ])("to %s is refused, and nothing is sent there (G1)", async (_what, location, shown) => {
    const web = createWeb({ [url]: status(302, { location }) });
    const read = createReader(web, { authorize: bearer, alwaysAuthorize: true });
    const error = (await rejectionOf(read({ url, signal }))) as RedirectRefusedError;
    expect(error).toBeInstanceOf(RedirectRefusedError);
    expect([error.url, error.status, error.location]).toEqual([url, 302, shown]);
    expect(web.asked.map((asked) => asked.url)).toEqual([url]);
  });

  test("without a target is refused", async () => {
    expect(await rejectionOf(createReader(createWeb({ [url]: status(302) }))({ url, signal }))).toMatchObject(
      {
        name: "RedirectRefusedError",
        status: 302,
      },
    );
  });

  test("in a circle is followed five times", async () => {
    const web = createWeb({ [url]: status(307, { location: url }) });
    expect(await rejectionOf(createReader(web)({ url, signal }))).toBeInstanceOf(RedirectRefusedError);
    expect(web.asked).toHaveLength(6);
  });
});

describe("a read's time", () => {
  test("ends when no head of an answer comes", async () => {
    const clock = createTestClock();
    const reading = rejectionOf(createReader(createWeb({ [url]: silence }), { clock })({ url, signal }));
    await clock.advance(10_000);
    const error = await reading;
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ budget: "first-byte", budgetMs: 10_000 });
    expect(clock.pendingCount).toBe(0);
  });

  test("ends as a whole, however the body trickles on", async () => {
    const clock = createTestClock();
    let stop = () => {};
    const trickle: Answer = () =>
      new Response(
        new ReadableStream<Uint8Array>({
          async pull(controller) {
            await new Promise<void>((resolve) => {
              stop = clock.schedule(5_000, resolve);
            });
            controller.enqueue(new Uint8Array([0x20]));
          },
          cancel: () => stop(),
        }),
      );
    const reading = rejectionOf(createReader(createWeb({ [url]: trickle }), { clock })({ url, signal }));
    await clock.advance(30_000);
    const error = await reading;
    expect(error).toMatchObject({ name: "TimeoutError", budget: "total", budgetMs: 30_000 });
    expect(clock.pendingCount).toBe(0);
  });

  test("ends with the caller's reason, unchanged, and leaves no timer", async () => {
    const clock = createTestClock();
    const controller = new AbortController();
    const reason = { why: "left" };
    const reading = rejectionOf(
      createReader(createWeb({ [url]: silence }), { clock })({ url, signal: controller.signal }),
    );
    await clock.advance(1_000);
    controller.abort(reason);
    expect([await reading, clock.pendingCount]).toEqual([reason, 0]);
  });

  test("is over before it begins for a caller who left", async () => {
    const web = createWeb({ [url]: json(baseCard()) });
    expect(await rejectionOf(createReader(web)({ url, signal: AbortSignal.abort("left") }))).toBe("left");
    expect(web.asked).toEqual([]);
  });
});
