import { describe, expect, test } from "vitest";
import {
  AddressRefusedError,
  ConnectionError,
  RedirectRefusedError,
  TimeoutError,
} from "../../src/errors/transport.ts";
import { discardBody, readText } from "../../src/wire/body.ts";
import { createHttp, type FetchLike, type HttpRequest } from "../../src/wire/http.ts";
import { createPipe, thrownBy } from "./answers.ts";
import { createFakeClock } from "./fake-clock.ts";
import { closedPort, serve } from "./loopback.ts";

const clock = createFakeClock();
const network: FetchLike = (url, init) => fetch(url, init);
const request = (url: string, more: Partial<HttpRequest> = {}): HttpRequest => ({
  url,
  method: "POST",
  headers: { "content-type": "application/json" },
  body: "{}",
  signal: new AbortController().signal,
  firstByteMs: 1000,
  ...more,
});
const http = createHttp({ fetch: network, clock });
const send = (url: string, more?: Partial<HttpRequest>) => http(request(url, more));
const bodyOptions = {
  clock,
  signal: new AbortController().signal,
  idleMs: 1000,
  maxBytes: 1000,
  limit: "responseBytes",
};

describe("an exchange", () => {
  test("sends method, headers and body as given, and gives the head with the body unread", async () => {
    const server = await serve((response) => {
      response.writeHead(202, {
        "content-type": "Application/JSON; charset=utf-8",
        "retry-after": "7",
        "x-more": "1",
      });
      response.end(`{"a":1}`);
    });
    const headers = { "content-type": "application/json", authorization: "Bearer abc", "x-own": "2" };
    const response = await send(`${server.url}/rpc?q=%20`, { headers, body: `{"b":2}` });
    expect(server.seen).toEqual([
      { method: "POST", url: "/rpc?q=%20", body: `{"b":2}`, headers: expect.objectContaining(headers) },
    ]);
    expect(response).toMatchObject({
      url: `${server.url}/rpc?q=%20`,
      status: 202,
      mediaType: "application/json",
      retryAfterMs: 7000,
    });
    expect(response.headers.get("x-more")).toBe("1");
    expect(await readText(response, bodyOptions)).toBe(`{"a":1}`);
  });

  test.each([400, 401, 404, 429, 500, 503])(
    "gives a status of %d back, once and without an error",
    async (status) => {
      const server = await serve((response) => response.writeHead(status).end("no"));
      const response = await send(server.url, { method: "GET", body: undefined as never });
      expect(response.status).toBe(status);
      expect(await readText(response, bodyOptions)).toBe("no");
      expect(server.seen).toHaveLength(1);
    },
  );

  test("is made once, also where a read could be made again", async () => {
    let calls = 0;
    const exchange = createHttp({
      clock,
      fetch: async () => {
        calls++;
        throw new TypeError("fetch failed");
      },
    });
    await thrownBy(exchange(request("https://agent.example/", { method: "GET" })));
    expect(calls).toBe(1);
  });

  test("hands the platform nothing but what the platform knows", async () => {
    const seen: RequestInit[] = [];
    const exchange = createHttp({
      clock,
      fetch: async (_url, init) => {
        seen.push(init);
        return new Response(null);
      },
    });
    await exchange(request("https://agent.example/", { method: "GET", cache: "no-cache" }));
    expect(Object.keys(seen[0] ?? {}).sort()).toEqual([
      "body",
      "cache",
      "headers",
      "method",
      "redirect",
      "signal",
    ]);
    expect(seen[0]).toMatchObject({ redirect: "manual", cache: "no-cache", method: "GET" });
  });

  test("leaves no timer and no listener behind", async () => {
    const server = await serve((response) => response.end("ok"));
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    discardBody(await send(server.url, { signal }));
    expect({ listeners, timers: clock.timers }).toEqual({ listeners: 0, timers: 0 });
  });

  test("refuses a header that no header can be, and does not repeat its value", async () => {
    const error = await thrownBy(
      send("https://agent.example/", { headers: { authorization: "Bearer s3cr3t\nx: y" } }),
    );
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain("authorization");
    expect(String(error)).not.toContain("s3cr3t");
  });
});

