import { oauthAuthorizationCode, oauthDeviceCode, openIdConnect } from "a2a-lease/oauth";
import { createTestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { bearerOf, contextOf, createLoginServer, json } from "./login-server.ts";

function setUp() {
  const server = createLoginServer();
  const clock = createTestClock();
  return { server, clock, options: { issuer: server.url, clientId: "me", fetch: server.fetch, clock } };
}

describe("an authorization code", () => {
  const redirectUri = "https://app.example/back";

  test("is exchanged with the verifier of its challenge, and the refresh token is used from then on", async () => {
    const { server, clock, options } = setUp();
    const visited: URL[] = [];
    const provider = oauthAuthorizationCode({
      ...options,
      redirectUri,
      scopes: ["read"],
      authorize: async (url) => {
        visited.push(new URL(url));
        return `${redirectUri}?code=c0de&state=${visited[0]?.searchParams.get("state")}`;
      },
    });
    server.answer({ access_token: "a1", token_type: "bearer", expires_in: 60, refresh_token: "r1" });

    expect(await provider(contextOf())).toEqual(bearerOf("a1"));
    await clock.advance(60_000);
    expect(await provider(contextOf())).toEqual(bearerOf("token-2"));

    const { code_challenge: challenge, ...asked } = Object.fromEntries(visited[0]?.searchParams ?? []);
    expect(visited).toHaveLength(1);
    expect(asked).toMatchObject({
      response_type: "code",
      client_id: "me",
      redirect_uri: redirectUri,
      scope: "read",
      code_challenge_method: "S256",
    });
    const [first, second] = server.asked();
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(first?.form.code_verifier));
    expect(Buffer.from(digest).toString("base64url")).toBe(challenge);
    expect(first?.form).toMatchObject({
      grant_type: "authorization_code",
      code: "c0de",
      redirect_uri: redirectUri,
    });
    expect(second?.form).toMatchObject({ grant_type: "refresh_token", refresh_token: "r1" });
  });

  test.each([
    ["another state", (_state: string) => "code=c&state=forged", "malformed"],
    ["no state", () => "code=c", "malformed"],
    [
      "another issuer",
      (state: string) => `code=c&state=${state}&iss=https%3A%2F%2Fevil.example`,
      "malformed",
    ],
    ["a refusal", (state: string) => `error=access_denied&state=${state}`, "declined"],
  ])("that comes back with %s is no code", async (_what, query, reason) => {
    const { server, options } = setUp();
    const provider = oauthAuthorizationCode({
      ...options,
      redirectUri,
      authorize: async (url) => `${redirectUri}?${query(new URL(url).searchParams.get("state") ?? "")}`,
    });

    expect(await caught(provider(contextOf()))).toMatchObject({ code: "TOKEN_REQUEST", reason });
    expect(server.asked()).toEqual([]);
  });

  test("that comes back from another issuer says from which, and which was asked", async () => {
    const { options } = setUp();
    const provider = oauthAuthorizationCode({
      ...options,
      redirectUri,
      authorize: async (url) =>
        `${redirectUri}?code=c&state=${new URL(url).searchParams.get("state")}&iss=https%3A%2F%2Fevil.example`,
    });

    expect(await caught(provider(contextOf()))).toMatchObject({
      message: expect.stringContaining(
        "found the issuer https://evil.example in its answer, wanted https://login.example",
      ),
    });
  });

  test("whose ID token is of another issuer says so, too", async () => {
    const { server, options } = setUp();
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    let nonce: string | null = null;
    const provider = openIdConnect({
      ...options,
      redirectUri,
      authorize: async (url) => {
        const { searchParams } = new URL(url);
        nonce = searchParams.get("nonce");
        const seconds = Math.floor(Date.now() / 1_000);
        const claims = {
          iss: "https://evil.example",
          aud: "me",
          sub: "u",
          iat: seconds,
          exp: seconds + 60,
          nonce,
        };
        const id_token = `${part({ alg: "RS256" })}.${part(claims)}.${part({})}`;
        server.answer({ access_token: "a1", token_type: "bearer", id_token });
        return `${redirectUri}?code=c&state=${searchParams.get("state")}`;
      },
    });

    expect(await caught(provider(contextOf()))).toMatchObject({
      message: expect.stringContaining(
        "found the issuer https://evil.example in its ID token, wanted https://login.example",
      ),
    });
  });

  test("is asked of the user once for all calls, and not at all once all of them left", async () => {
    const { options } = setUp();
    const signals: AbortSignal[] = [];
    const provider = oauthAuthorizationCode({
      ...options,
      redirectUri,
      authorize: (_url, { signal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    });
    const leaving = new AbortController();
    const calls = [1, 2, 3].map(() => caught(provider(contextOf({ signal: leaving.signal }))));
    await expect.poll(() => signals.length).toBe(1);
    leaving.abort("gone");

    expect(await Promise.all(calls)).toEqual(["gone", "gone", "gone"]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

describe("a device code", () => {
  const started = {
    device_code: "d3vice",
    user_code: "ABCD",
    verification_uri: "https://login.example/activate",
    expires_in: 600,
    interval: 5,
  };
  const pending = () => json({ error: "authorization_pending" }, 400);

  test("is asked after at the pace that the server wants", async () => {
    const { server, clock, options } = setUp();
    const prompts: unknown[] = [];
    const provider = oauthDeviceCode({ ...options, onUserCode: (prompt) => void prompts.push(prompt) });
    server.answer(started, pending(), json({ error: "slow_down" }, 400), {
      access_token: "a1",
      token_type: "bearer",
    });
    const given = provider(contextOf());
    await expect.poll(() => prompts.length).toBe(1);

    const counts: number[] = [];
    for (const step of [4_999, 1, 5_000, 9_999, 1]) {
      await clock.advance(step);
      counts.push(server.asked().length);
    }
    expect(counts).toEqual([0, 1, 2, 2, 3]);
    expect(await given).toEqual(bearerOf("a1"));
    expect(prompts).toEqual([
      { userCode: "ABCD", verificationUri: started.verification_uri, expiresInMs: 600_000 },
    ]);
  });

  test.each([
    ["nobody types in", pending, "expired"],
    ["ran out", () => json({ error: "expired_token" }, 400), "expired"],
    ["was declined", () => json({ error: "access_denied" }, 400), "declined"],
  ])("that %s ends in a typed error", async (_what, answer, reason) => {
    const { server, clock, options } = setUp();
    const provider = oauthDeviceCode({ ...options, onUserCode: () => {} });
    server.answer({ ...started, expires_in: 10 }, answer(), answer());
    const failing = caught(provider(contextOf()));
    await expect.poll(() => server.requests.some(({ path }) => path === "/device")).toBe(true);
    await clock.advance(5_000);
    await clock.advance(5_000);
    await clock.advance(5_000);

    expect(await failing).toMatchObject({ code: "TOKEN_REQUEST", reason });
  });

  test("whose page is no https page is shown to nobody", async () => {
    const { server, options } = setUp();
    const provider = oauthDeviceCode({ ...options, onUserCode: () => expect.fail("shown") });
    server.answer({ ...started, verification_uri: "javascript:alert(1)" });

    expect(await caught(provider(contextOf()))).toMatchObject({ reason: "insecure-url" });
  });
});
