import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { type FetchLike, TokenRequestError } from "a2a-lease";
import { oauthClientCredentials, oauthRefresh } from "a2a-lease/oauth";
import { createTestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { contextOf, createLoginServer, json } from "./login-server.ts";

const tokenUrl = "https://login.example/token";
const clientSecret = "cl13nt-s3cret-0123";

async function told(fetch: FetchLike, more: object = {}) {
  const provider = oauthClientCredentials({ tokenUrl, clientId: "me", clientSecret, fetch, ...more });
  return caught(provider(contextOf()), TokenRequestError);
}

const failing = (code: string | undefined, message: string) => async () => {
  const cause = Object.assign(new Error(message), code === undefined ? {} : { code });
  throw Object.assign(new TypeError("fetch failed"), { cause });
};

describe("a server that can't be reached says in the message why", () => {
  test.each([
    [
      "ECONNREFUSED",
      "connect ECONNREFUSED 192.0.2.1:443",
      "found a connection that was refused (ECONNREFUSED), wanted",
    ],
    ["ENOTFOUND", "getaddrinfo ENOTFOUND", "found no address for the name of the server (ENOTFOUND), wanted"],
    ["ECONNRESET", "read ECONNRESET", "found a connection that was cut off (ECONNRESET), wanted"],
    ["UND_ERR_CONNECT_TIMEOUT", "timeout", "found no connection in time (UND_ERR_CONNECT_TIMEOUT), wanted"],
    [
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "x",
      "found no certificate that can be trusted (DEPTH_ZERO_SELF_SIGNED_CERT)",
    ],
    [
      undefined,
      "the proxy is away",
      "found that the connection to https://login.example/token failed: fetch failed: the proxy is away, wanted",
    ],
  ])("%s", async (code, words, message) => {
    const error = await told(failing(code, words));

    expect(error.message).toContain(`https://login.example/token: ${message}`);
    expect(error).toMatchObject({ reason: "unreachable", retry: "safe", cause: { code: "CONNECTION" } });
  });

  test("nobody listens", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const error = await told(globalThis.fetch, { tokenUrl: `http://127.0.0.1:${port}/token` });

    expect(error.message).toContain("found a connection that was refused (ECONNREFUSED), wanted an answer");
  });

  test("the time is up", async () => {
    const clock = createTestClock();
    const waiting = told(() => new Promise(() => {}), { timeoutMs: 5_000, clock });
    await clock.advance(5_000);

    expect((await waiting).message).toContain("found no answer within 5000 ms, wanted");
  });

  test.each([
    [
      503,
      { error: "temporarily_unavailable" },
      "found HTTP 503 with the OAuth error temporarily_unavailable, wanted",
    ],
    [429, { error: "slow_down" }, "found HTTP 429 with the OAuth error slow_down, wanted"],
    [500, { error: `no ${clientSecret}` }, "found HTTP 500 with the OAuth error no ***, wanted"],
    [500, { error: "x".repeat(101) }, "found HTTP 500, wanted"],
    [500, { error: { deep: 1 } }, "found HTTP 500, wanted"],
    [502, [], "found HTTP 502, wanted"],
  ])("HTTP %i with %j", async (status, body, message) => {
    const error = await told(async () => json(body, status));

    expect(error.message).toContain(message);
    expect(error).toMatchObject({ reason: "unreachable", retry: "safe", status });
    expect(inspect(error, { depth: 9 })).not.toContain(clientSecret);
  });

  test("HTTP 503 with words that never end is told without them", async () => {
    const clock = createTestClock();
    const body = new ReadableStream({ start: (out) => out.enqueue(new TextEncoder().encode('{"error":')) });
    const waiting = told(async () => new Response(body, { status: 503 }), { clock });
    await clock.advance(1_000);

    expect((await waiting).message).toContain("found HTTP 503, wanted");
  });

  test("a refusal, with its status", async () => {
    const refused = await told(async () => json({ error: "invalid_client", error_description: "no" }, 401));
    expect(refused.message).toContain("found HTTP 401 with the OAuth error invalid_client: no");

    const missing = await told(async () => new Response("", { status: 404 }));
    expect(missing.message).toContain("found an answer that can't be used (HTTP 404)");
  });

  test("and no secret of the request, whatever the platform repeats", async () => {
    const repeating: FetchLike = async (_url, { body }) => {
      throw new TypeError(`failed with ${decodeURIComponent(String(body))}`);
    };
    const shared = { tokenUrl, clientId: "me", clientSecret, fetch: repeating } as const;
    const provider = oauthRefresh({
      ...shared,
      clientAuthentication: "post",
      refreshToken: "r3fresh-0123456",
    });
    const error = await caught(provider(contextOf()), TokenRequestError);

    expect(error.message).toContain("found that the connection");
    expect(inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error)).not.toMatch(
      /cl13nt-s3cret|r3fresh-0123/,
    );
  });
});

test("an address that the way there refuses is no server that is away", async () => {
  const { createNodeFetch } = await import("a2a-lease/node");
  const fetch = createNodeFetch({ lookup: async () => [{ address: "10.0.0.7", family: 4 }] });
  const error = await told(fetch);
  await fetch.close();

  expect(error).toMatchObject({ reason: "insecure-url", cause: { code: "ADDRESS_REFUSED" } });
  expect(createLoginServer().requests).toEqual([]);
});