describe("a redirect", () => {
  test.each([301, 302, 303, 307, 308, 300])(
    "of status %d is refused, and its target never called",
    async (status) => {
      const other = await serve((response) => response.end("stolen"));
      const server = await serve((response) =>
        response.writeHead(status, { location: `${other.url}/x?token=abc` }).end("moved"),
      );
      const error = await thrownBy(send(server.url, { headers: { authorization: "Bearer abc" } }));
      expect(error).toBeInstanceOf(RedirectRefusedError);
      expect(error).toMatchObject({ status, location: `${other.url}/x?token=***` });
      expect(other.seen).toEqual([]);
    },
  );

  test("is given back without its body to a caller that asks for it", async () => {
    const server = await serve((response) =>
      response.writeHead(302, { location: "/card?token=abc" }).end("moved"),
    );
    const response = await send(server.url, { redirect: "return" });
    expect(response).toMatchObject({ status: 302, body: null });
    expect(response.headers.get("location")).toBe("/card?token=abc");
  });

  test("is not left with its body open, refused or given back", async () => {
    for (const redirect of ["refuse", "return"] as const) {
      const pipe = createPipe();
      const exchange = createHttp({ clock, fetch: async () => new Response(pipe.body, { status: 302 }) });
      await thrownBy(exchange(request("https://agent.example/", { redirect })));
      expect(pipe.cancelled).toHaveLength(1);
    }
  });

  test("without a readable target is refused all the same", async () => {
    const server = await serve((response) => response.writeHead(302).end());
    const error = await thrownBy(send(server.url));
    expect(error).toMatchObject({ code: "REDIRECT_REFUSED", status: 302 });
    expect((error as RedirectRefusedError).location).toBeUndefined();
  });

  test("that the platform hides or has followed is refused whatever the caller asks for", async () => {
    const hidden = Object.defineProperties(new Response(null), {
      type: { value: "opaqueredirect" },
      status: { value: 0 },
    });
    const followed = Object.defineProperties(new Response("x"), {
      redirected: { value: true },
      url: { value: "https://evil.example/" },
    });
    for (const [answer, location] of [
      [hidden, undefined],
      [followed, "https://evil.example/"],
    ] as const) {
      const exchange = createHttp({ clock, fetch: async () => answer });
      const error = await thrownBy(exchange(request("https://agent.example/", { redirect: "return" })));
      expect(error).toMatchObject({ code: "REDIRECT_REFUSED", status: 0, ...(location ? { location } : {}) });
    }
  });

  test("is not what a 304 is", async () => {
    const server = await serve((response) => response.writeHead(304, { etag: `"1"` }).end());
    expect((await send(server.url)).status).toBe(304);
  });
});

