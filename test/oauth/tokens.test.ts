import { inspect } from "node:util";
import { A2ALeaseError } from "a2a-lease";
import {
  createTokenCache,
  oauthAuthorizationCode,
  oauthClientCredentials,
  oauthDeviceCode,
  oauthRefresh,
  openIdConnect,
} from "a2a-lease/oauth";
import { createTestClock } from "a2a-lease/testing";
import { describe, expect, test, vi } from "vitest";
import { caught } from "../flow/caught.ts";
import { bearerOf, contextOf, createLoginServer, json } from "./login-server.ts";

const clientSecret = "cl13nt-s3cret-0123";

function setUp(more: Partial<Parameters<typeof oauthClientCredentials>[0]> = {}) {
  const server = createLoginServer();
  const clock = createTestClock();
  const options = { issuer: server.url, clientId: "me", clientSecret, fetch: server.fetch, clock, ...more };
  return { server, clock, options, provider: oauthClientCredentials(options) };
}

describe("a token by client credentials", () => {
  test("is asked for once and used until shortly before its end", async () => {
    const { server, clock, provider } = setUp({
      scopes: ["read", "write"],
      audience: "aud",
      resource: "https://r.example",
    });

    expect(await provider(contextOf())).toEqual(bearerOf("token-1"));
    await clock.advance(569_000);
    expect(await provider(contextOf())).toEqual(bearerOf("token-1"));
    await clock.advance(1_000);
    expect(await provider(contextOf())).toEqual(bearerOf("token-2"));
    expect(server.asked()).toHaveLength(2);
    expect(server.asked()[0]).toEqual({
      method: "POST",
      path: "/token",
      authorization: `Basic ${btoa(`me:${clientSecret.replaceAll("-", "%2D")}`)}`,
      form: {
        grant_type: "client_credentials",
        scope: "read write",
        audience: "aud",
        resource: "https://r.example",
      },
    });
  });

  test("that was refused is not given again, and a newer one is", async () => {
    const { server, provider } = setUp();
    await provider(contextOf());
    const refused = contextOf({ challenge: "Bearer", refused: bearerOf("token-1") });

    expect(await provider(refused)).toEqual(bearerOf("token-2"));
    // Another call whose refusal came later learns of the new token.
    expect(await provider(refused)).toEqual(bearerOf("token-2"));
    expect(server.asked()).toHaveLength(2);
  });

  test("is asked for once by all who want it at the same time, whoever leaves", async () => {
    const { server, provider } = setUp();
    const release = server.pause();
    const leaving = new AbortController();
    const first = caught(provider(contextOf({ signal: leaving.signal })));
    const others = Array.from({ length: 20 }, () => provider(contextOf()));
    leaving.abort("gone");

    expect(await first).toBe("gone");
    release();
    expect(new Set((await Promise.all(others)).map((given) => given?.headers?.authorization)).size).toBe(1);
    expect(server.asked()).toHaveLength(1);
  });

  test("without an end is kept, and one shorter than the margin is used for half of its life", async () => {
    const { server, clock, provider } = setUp();
    server.answer({ access_token: "short", token_type: "bearer", expires_in: 10 });
    expect(await provider(contextOf())).toEqual(bearerOf("short"));
    await clock.advance(4_900);
    expect(await provider(contextOf())).toEqual(bearerOf("short"));
    await clock.advance(200);
    server.answer({ access_token: "endless", token_type: "bearer" });
    expect(await provider(contextOf())).toEqual(bearerOf("endless"));
    await clock.advance(1e9);
    expect(await provider(contextOf())).toEqual(bearerOf("endless"));
  });

  test("is asked for with the scopes that the caller picks, not with those of the card", async () => {
    const { server, options, provider } = setUp({ scopes: ["read"] });
    await provider(contextOf({}, {}, ["admin"]));
    const picking = oauthClientCredentials({
      ...options,
      scopes: (asked) => asked.filter((scope) => scope !== "admin"),
    });
    await picking(contextOf({}, {}, ["admin", "read", "list"]));

    expect(server.asked().map(({ form }) => form.scope)).toEqual(["read", "read list"]);
  });
});

