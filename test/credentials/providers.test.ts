import {
  apiKey,
  basic,
  bearer,
  type CredentialContext,
  CredentialMissingError,
  type CredentialProvider,
  createCredentials,
  mutualTls,
  type SecurityScheme,
} from "a2a-lease";
import { describe, expect, test } from "vitest";
import { challengeSchemes } from "../../src/credentials/challenge.ts";

const schemes: Record<string, SecurityScheme> = {
  key: { apiKeySecurityScheme: { location: "query", name: "k" } },
  cookie: { apiKeySecurityScheme: { location: "cookie", name: "sid" } },
  token: { httpAuthSecurityScheme: { scheme: "Bearer" } },
  login: { httpAuthSecurityScheme: { scheme: "basic" } },
  oauth: { oauth2SecurityScheme: { flows: {} } },
  oidc: {
    openIdConnectSecurityScheme: {
      openIdConnectUrl: "https://login.example/.well-known/openid-configuration",
    },
  },
  tls: { mtlsSecurityScheme: {} },
};

function contextOf(
  alternatives: readonly Record<string, readonly string[]>[] = [],
  more: Partial<CredentialContext> = {},
): CredentialContext {
  return {
    origin: "https://agent.example",
    purpose: "call",
    requirements: {
      alternatives: alternatives.map((item) => ({
        schemes: Object.fromEntries(Object.entries(item).map(([name, list]) => [name, { list }])),
      })),
      schemes,
    },
    signal: new AbortController().signal,
    ...more,
  };
}

const given = (provider: CredentialProvider, ...args: Parameters<typeof contextOf>) =>
  provider(contextOf(...args));

describe("an API key", () => {
  test("goes where the scheme of the card says", async () => {
    const credentials = createCredentials({ key: apiKey("k3y"), cookie: apiKey("c00kie") });

    expect(await given(credentials, [{ key: [] }])).toMatchObject({ query: { k: "k3y" } });
    expect(await given(credentials, [{ cookie: [] }])).toMatchObject({ headers: { cookie: "sid=c00kie" } });
  });

  test("goes where the caller says, whatever the card says", async () => {
    const key = apiKey("k3y", { in: "header", name: "X-Key" });

    expect(await given(key)).toEqual({ headers: { "x-key": "k3y" } });
    expect(key.serves(schemes.key ?? {})).toBe(false);
  });

  test.each([
    ["header", "Host"],
    ["header", "content-length"],
    ["header", "x\r\ny"],
    ["header", "a2a-version"],
    ["cookie", "a;b"],
    ["body", "k"],
    ["query", ""],
  ])("is not put into %s %j, as a card might say", async (location, name) => {
    const scheme = { name: "key", scopes: [], scheme: { apiKeySecurityScheme: { location, name } } };

    await expect(given(apiKey("k3y-s3cret"), [], { scheme })).rejects.toMatchObject({
      code: "AUTHENTICATION",
    });
  });

  test("that has no place is an error, and wrong options are too", async () => {
    await expect(given(apiKey("k3y-s3cret"))).rejects.toMatchObject({ code: "AUTHENTICATION" });
    expect(() => apiKey("")).toThrow("apiKey");
    expect(() => apiKey("k", { in: "body" as "query" })).toThrow("query");
  });
});

describe("a secret of a function", () => {
  test("is asked for each time", async () => {
    let count = 0;
    const provider = bearer(async () => `t${count++}`);

    expect(await given(provider)).toEqual({ headers: { authorization: "Bearer t0" } });
    expect(await given(provider)).toEqual({ headers: { authorization: "Bearer t1" } });
  });

  test("that gives nothing gives no credentials, and what is no text is refused", async () => {
    expect(await given(bearer(() => undefined))).toBeUndefined();
    await expect(given(bearer(() => 5 as unknown as string))).rejects.toThrow(TypeError);
  });
});

test("basic credentials are UTF-8, and a user name has no colon", async () => {
  expect(await given(basic({ username: "jö", password: "pä:ss" }))).toEqual({
    headers: { authorization: `Basic ${Buffer.from("jö:pä:ss").toString("base64")}` },
  });
  expect(() => basic({ username: "a:b", password: "c" })).toThrow("colon");
});