describe("an exchange that fails", () => {
  test("names a refused connection and knows that nothing was sent", async () => {
    const error = await thrownBy(send(`http://127.0.0.1:${await closedPort()}/`));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ systemCode: "ECONNREFUSED", neverSent: true });
  });

  test("does not say that nothing was sent when the server hung up after the request", async () => {
    const server = await serve((response) => response.destroy());
    expect(await thrownBy(send(server.url))).toMatchObject({ code: "CONNECTION", neverSent: false });
  });

  test.each([
    ["throws at once", () => fail(new TypeError("broken seam"))],
    ["throws a text", () => fail("broken seam")],
    ["throws nothing at all", () => fail(undefined)],
    ["rejects with null", () => Promise.reject(null)],
    ["rejects with an object without a prototype", () => Promise.reject(Object.create(null))],
    ["resolves to nothing", () => Promise.resolve(undefined as never)],
    ["resolves to something else", () => Promise.resolve("ok" as never)],
    ["resolves to an error response", () => Promise.resolve(Response.error())],
  ])("is a connection error when fetch %s", async (_what, broken: FetchLike) => {
    const exchange = createHttp({ clock, fetch: broken });
    expect(await thrownBy(exchange(request("https://agent.example/")))).toMatchObject({
      code: "CONNECTION",
      neverSent: false,
    });
  });

  test("lets an error of this library pass as it is", async () => {
    const refused = new AddressRefusedError("https://10.0.0.1/", "a private address");
    const exchange = createHttp({ clock, fetch: () => Promise.reject(refused) });
    expect(await thrownBy(exchange(request("https://10.0.0.1/")))).toBe(refused);
  });

  test("shows no secret of the request anywhere", async () => {
    const thrown = await thrownBy(
      send(`http://127.0.0.1:${await closedPort()}/?api_key=s3cr3t`, {
        headers: { authorization: "Bearer s3cr3t" },
      }),
    );
    const error = thrown as ConnectionError;
    expect(
      `${error.message}${error.stack}${JSON.stringify(error)}${JSON.stringify(error.cause)}`,
    ).not.toContain("s3cr3t");
  });
});

describe("a head that does not come", () => {
  test("is a timeout of the first byte after its budget, and the connection is closed", async () => {
    const server = await serve(() => {});
    const arrived = server.arrived();
    const answer = thrownBy(send(server.url));
    await arrived;
    clock.advance(999);
    clock.advance(1);
    const error = await answer;
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ budget: "first-byte", budgetMs: 1000 });
    await server.hungUp;
    expect(clock.timers).toBe(0);
  });

  test("has no deadline of ours where the budget is infinite", async () => {
    const server = await serve((response) => response.end("ok"));
    expect((await send(server.url, { firstByteMs: Number.POSITIVE_INFINITY })).status).toBe(200);
  });

  test("is a timeout too when the platform's own deadline was shorter", async () => {
    const late = Object.assign(new TypeError("fetch failed"), {
      cause: Object.assign(new Error("Headers Timeout Error"), { code: "UND_ERR_HEADERS_TIMEOUT" }),
    });
    const exchange = createHttp({
      clock,
      fetch: () => {
        clock.advance(300);
        return Promise.reject(late);
      },
    });
    expect(await thrownBy(exchange(request("https://agent.example/")))).toMatchObject({
      code: "TIMEOUT",
      budget: "first-byte",
      budgetMs: 300,
    });
  });

  test("that comes too late is not kept: its body is cancelled", async () => {
    let deliver: (response: Response) => void = () => {};
    const exchange = createHttp({ clock, fetch: () => new Promise((resolve) => (deliver = resolve)) });
    const answer = thrownBy(exchange(request("https://agent.example/")));
    clock.advance(1000);
    expect(await answer).toMatchObject({ code: "TIMEOUT" });
    const cancelled = new Promise((resolve) => {
      deliver(new Response(new ReadableStream({ cancel: resolve })));
    });
    await cancelled;
  });
});

describe("the caller's abort", () => {
  test("rejects with its reason unchanged and closes the connection", async () => {
    const server = await serve(() => {});
    const arrived = server.arrived();
    const controller = new AbortController();
    const answer = thrownBy(send(server.url, { signal: controller.signal }));
    await arrived;
    const reason = { why: "enough" };
    controller.abort(reason);
    expect(await answer).toBe(reason);
    await server.hungUp;
  });

  test("before the call keeps the request from being sent", async () => {
    let calls = 0;
    const exchange = createHttp({
      clock,
      fetch: async () => {
        calls++;
        return new Response();
      },
    });
    const error = await thrownBy(
      exchange(request("https://agent.example/", { signal: AbortSignal.abort("no") })),
    );
    expect({ error, calls, timers: clock.timers }).toEqual({ error: "no", calls: 0, timers: 0 });
  });
});

function fail(thrown: unknown): never {
  throw thrown;
}