describe("scopes", () => {
  const redirectUri = "https://app.example/back";
  const asked = contextOf({}, {}, ["summarize", "read"]);

  test("are those of the requirement that was chosen, where the caller says nothing of them", async () => {
    const { server, options, provider } = setUp();
    await provider(asked);
    await oauthClientCredentials({ ...options, scopes: [] })(asked);
    const visited: URL[] = [];
    const authorize = async (url: string) => {
      visited.push(new URL(url));
      return `${redirectUri}?code=c0de&state=${visited[0]?.searchParams.get("state")}`;
    };
    await oauthAuthorizationCode({ ...options, redirectUri, authorize })(asked);
    // What is left out of a refresh is all that was agreed to.
    await oauthRefresh({ ...options, refreshToken: "r0" })(asked);

    expect(visited[0]?.searchParams.get("scope")).toBe("summarize read");
    expect(server.asked().map(({ form }) => form.scope)).toEqual([
      "summarize read",
      undefined,
      undefined,
      undefined,
    ]);
  });

  test.each([
    ["too many of them", Array.from({ length: 101 }, (_, index) => `s${index}`)],
    ["one that is too long", ["s".repeat(301)]],
    ["one that is none", ['a"b']],
    ["an empty one", [""]],
  ])("of a card with %s are not asked for", async (_what, scopes) => {
    const { server, options, provider } = setUp();

    expect(await caught(provider(contextOf({}, {}, scopes)))).toMatchObject({
      code: "TOKEN_REQUEST",
      reason: "discovery",
      message: expect.stringContaining("on the agent card"),
    });
    expect(server.requests).toEqual([]);
    await oauthClientCredentials({ ...options, scopes: ["read"] })(contextOf({}, {}, scopes));
    expect(server.asked()[0]?.form.scope).toBe("read");
  });
});

describe("a cache of tokens", () => {
  test("is shared by providers that ask for the same, and by no others", async () => {
    const cache = createTokenCache();
    const { server, options } = setUp({ cache });
    const variants = [
      {},
      {},
      { clientId: "other" },
      { clientSecret: "another-s3cret-01" },
      { scopes: ["a"] },
      { audience: "b" },
      { resource: "https://r.example" },
      { tokenUrl: "https://login.example/token" },
    ];
    for (const variant of variants) await oauthClientCredentials({ ...options, ...variant })(contextOf());

    expect(server.asked()).toHaveLength(variants.length - 1);
    expect(cache.size).toBe(variants.length - 1);
  });

  test("shows neither tokens nor secrets", async () => {
    const cache = createTokenCache();
    const { options } = setUp({ cache });
    await oauthClientCredentials(options)(contextOf());

    const shown = inspect(cache, { depth: 9, showHidden: true }) + JSON.stringify(cache);
    expect(shown).not.toMatch(/token-1|s3cret/);
  });

  test("keeps tokens of users apart, though their client is the same", async () => {
    const cache = createTokenCache();
    const { server, options } = setUp({ cache });
    const alice = oauthRefresh({ ...options, refreshToken: "of-alice" });
    const bob = oauthRefresh({ ...options, refreshToken: "of-bob" });
    await alice(contextOf());
    await bob(contextOf());

    expect(server.asked().map(({ form }) => form.refresh_token)).toEqual(["of-alice", "of-bob"]);
  });

  test("keeps them apart where each user's provider is of another copy of this library", async () => {
    const cache = createTokenCache();
    const { server, options } = setUp({ cache });
    for (const refreshToken of ["of-alice", "of-bob"]) {
      // Whoever imports and requires it in one program has two.
      vi.resetModules();
      const copy = await import("../../src/oauth/providers.ts");
      await copy.oauthRefresh({ ...options, refreshToken })(contextOf());
    }

    expect(server.asked().map(({ form }) => form.refresh_token)).toEqual(["of-alice", "of-bob"]);
  });
});

