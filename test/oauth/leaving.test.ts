import { type OAuthOptions, oauthAuthorizationCode, oauthRefresh } from "a2a-lease/oauth";
import { createTestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { bearerOf, contextOf, createLoginServer } from "./login-server.ts";

function setUp() {
  const server = createLoginServer();
  const options: OAuthOptions = {
    tokenUrl: `${server.url}/token`,
    clientId: "me",
    fetch: server.fetch,
    clock: createTestClock(),
  };
  return { server, options };
}

const turns = () => new Promise((resolve) => setImmediate(resolve));

describe("who asks for a token after the last who waited has left", () => {
  test("is not told that nobody waits, though the user never answered", async () => {
    const { options } = setUp();
    let asked = 0;
    const provider = oauthAuthorizationCode({
      ...options,
      ...{ authorizationUrl: "https://login.example/authorize", redirectUri: "https://me.example/back" },
      async authorize(url) {
        asked += 1;
        if (asked === 1) await new Promise(() => {});
        const state = new URL(url).searchParams.get("state") ?? "";
        return `https://me.example/back?code=c0de&state=${state}`;
      },
    });
    const leaving = new AbortController();
    const first = caught(provider(contextOf({ signal: leaving.signal })));
    await turns();
    leaving.abort();
    await first;

    expect(await provider(contextOf())).toEqual(bearerOf("token-1"));
    expect(asked).toBe(2);
  });

  test("in the same moment gets one of its own", async () => {
    const { server, options } = setUp();
    const provider = oauthRefresh({ ...options, refreshToken: "refresh-0" });
    const release = server.pause();
    const leaving = new AbortController();
    const first = caught(provider(contextOf({ signal: leaving.signal })));
    await turns();
    leaving.abort(new DOMException("mine", "AbortError"));
    await first;
    const second = provider(contextOf());
    release();

    expect(await second).toEqual(bearerOf("token-1"));
  });
});

describe("a refresh token that is used once", () => {
  test("is not lost when all who waited leave while it is exchanged", async () => {
    const { server, options } = setUp();
    const told: string[] = [];
    const provider = oauthRefresh({
      ...options,
      refreshToken: "refresh-0",
      onRefreshed: ({ refreshToken }) => void told.push(refreshToken),
    });
    server.answer({ access_token: "token-a", token_type: "Bearer", refresh_token: "refresh-1" });
    const release = server.pause();
    const leaving = new AbortController();
    const first = caught(provider(contextOf({ signal: leaving.signal })));
    await turns();
    leaving.abort();
    await first;
    release();
    await turns();

    expect(await provider(contextOf())).toEqual(bearerOf("token-a"));
    expect(told).toEqual(["refresh-1"]);
    expect(server.asked().map(({ form }) => form.refresh_token)).toEqual(["refresh-0"]);
  });
});
