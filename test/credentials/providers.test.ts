import { inspect } from "node:util";
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
import { caught } from "../flow/caught.ts";

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

  test("is sent beside no other secret in the same place: the next alternative is taken", async () => {
    const login = basic({ username: "u", password: "pa55" });
    const all = { login, token: bearer("t0ken"), oauth: bearer("t0ken") };
    const both = { login: [], token: [] };
    const credentials = createCredentials({ ...all, key: apiKey("k3y") });
    expect(await given(credentials, [both, { key: [] }])).toMatchObject({ headers: {}, query: { k: "k3y" } });
    expect((await caught(given(createCredentials(all), [both]), CredentialMissingError)).message).toContain(
      'for the scheme "token" found another value for the header "authorization", wanted one of them',
    );
    // One token that serves two schemes is one value.
    expect(await given(credentials, [{ token: [], oauth: [] }])).toMatchObject({
      headers: { authorization: "Bearer t0ken" },
    });
    const two = { in: "query", name: "k" } as const;
    const queries = createCredentials({ key: apiKey("k3y"), other: apiKey("0ther", two) });
    await expect(given(queries, [{ key: [], other: [] }])).rejects.toThrow(
      /another value for the parameter "k"/,
    );
  });

  test("is not lost on its way into a header of any name", async () => {
    const context = contextOf([{ key: [] }]);
    const key = { apiKeySecurityScheme: { location: "header", name: "__proto__" } };
    const requirements = { ...context.requirements, schemes: { key } };
    const all = await createCredentials({ key: apiKey("k3y") })({ ...context, requirements });
    expect(Object.entries(all?.headers ?? {})).toEqual([["__proto__", "k3y"]]);
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
    await expect(given(bearer(() => 5 as unknown as string))).rejects.toThrow(
      "found that the function of bearer() gave a number",
    );
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

  test.each<[string, CredentialProvider, string]>([
    [
      "key",
      basic({ username: "u", password: "p4ss" }),
      'for the scheme "key" found "basic" under "key", wanted apiKey',
    ],
    ["key", bearer("t0ken"), 'for the scheme "key" found "bearer" under "key", wanted apiKey'],
    ["key", mutualTls(), 'for the scheme "key" found "mutual TLS" under "key", wanted apiKey'],
    [
      "token",
      basic({ username: "u", password: "p4ss" }),
      'for the scheme "token" found "basic" under "token", wanted http "Bearer"',
    ],
    ["login", bearer("t0ken"), 'for the scheme "login" found "bearer" under "login", wanted http "basic"'],
    [
      "oauth",
      apiKey("k3y", { in: "header", name: "x-k" }),
      'for the scheme "oauth" found "API key" under "oauth", wanted oauth2',
    ],
    ["tls", bearer("t0ken"), 'for the scheme "tls" found "bearer" under "tls", wanted mutualTLS'],
  ])(
    "under the name of the scheme %s that are of another kind are refused",
    async (name, provider, problem) => {
      // What could serve it does not go in its place: whoever names a scheme means it.
      const spare = { mine: apiKey("sp4re"), oauth2: bearer("sp4re") };
      const credentials = createCredentials({ ...spare, [name]: provider });

      const error = await caught(given(credentials, [{ [name]: [] }]), CredentialMissingError);
      expect(error.problems).toEqual([problem]);
      expect(error.message).toMatch(
        /^https:\/\/agent\.example: found credentials for .+, wanted those for .+; /,
      );
      expect(error.message).toContain(problem);
      expect(inspect(error, { depth: 9 })).not.toMatch(/p4ss|t0ken|k3y|sp4re/);
    },
  );

  test("under the name of a kind are not used for another kind, nor for what they can't serve", async () => {
    const wrong = createCredentials({ http: bearer("t0ken") });

    await expect(given(wrong, [{ login: [] }])).rejects.toMatchObject({
      problems: ['for the scheme "login" found "bearer" under "http", wanted http "basic"'],
    });
    await expect(given(wrong, [{ oauth: [] }])).rejects.toMatchObject({ problems: [] });
    const other = createCredentials({ http: bearer("t0ken"), mine: basic({ username: "u", password: "p" }) });
    expect(await given(other, [{ login: [] }])).toMatchObject({ headers: { authorization: "Basic dTpw" } });
  });

  test("of which several could serve a scheme want a name, and none of them goes", async () => {
    const two = { first: apiKey("k3y-1"), second: apiKey("k3y-2") };

    await expect(given(createCredentials(two), [{ key: [] }])).rejects.toMatchObject({
      code: "CREDENTIAL_MISSING",
      problems: [
        'for the scheme "key" found "first" and "second", any of which could serve it, wanted one under its name',
      ],
    });
    const named = createCredentials({ ...two, key: apiKey("k3y") });
    expect(await given(named, [{ key: [] }])).toMatchObject({ query: { k: "k3y" } });
    const placed = createCredentials({ ...two, first: apiKey("k3y-1", { in: "cookie", name: "x" }) });
    expect(await given(placed, [{ key: [] }])).toMatchObject({ query: { k: "k3y-2" } });
  });

  test("that nobody named go for one scheme of an alternative alone", async () => {
    const credentials = createCredentials({ mine: apiKey("k3y") });

    await expect(given(credentials, [{ key: [], cookie: [] }])).rejects.toMatchObject({
      problems: [
        'for the schemes "key" and "cookie" found one that could serve either, wanted each under its name',
      ],
    });
    expect(await given(credentials, [{ key: [], cookie: [] }, { cookie: [] }])).toMatchObject({
      headers: { cookie: "sid=k3y" },
    });
    const ofKind = createCredentials({ apiKey: apiKey("k3y") });
    expect(await given(ofKind, [{ key: [], cookie: [] }])).toMatchObject({
      headers: { cookie: "sid=k3y" },
      query: { k: "k3y" },
    });
  });

  test("that do not fit leave another alternative its turn", async () => {
    const credentials = createCredentials({ key: bearer("wrong"), token: bearer("right") });

    expect(await given(credentials, [{ key: [] }, { token: [] }])).toMatchObject({
      headers: { authorization: "Bearer right" },
      requirement: { schemes: [{ name: "token" }] },
    });
  });

  test("of the caller's own making are taken at their name", async () => {
    const credentials = createCredentials({ key: async () => ({ headers: { "x-mine": "m" } }) });

    expect(await given(credentials, [{ key: [] }])).toMatchObject({ headers: { "x-mine": "m" } });
  });

  test("with a place of the caller's own go there, under the name of the scheme", async () => {
    const credentials = createCredentials({ key: apiKey("k3y", { in: "header", name: "X-Key" }) });

    expect(await given(credentials, [{ key: [] }])).toMatchObject({ headers: { "x-key": "k3y" } });
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
    const logins = createCredentials({
      one: basic({ username: "u", password: "p" }),
      other: basic({ username: "v", password: "q" }),
      mine: bearer("t0ken"),
    });
    expect(await given(logins, [], { challenge: "Basic, Bearer" })).toMatchObject({
      headers: { authorization: "Bearer t0ken" },
    });
    await expect(given(logins, [], { challenge: "Basic" })).rejects.toMatchObject({
      code: "CREDENTIAL_MISSING",
      problems: [
        'for the scheme "basic" found "one" and "other", any of which could serve it, wanted one under its name',
      ],
    });
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