describe("a refresh token", () => {
  test("is replaced by the one that the server gives, and the caller is told", async () => {
    const told: unknown[] = [];
    const { server, clock, options } = setUp();
    const provider = oauthRefresh({
      ...options,
      refreshToken: "r1",
      onRefreshed: (token) => void told.push(token),
    });
    server.answer({ access_token: "a1", token_type: "bearer", expires_in: 60, refresh_token: "r2" });
    await provider(contextOf());
    await clock.advance(60_000);
    await provider(contextOf());

    expect(server.asked().map(({ form }) => form.refresh_token)).toEqual(["r1", "r2"]);
    expect(told).toEqual([{ refreshToken: "r2", expiresAtMs: clock.now() }]);
  });

  test("that counts no more is a typed error, told once for each asking", async () => {
    const { server, options } = setUp();
    const provider = oauthRefresh({ ...options, refreshToken: "r1-s3cret-012345" });
    server.answer(json({ error: "invalid_grant", error_description: "r1-s3cret-012345 is over" }, 400));

    for (const _again of [1, 2]) {
      const error = await caught(provider(contextOf()));
      expect(error).toMatchObject({ code: "TOKEN_REQUEST", reason: "refused", oauthError: "invalid_grant" });
      expect(inspect(error, { depth: 9 })).not.toContain("r1-s3cret");
    }
    expect(server.asked()).toHaveLength(1);
  });
});

describe("a server that gives no token", () => {
  const huge = () => new Response("x".repeat(300_000), { headers: { "content-type": "application/json" } });
  const redirect = () =>
    new Response(null, { status: 307, headers: { location: `https://evil.example/${clientSecret}` } });
  test.each([
    [
      "an OAuth error",
      () => json({ error: "invalid_client", error_description: `not ${clientSecret}` }, 401),
      { reason: "refused", oauthError: "invalid_client", status: 401 },
    ],
    [
      "a challenge",
      () =>
        new Response("", { status: 401, headers: { "www-authenticate": `Basic realm="${clientSecret}"` } }),
      { reason: "refused", status: 401 },
    ],
    [
      "a page",
      () => new Response(`<html>${clientSecret}`, { headers: { "content-type": "text/html" } }),
      { reason: "malformed" },
    ],
    [
      "no JSON",
      () => new Response(`{${clientSecret}`, { headers: { "content-type": "application/json" } }),
      { reason: "malformed" },
    ],
    ["no token", () => json({ token_type: "bearer", note: clientSecret }), { reason: "malformed" }],
    [
      "another type of token",
      () => json({ access_token: clientSecret, token_type: "mac" }),
      { reason: "malformed" },
    ],
    [
      "a token that breaks out of its header",
      () => json({ access_token: "a\r\nx: y", token_type: "bearer" }),
      { reason: "malformed" },
    ],
    [
      "a failure",
      () => new Response(clientSecret, { status: 503 }),
      { reason: "unreachable", retry: "safe", status: 503 },
    ],
    ["a redirect", redirect, { reason: "redirected", status: 307 }],
    ["too much", huge, { reason: "too-large" }],
  ])("but %s is told by a typed error without the secret", async (_what, answer, wanted) => {
    const { server, provider } = setUp();
    server.answer(answer());

    const error = await caught(provider(contextOf()), A2ALeaseError);

    expect(error).toMatchObject({ code: "TOKEN_REQUEST", ...wanted });
    expect(inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error)).not.toContain(
      clientSecret,
    );
    expect(server.requests.every(({ path }) => !path.includes(clientSecret))).toBe(true);
    // The failure is not kept.
    expect(await provider(contextOf())).toMatchObject({ headers: {} });
  });

  test("in time is unreachable", async () => {
    const { server, clock, provider } = setUp({ timeoutMs: 5_000 });
    const release = server.pause();
    const failing = caught(provider(contextOf()));
    await clock.advance(5_000);

    expect(await failing).toMatchObject({ code: "TOKEN_REQUEST", reason: "unreachable", retry: "safe" });
    release();
  });
});

