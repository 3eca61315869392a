import {
  type DevicePrompt,
  oauthAuthorizationCode,
  oauthDeviceCode,
  oauthRefresh,
  openIdConnect,
} from "a2a-lease/oauth";
import { createTestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { bearerOf, contextOf, createLoginServer, json } from "./login-server.ts";

const redirectUri = "https://app.example/back";

function setUp() {
  const server = createLoginServer();
  const clock = createTestClock();
  return { server, clock, options: { issuer: server.url, clientId: "me", fetch: server.fetch, clock } };
}

const short = (token: string) => ({ access_token: token, token_type: "bearer", expires_in: 8 });

describe("the life of a token begins when the request that brings it leaves", () => {
  test.each<[string, typeof oauthAuthorizationCode, { refreshToken?: string }?]>([
    ["an authorization code", oauthAuthorizationCode],
    // A refresh that fails leads to the user, too.
    ["one after a refresh token that is over", oauthAuthorizationCode, { refreshToken: "r0" }],
  ])("for %s, whatever time the user takes", async (_what, make, more = {}) => {
    const { server, clock, options } = setUp();
    let signIns = 0;
    const provider = make({
      ...options,
      ...more,
      redirectUri,
      async authorize(url) {
        signIns += 1;
        await clock.advance(6_000);
        return `${redirectUri}?code=c0de&state=${new URL(url).searchParams.get("state")}`;
      },
    });
    if ("refreshToken" in more) server.answer(json({ error: "invalid_grant" }, 400));
    server.answer(short("a1"));

    expect(await provider(contextOf())).toEqual(bearerOf("a1"));
    await clock.advance(3_900);
    expect(await provider(contextOf())).toEqual(bearerOf("a1"));
    expect(signIns).toBe(1);
    await clock.advance(200);
    server.answer(short("a2"));
    expect(await provider(contextOf())).toEqual(bearerOf("a2"));
  });

  test("for a device code, whenever the user types it in", async () => {
    const { server, clock, options } = setUp();
    const prompts: string[] = [];
    const onUserCode = ({ userCode }: DevicePrompt) => void prompts.push(userCode);
    const provider = oauthDeviceCode({ ...options, onUserCode });
    server.answer(
      {
        device_code: "d3vice",
        user_code: "ABCD",
        verification_uri: "https://login.example/activate",
        expires_in: 600,
        interval: 6,
      },
      json({ error: "authorization_pending" }, 400),
      short("a1"),
    );
    const given = provider(contextOf());
    await expect.poll(() => prompts.length).toBe(1);
    await clock.advance(6_000);
    await clock.advance(6_000);

    expect(await given).toEqual(bearerOf("a1"));
    await clock.advance(3_900);
    expect(await provider(contextOf())).toEqual(bearerOf("a1"));
    expect(prompts).toHaveLength(1);
  });

  test("for a refresh, and the caller is told of the same end", async () => {
    const { server, clock, options } = setUp();
    const told: unknown[] = [];
    const provider = oauthRefresh({
      ...options,
      refreshToken: "r0",
      fetch: async (url, init) => {
        // The metadata is slow, and the token's answer takes a second.
        await clock.advance(url.includes(".well-known") ? 20_000 : 1_000);
        return server.fetch(url, init);
      },
      onRefreshed: (token) => void told.push(token),
    });
    server.answer({ ...short("a1"), refresh_token: "r1" });
    expect(await provider(contextOf())).toEqual(bearerOf("a1"));

    expect(told).toEqual([{ refreshToken: "r1", expiresAtMs: clock.now() + 7_000 }]);
    await clock.advance(2_900);
    expect(await provider(contextOf())).toEqual(bearerOf("a1"));
    await clock.advance(200);
    expect(await provider(contextOf())).not.toEqual(bearerOf("a1"));
  });
});

test("the time of a device code begins before the user is shown it", async () => {
  const { server, clock, options } = setUp();
  const provider = oauthDeviceCode({
    ...options,
    onUserCode: async ({ expiresInMs }) => void (await clock.advance(expiresInMs)),
  });
  server.answer({
    device_code: "d3vice",
    user_code: "ABCD",
    verification_uri: "https://login.example/activate",
    expires_in: 60,
  });

  expect(await caught(provider(contextOf()))).toMatchObject({ code: "TOKEN_REQUEST", reason: "expired" });
  expect(server.asked()).toEqual([]);
});

test("an OpenID sign-in asks for its scope beside those of the card", async () => {
  const { options } = setUp();
  const visited: URL[] = [];
  const provider = openIdConnect({
    ...options,
    redirectUri,
    authorize: async (url) => {
      visited.push(new URL(url));
      throw new Error("enough");
    },
  });
  await caught(provider(contextOf({}, {}, ["profile"])));

  expect(visited.map(({ searchParams }) => searchParams.get("scope"))).toEqual(["openid profile"]);
});
