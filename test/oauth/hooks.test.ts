import { inspect } from "node:util";
import { TokenRequestError } from "a2a-lease";
import {
  oauthAuthorizationCode,
  oauthClientCredentials,
  oauthDeviceCode,
  oauthRefresh,
  openIdConnect,
} from "a2a-lease/oauth";
import { createTestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { bearerOf, contextOf, createLoginServer } from "./login-server.ts";

const redirectUri = "https://app.example/back";

function setUp() {
  const server = createLoginServer();
  const clock = createTestClock();
  return { server, options: { issuer: server.url, clientId: "me", fetch: server.fetch, clock } };
}

const failing = (words: unknown) => () => {
  throw words;
};

describe("authorize", () => {
  test.each<[string, unknown]>([
    ["an empty text", ""],
    ["a text that is no absolute URL", "/cb?code=s3cret-c0de-0123"],
    ["a text that is no absolute URL", "code=s3cret-c0de-0123"],
    ["undefined", undefined],
    ["null", null],
    ["a number", 5],
    ["an object", { code: "s3cret-c0de-0123" }],
  ])("that gives %s is named, and the code is not", async (found, given) => {
    const { server, options } = setUp();
    for (const make of [oauthAuthorizationCode, openIdConnect]) {
      const provider = make({ ...options, redirectUri, authorize: async () => given as string });
      const error = await caught(provider(contextOf()), TokenRequestError);

      expect(error).toMatchObject({
        reason: "declined",
        message: `${server.url}/authorize: found that authorize gave ${found}, wanted the whole URL that the user came back to`,
      });
      expect(inspect(error, { depth: 9 })).not.toContain("s3cret");
    }
    expect(server.asked()).toEqual([]);
  });

  test("may give the URL as an object", async () => {
    const { options } = setUp();
    const provider = oauthAuthorizationCode({
      ...options,
      redirectUri,
      authorize: async (url) =>
        new URL(`${redirectUri}?code=c0de&state=${new URL(url).searchParams.get("state")}`),
    });

    expect(await provider(contextOf())).toEqual(bearerOf("token-1"));
  });

  test("that throws is named, with its words and without a code in them", async () => {
    const { server, options } = setUp();
    const ask = (thrown: unknown) =>
      caught(
        oauthAuthorizationCode({ ...options, redirectUri, authorize: failing(thrown) })(contextOf()),
        TokenRequestError,
      );
    const at = `${server.url}/authorize: found that authorize threw`;
    const wanted = "wanted the whole URL that the user came back to";

    const closed = new Error("the window was closed");
    const error = await ask(closed);
    expect(error).toMatchObject({
      reason: "declined",
      nextStep: "authenticate",
      cause: closed,
      message: `${at} "the window was closed", ${wanted}`,
    });
    const leaky = await ask(new Error("no state in https://app.example/back?code=s3cret-c0de-0123"));
    expect(leaky.message).toBe(`${at} "no state in https://app.example/back?code=***", ${wanted}`);
    expect(inspect(leaky, { depth: 9 })).not.toContain("s3cret");
    expect((await ask("s3cret-c0de-0123")).message).toBe(`${at} something that is no error, ${wanted}`);
    expect((await ask(new Error(" "))).message).toBe(`${at} an error without a word, ${wanted}`);
  });
});

test("onUserCode that throws is named", async () => {
  const { server, options } = setUp();
  server.answer({
    device_code: "d3vice",
    user_code: "ABCD",
    verification_uri: "https://login.example/activate",
    expires_in: 600,
  });
  const provider = oauthDeviceCode({ ...options, onUserCode: failing(new Error("no screen")) });

  expect(await caught(provider(contextOf()))).toMatchObject({
    code: "TOKEN_REQUEST",
    reason: "declined",
    message: `${server.url}/device: found that onUserCode threw "no screen", wanted the code shown to the user`,
  });
});

describe("clientSecret", () => {
  test.each<[string, () => unknown]>([
    ["gave undefined", () => undefined],
    ["gave an empty text", async () => ""],
    ["gave a number", () => 5],
    ['threw "the vault is closed"', failing(new Error("the vault is closed"))],
  ])("that %s is named, and no request leaves without it", async (found, clientSecret) => {
    const { server, options } = setUp();
    const provider = oauthClientCredentials({ ...options, clientSecret: clientSecret as () => string });

    expect(await caught(provider(contextOf()))).toMatchObject({
      code: "TOKEN_REQUEST",
      reason: "declined",
      message: `${server.url}: found that clientSecret ${found}, wanted a text`,
    });
    expect(server.requests).toEqual([]);
  });
});

describe("scopes", () => {
  test.each<[string, () => unknown]>([
    ["gave undefined", () => undefined],
    ["gave a text", () => "read"],
    ["gave a list with a number in it", () => ["read", 5]],
    ["gave a list with an empty text in it", () => [""]],
    ['threw "no idea"', failing(new Error("no idea"))],
  ])("that %s is named", async (found, scopes) => {
    const { server, options } = setUp();
    const all = [
      oauthClientCredentials({ ...options, scopes: scopes as () => string[] }),
      openIdConnect({
        ...options,
        redirectUri,
        authorize: async () => "",
        scopes: scopes as () => string[],
      }),
    ];
    for (const provider of all) {
      expect(await caught(provider(contextOf()))).toMatchObject({
        code: "TOKEN_REQUEST",
        reason: "declined",
        message: `${server.url}: found that scopes ${found}, wanted a list of texts`,
      });
    }
    expect(server.requests).toEqual([]);
  });
});

test("onRefreshed that fails says that the store wants a look, not the user's password", async () => {
  const { server, options } = setUp();
  server.answer({ access_token: "a1-t0ken", token_type: "bearer", refresh_token: "r1-s3cret-0123456" });
  const provider = oauthRefresh({
    ...options,
    refreshToken: "r0",
    onRefreshed: failing(new Error("disk full, r1-s3cret-0123456 not kept")),
  });

  expect(await caught(provider(contextOf()))).toMatchObject({
    reason: "not-kept",
    retry: "safe",
    nextStep: "ask-user",
    message: `${server.url}: found that onRefreshed threw "disk full, *** not kept", wanted the new refresh token kept`,
  });
  expect(await provider(contextOf())).toEqual(bearerOf("a1-t0ken"));
});