describe("a URL that a secret must not go to", () => {
  const insecure = [
    "http://login.example/token",
    "ftp://login.example/token",
    "https://user:p4ss-w0rd@login.example/token",
    "http://127.0.0.1.evil.example/token",
    "http://localhost.evil.example/token",
    "http://0.0.0.0/token",
    "blob:https://login.example/token",
  ];
  test.each(insecure)("is refused where it is given as an option: %s", (url) => {
    for (const name of ["tokenUrl", "issuer"]) {
      const make = () => oauthClientCredentials({ clientId: "me", [name]: url });
      expect(make).toThrow(TypeError);
      expect(make).toThrow(new RegExp(`^oauthClientCredentials\\.${name}: found .+, wanted https`));
      expect(make).not.toThrow("p4ss-w0rd");
    }
    const given = { tokenUrl: "https://login.example/token", clientId: "me" };
    const redirectUri = "https://app.example/back";
    const authorize = async () => redirectUri;
    expect(() => oauthAuthorizationCode({ ...given, redirectUri, authorize, authorizationUrl: url })).toThrow(
      /^oauthAuthorizationCode\.authorizationUrl: found/,
    );
    expect(() => oauthDeviceCode({ ...given, onUserCode() {}, deviceAuthorizationUrl: url })).toThrow(
      /^oauthDeviceCode\.deviceAuthorizationUrl: found/,
    );
  });

  test("may be http on loopback, and no origin of a card may be http elsewhere", () => {
    for (const url of ["http://127.0.0.1:3000", "http://[::1]", "http://localhost", "http://a.localhost"]) {
      for (const given of [{ issuer: url }, { tokenUrl: `${url}/t` }, { trustCardUrlsAt: [url] }]) {
        expect(() => oauthClientCredentials({ ...given, clientId: "me" })).not.toThrow();
      }
    }
    const trustCardUrlsAt = ["http://login.example"];
    expect(() => oauthClientCredentials({ trustCardUrlsAt, clientId: "me" })).toThrow("trustCardUrlsAt");
  });

  test.each(insecure)("is refused before any request where a card names it: %s", async (tokenUrl) => {
    const { server, options } = setUp();
    const { issuer: _none, ...rest } = options;
    const provider = oauthClientCredentials({ ...rest, trustCardUrlsAt: [server.url] });
    const scheme = { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl } } } };
    const error = await caught(provider(contextOf({}, scheme)));

    expect(error).toMatchObject({
      code: "TOKEN_REQUEST",
      reason: expect.stringMatching(/^(?:origin|insecure-url)$/),
    });
    expect(server.requests).toEqual([]);
  });

  test("is refused where the server's own metadata leads to it", async () => {
    for (const token_endpoint of [
      "http://login.example/token",
      "http://127.0.0.1/token",
      "https://localhost/token",
      "https://10.0.0.7/token",
      "https://[fd12::1]/token",
      "https://0xa9fea9fe/latest/meta-data",
      "https://login.internal/token",
      "https://login/token",
      "https://198.51.100.1/token",
    ]) {
      const { options } = setUp();
      const requests: string[] = [];
      const provider = oauthClientCredentials({
        ...options,
        fetch: async (url) => {
          requests.push(url);
          return json({ issuer: options.issuer, token_endpoint });
        },
      });

      expect(await caught(provider(contextOf()))).toMatchObject({ reason: "insecure-url" });
      expect(requests).toHaveLength(1);
    }
  });

  test("is one for the endpoints that a user or a device is led to, too", async () => {
    const { options } = setUp();
    for (const name of ["authorization_endpoint", "device_authorization_endpoint"]) {
      const metadata = { issuer: options.issuer, token_endpoint: "https://login.example/token" };
      const fetch = async () => json({ ...metadata, [name]: "https://192.168.0.1/login" });
      expect(await caught(oauthClientCredentials({ ...options, fetch })(contextOf()))).toMatchObject({
        reason: "insecure-url",
        url: "https://192.168.0.1/login",
      });
    }
  });

  test("is none for an issuer that is inside itself, nor where the caller names it", async () => {
    const inside = "https://login.corp.internal";
    const server = createLoginServer(inside);
    const { options } = setUp({ fetch: server.fetch, issuer: inside });
    const { issuer: _none, ...rest } = options;
    const tokenUrl = `${inside}/token`;

    expect(await oauthClientCredentials(options)(contextOf())).toEqual(bearerOf("token-1"));
    expect(await oauthClientCredentials({ ...rest, tokenUrl })(contextOf())).toEqual(bearerOf("token-2"));
  });

  test("is refused where the metadata is another server's", async () => {
    const { options } = setUp();
    const fetch = async () =>
      json({ issuer: "https://evil.example", token_endpoint: "https://evil.example/token" });

    expect(await caught(oauthClientCredentials({ ...options, fetch })(contextOf()))).toMatchObject({
      reason: "discovery",
    });
  });

  test.each<[string, string, object]>([
    [
      "another issuer",
      "found the issuer https://other.example/realms/a?key=*** in its metadata, wanted https://login.example",
      { issuer: "https://u:p4ss@other.example/realms/a?key=s3cret" },
    ],
    [
      "an issuer that is no URL",
      "found the issuer login in its metadata, wanted https://login.example",
      { issuer: "login" },
    ],
    [
      "an endpoint that is no text",
      "found a number as the token_endpoint in its metadata, wanted a URL",
      { token_endpoint: 5 },
    ],
    [
      "an endpoint that is nothing",
      "found null as the authorization_endpoint in its metadata, wanted a URL",
      { authorization_endpoint: null },
    ],
  ])("is refused where the metadata has %s, and the error says what is there", async (_what, found, told) => {
    const { options } = setUp();
    const metadata = { issuer: options.issuer, token_endpoint: "https://login.example/token" };
    const fetch = async () => json({ ...metadata, ...told });

    expect(await caught(oauthClientCredentials({ ...options, fetch })(contextOf()))).toMatchObject({
      code: "TOKEN_REQUEST",
      reason: "discovery",
      message: `https://login.example: ${found}`,
    });
  });

  test("on a card counts only at an origin that the caller trusts", async () => {
    const { server, options } = setUp();
    const { issuer: _none, ...rest } = options;
    const provider = oauthClientCredentials({ ...rest, trustCardUrlsAt: [server.url] });
    const cardOf = (tokenUrl: string) => ({
      oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl } } },
    });

    for (const url of [
      "https://evil.example/token",
      "https://login.example.evil.example/token",
      "https://login.example:444/token",
      "not a url",
    ]) {
      expect(await caught(provider(contextOf({}, cardOf(url))))).toMatchObject({ reason: "origin" });
    }
    expect(server.requests).toEqual([]);
    expect(await provider(contextOf({}, cardOf(`${server.url}/token`)))).toEqual(bearerOf("token-1"));
  });

  test("on a card is not looked at where the caller names a server", async () => {
    const { server, provider } = setUp();
    const hostile = {
      oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: "https://evil.example/t" } } },
    };

    expect(await provider(contextOf({}, hostile))).toEqual(bearerOf("token-1"));
    expect(server.asked()).toHaveLength(1);
  });
});

