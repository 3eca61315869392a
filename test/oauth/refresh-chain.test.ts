import { TokenRequestError } from "a2a-lease";
import {
  createTokenCache,
  type OAuthOptions,
  oauthAuthorizationCode,
  oauthRefresh,
  type RefreshedToken,
} from "a2a-lease/oauth";
import { createTestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { bearerOf, contextOf, createLoginServer, json } from "./login-server.ts";

const redirectUri = "https://me.example/back";
const turns = () => new Promise((resolve) => setImmediate(resolve));

/** A login server that gives another refresh token each time, and says when it sees one that it took before. */
function setUp(more: Partial<OAuthOptions> = {}) {
  const server = createLoginServer();
  const clock = createTestClock();
  const used = new Set<string>();
  const reused: string[] = [];
  let count = 0;
  const options = {
    tokenUrl: `${server.url}/token`,
    clientId: "me",
    clock,
    scopes: (asked: readonly string[]) => asked,
    fetch: async (url: string, init: RequestInit) => {
      const { refresh_token: token } = Object.fromEntries(new URLSearchParams(String(init.body)));
      const answer = await server.fetch(url, init);
      if (token !== undefined && used.has(token)) {
        reused.push(token);
        return json({ error: "invalid_grant" }, 400);
      }
      if (token !== undefined) used.add(token);
      count += 1;
      const { access_token } = await answer.json();
      return json({ access_token, token_type: "bearer", expires_in: 60, refresh_token: `r${count}` });
    },
    ...more,
  };
  const sent = () => server.asked().map(({ form }) => form.refresh_token);
  return { server, clock, options, reused, sent };
}

const asking = (...scopes: string[]) => contextOf({}, {}, scopes);

/** Signs in by an authorization code, and counts how often. */
function signIn() {
  let count = 0;
  return {
    count: () => count,
    options: {
      redirectUri,
      authorizationUrl: "https://login.example/authorize",
      async authorize(url: string) {
        count += 1;
        return `${redirectUri}?code=c0de&state=${new URL(url).searchParams.get("state") ?? ""}`;
      },
    },
  };
}

describe("a refresh token that a server takes once", () => {
  test("is used once, whatever scopes are asked for one after the other", async () => {
    const { options, reused, sent } = setUp();
    const provider = oauthRefresh({ ...options, refreshToken: "r0" });
    for (const scope of ["read", "write", "list"]) await provider(asking(scope));

    expect(sent()).toEqual(["r0", "r1", "r2"]);
    expect(reused).toEqual([]);
  });

  test("is used once, by all who ask at the same time for different things", async () => {
    const { server, options, reused, sent } = setUp();
    const provider = oauthRefresh({ ...options, refreshToken: "r0" });
    const release = server.pause();
    const all = ["read", "write", "read", "list", "write"].map((scope) => provider(asking(scope)));
    await turns();
    expect(sent()).toEqual(["r0"]);
    release();
    const given = (await Promise.all(all)).map((item) => item?.headers?.authorization);

    expect(sent()).toEqual(["r0", "r1", "r2"]);
    expect(reused).toEqual([]);
    expect([given[0], given[1], new Set(given).size]).toEqual([given[2], given[4], 3]);
  });

  test("outlives the secret of the client", async () => {
    let secret = "first-s3cret-0123";
    const { options, reused, sent } = setUp();
    const provider = oauthRefresh({ ...options, clientSecret: () => secret, refreshToken: "r0" });
    await provider(asking());
    secret = "second-s3cret-012";
    await provider(asking());

    expect([sent(), reused]).toEqual([["r0", "r1"], []]);
  });

  test("of a sign-in outlives the secret of the client too, and each agreement has its own", async () => {
    let secret = "first-s3cret-0123";
    const { options, clock, reused, sent } = setUp();
    const user = signIn();
    const provider = oauthAuthorizationCode({ ...options, ...user.options, clientSecret: () => secret });
    await provider(asking("read"));
    await provider(asking("write"));
    secret = "second-s3cret-012";
    await provider(asking("read"));
    await clock.advance(60_000);
    await provider(asking("read"));
    await provider(asking("write"));

    expect(user.count()).toBe(2);
    expect([sent(), reused]).toEqual([[undefined, undefined, "r1", "r3", "r2"], []]);
  });

  test("stays the last one after the cache was cleared, or has forgotten what it was for", async () => {
    const cache = createTokenCache();
    const { options, reused, sent } = setUp({ cache });
    const provider = oauthRefresh({ ...options, refreshToken: "r0" });
    await provider(asking("read"));
    cache.clear();
    await provider(asking("read"));
    for (let index = 0; index < 1_000; index += 1) cache.entry(`other ${index}`);
    await provider(asking("read"));

    expect([sent(), reused]).toEqual([["r0", "r1", "r2"], []]);
  });

  test("is forgotten with the cache where a user agreed to it, who is asked once more", async () => {
    const cache = createTokenCache();
    const { options } = setUp({ cache });
    const user = signIn();
    const provider = oauthAuthorizationCode({ ...options, ...user.options });
    await provider(asking("read"));
    cache.clear();
    await provider(asking("read"));

    expect(user.count()).toBe(2);
  });

  test("belongs to the server that took it, and is shown to no other one", async () => {
    const { server, options, sent } = setUp();
    const { tokenUrl: _none, ...rest } = options;
    const provider = oauthRefresh({ ...rest, trustCardUrlsAt: [server.url], refreshToken: "r0" });
    const flow = (path: string) => ({
      oauth2SecurityScheme: { flows: { authorizationCode: { tokenUrl: `${server.url}${path}` } } },
    });
    await provider(contextOf({}, flow("/token")));

    expect(await caught(provider(contextOf({}, flow("/other"))))).toMatchObject({ reason: "refused" });
    expect(server.requests.map(({ path }) => path)).toEqual(["/token"]);
    expect(sent()).toEqual(["r0"]);
  });

  test("that does not reach as far is kept, and the user is asked for the rest", async () => {
    const { server, options } = setUp();
    const user = signIn();
    const narrow = async (url: string, init: RequestInit) => {
      const { refresh_token: token, scope } = Object.fromEntries(new URLSearchParams(String(init.body)));
      if (token === undefined || scope === "read") return options.fetch(url, init);
      return json({ error: "invalid_scope" }, 400);
    };
    const shared = { ...options, fetch: narrow, refreshToken: "r0" };
    const provider = oauthAuthorizationCode({ ...shared, ...user.options });
    expect(await provider(asking("write"))).toEqual(bearerOf("token-1"));
    expect(await provider(asking("read"))).toEqual(bearerOf("token-2"));
    const alone = oauthRefresh(shared);

    expect(user.count()).toBe(1);
    expect(server.asked().at(-1)?.form.refresh_token).toBe("r0");
    expect(await caught(alone(asking("write")))).toMatchObject({ oauthError: "invalid_scope" });
  });
});

describe("who is told of a new refresh token", () => {
  test("and never comes back holds nobody up for ever, and the token counts", async () => {
    const { options, clock, sent } = setUp({ timeoutMs: 5_000 });
    const told: RefreshedToken[] = [];
    const provider = oauthRefresh({
      ...options,
      refreshToken: "r0",
      onRefreshed(token) {
        told.push(token);
        return told.length === 1 ? new Promise<void>(() => {}) : undefined;
      },
    });
    const first = caught(provider(asking("read")), TokenRequestError);
    const other = provider(asking("write"));
    await turns();
    expect(sent()).toEqual(["r0"]);
    await clock.advance(5_000);

    expect(await first).toMatchObject({
      reason: "not-kept",
      message: expect.stringContaining("found that onRefreshed was not done within 5000 ms, wanted"),
    });
    expect(await other).toEqual(bearerOf("token-2"));
    expect(await provider(asking("read"))).toEqual(bearerOf("token-1"));
    expect(told.map(({ refreshToken }) => refreshToken)).toEqual(["r1", "r2"]);
    expect([sent(), clock.pendingCount]).toEqual([["r0", "r1"], 0]);
  });

  test("and fails, fails the call by a typed error without the token", async () => {
    const { options } = setUp();
    const server = createLoginServer();
    server.answer({ access_token: "t", token_type: "bearer", refresh_token: "r1-s3cret-0123456" });
    const provider = oauthRefresh({
      ...options,
      fetch: server.fetch,
      refreshToken: "r0",
      onRefreshed({ refreshToken }) {
        throw new Error(`no room for ${refreshToken}`);
      },
    });
    const error = await caught(provider(asking()), TokenRequestError);

    expect(error.message).toContain('found that onRefreshed threw "no room for ***", wanted');
    expect(error).toMatchObject({ reason: "not-kept" });
    expect(error.cause).toBeUndefined();
    expect(await provider(asking())).toEqual(bearerOf("t"));
  });

  test("is not told of one that the server left in its place", async () => {
    const { options } = setUp();
    const server = createLoginServer();
    server.answer({ access_token: "t", token_type: "bearer", refresh_token: "r0" });
    const told: unknown[] = [];
    const onRefreshed = (token: unknown) => void told.push(token);
    await oauthRefresh({ ...options, fetch: server.fetch, refreshToken: "r0", onRefreshed })(asking());

    expect(told).toEqual([]);
  });
});