describe("credentials by scheme", () => {
  test("of one alternative go together", async () => {
    const credentials = createCredentials({
      key: apiKey("k3y"),
      cookie: apiKey("c00kie"),
      token: bearer("t0ken"),
      tls: mutualTls(),
    });

    expect(await given(credentials, [{ unheard: [] }, { key: [], cookie: [], token: [], tls: [] }])).toEqual({
      headers: { authorization: "Bearer t0ken", cookie: "sid=c00kie" },
      query: { k: "k3y" },
      requirement: {
        schemes: [
          { name: "key", kind: "apiKey", scopes: [] },
          { name: "cookie", kind: "apiKey", scopes: [] },
          { name: "token", kind: "http", scopes: [] },
          { name: "tls", kind: "mutualTLS", scopes: [] },
        ],
      },
    });
  });

  test("are found by the scheme's name, else by its kind, else by what can serve it", async () => {
    const token = (value: string) => ({ headers: { authorization: `Bearer ${value}` } });

    const byName = createCredentials({ oauth2: bearer("kind"), oauth: bearer("name") });
    expect(await given(byName, [{ oauth: [] }])).toMatchObject(token("name"));
    const byKind = createCredentials({ mine: bearer("served"), oauth2: bearer("kind") });
    expect(await given(byKind, [{ oauth: [] }])).toMatchObject(token("kind"));
    const served = createCredentials({ mine: bearer("served") });
    for (const name of ["oauth", "oidc", "token"]) {
      expect(await given(served, [{ [name]: [] }])).toMatchObject(token("served"));
    }
  });

  test("kept for another scheme of the card are not used for this one", async () => {
    const credentials = createCredentials({ token: bearer("for-token") });

    await expect(given(credentials, [{ oauth: [] }])).rejects.toBeInstanceOf(CredentialMissingError);
  });

  test("that are not there are told: what the card asks for, and what the caller has", async () => {
    const credentials = createCredentials({ mine: basic({ username: "u", password: "p" }) });

    await expect(given(credentials, [{ oauth: ["read"] }, { key: [], tls: [] }])).rejects.toMatchObject({
      code: "CREDENTIAL_MISSING",
      nextStep: "authenticate",
      available: ["mine (basic)"],
      requirements: { alternatives: [{ schemes: { oauth: { list: ["read"] } } }, expect.anything()] },
      message:
        "https://agent.example: found credentials for mine (basic), " +
        "wanted those for oauth (oauth2: read), or key (apiKey) and tls (mutualTLS)",
    });
  });

  test("are not shown to a card that asks for nothing, until it refuses", async () => {
    const credentials = createCredentials({
      mine: bearer("t0ken"),
      login: basic({ username: "u", password: "p" }),
    });

    expect(await given(credentials, [])).toBeUndefined();
    expect(await given(credentials, [{}])).toBeUndefined();
    expect(await given(credentials, [], { challenge: 'Negotiate, Basic realm="a, Bearer b"' })).toMatchObject(
      {
        headers: { authorization: "Basic dTpw" },
      },
    );
    expect(await given(credentials, [], { challenge: "" })).toBeUndefined();
    expect(await given(createCredentials({ mine: bearer("t0ken") }), [], { challenge: "" })).toMatchObject({
      headers: { authorization: "Bearer t0ken" },
    });
  });

  test("are providers, or a TypeError that names them", () => {
    expect(() => createCredentials({ key: "k3y" as never })).toThrow("credentials.key");
  });
});

test.each([
  ['Bearer realm="x", error="a, Basic b"', ["bearer"]],
  ['Basic realm="x", Bearer realm="y"', ["basic", "bearer"]],
  ["Negotiate", ["negotiate"]],
  ["Negotiate, NTLM", ["negotiate", "ntlm"]],
  ["", []],
  ['"', []],
])("the challenge %j names %j", (challenge, names) => {
  expect(challengeSchemes(challenge)).toEqual(names);
});