describe("options that can't be right", () => {
  const make = (options: object) => () => oauthClientCredentials(options as never);
  test("are a TypeError that names them", () => {
    expect(make({ clientId: "a" })).toThrow("issuer");
    expect(make({ issuer: "https://a.example" })).toThrow("clientId");
    expect(make({ issuer: "a", clientId: "a" })).toThrow("issuer");
    expect(make({ trustCardUrlsAt: ["https://a.example/x"], clientId: "a" })).toThrow("trustCardUrlsAt");
    expect(make({ issuer: "https://a.example", clientId: "a", skewMs: -1 })).toThrow("skewMs");
  });

  test.each([
    ["clientId", "wanted a text that is not empty"],
    ["clientSecret", "wanted a text or a function that gives one"],
    ["issuer", "wanted an absolute URL"],
    ["tokenUrl", "wanted an absolute URL"],
    ["audience", "wanted a text that is not empty"],
    ["resource", "wanted a text that is not empty"],
    ["refreshToken", "wanted a text that is not empty"],
    ["scopes", "wanted a list of texts or a function that gives one"],
  ])("are told apart from those that are not there: an empty %s", (name, wanted) => {
    const sound = { issuer: "https://a.example", clientId: "a" };
    expect(make({ ...sound, [name]: "" })).toThrow(
      new TypeError(`oauthClientCredentials.${name}: found an empty text, ${wanted}`),
    );
    expect(make({ ...sound, [name]: 5 })).toThrow(
      `oauthClientCredentials.${name}: found a number, ${wanted}`,
    );
  });

  test("are hooks and texts of one flow, too, by the name of the function that was called", () => {
    const sound = { issuer: "https://a.example", clientId: "a", redirectUri: "https://a.example/b" };
    const authorize = async () => "";
    for (const [name, start] of Object.entries({ oauthAuthorizationCode, openIdConnect })) {
      expect(() => start({ ...sound, authorize: undefined as never })).toThrow(
        `${name}.authorize: found undefined, wanted a function`,
      );
      expect(() => start({ ...sound, authorize, redirectUri: "" })).toThrow(
        `${name}.redirectUri: found an empty text, wanted an absolute URL`,
      );
    }
    expect(() => oauthDeviceCode({ ...sound, onUserCode: "x" as never })).toThrow(
      "oauthDeviceCode.onUserCode: found a text, wanted a function",
    );
    expect(() => oauthRefresh({ ...sound, refreshToken: "" })).toThrow(
      "oauthRefresh.refreshToken: found an empty text, wanted a text that is not empty",
    );
  });

  test("are endpoints of which one is missing", () => {
    const sound = { clientId: "a", redirectUri: "https://a.example/b", authorize: async () => "" };
    const tokenUrl = "https://a.example/token";
    const one = (found: string, lacking: string) =>
      `found ${found} without ${lacking}, wanted both of them, or issuer alone`;
    expect(() => oauthAuthorizationCode({ ...sound, tokenUrl })).toThrow(one("tokenUrl", "authorizationUrl"));
    expect(() => openIdConnect({ ...sound, issuer: "https://a.example", tokenUrl })).toThrow(
      `openIdConnect: ${one("tokenUrl", "authorizationUrl")}`,
    );
    expect(() =>
      oauthAuthorizationCode({ ...sound, issuer: "https://a.example", authorizationUrl: tokenUrl }),
    ).toThrow(one("authorizationUrl", "tokenUrl"));
    const device = { clientId: "a", onUserCode() {} };
    expect(() => oauthDeviceCode({ ...device, tokenUrl })).toThrow(one("tokenUrl", "deviceAuthorizationUrl"));
    expect(() => oauthClientCredentials({ clientId: "a", tokenUrl })).not.toThrow();
    expect(() => oauthRefresh({ clientId: "a", tokenUrl, refreshToken: "r" })).not.toThrow();
  });

  test.each([
    ["authorization endpoint", "authorizationUrl beside tokenUrl", "authorization_endpoint"],
    [
      "device authorization endpoint",
      "deviceAuthorizationUrl beside tokenUrl",
      "device_authorization_endpoint",
    ],
    ["token endpoint", "tokenUrl", "token_endpoint"],
  ])("are told by name where the metadata has no %s", async (what, option, missing) => {
    const { server, options } = setUp();
    const all = {
      token_endpoint: `${server.url}/token`,
      authorization_endpoint: `${server.url}/authorize`,
      device_authorization_endpoint: `${server.url}/device`,
    };
    const fetch = async () => json({ issuer: server.url, ...all, [missing]: undefined });
    const given = { ...options, fetch };
    const provider =
      missing === "authorization_endpoint"
        ? oauthAuthorizationCode({ ...given, redirectUri: "https://a.example/b", authorize: async () => "" })
        : oauthDeviceCode({ ...given, onUserCode() {} });

    expect(await caught(provider(contextOf()))).toMatchObject({
      reason: "discovery",
      message: `https://login.example: found no ${what} of it, wanted one in the metadata of issuer, or the option ${option}`,
    });
  });
});
