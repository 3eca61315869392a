import { inspect } from "node:util";
import {
  AuthenticationError,
  apiKey,
  basic,
  bearer,
  type CredentialContext,
  CredentialMissingError,
  type CredentialProvider,
  createClient,
  createCredentials,
  type SchemeProvider,
  type SecurityScheme,
} from "a2a-lease";
import { oauthClientCredentials, oauthRefresh } from "a2a-lease/oauth";
import { createScriptedAgent, createTestCard } from "a2a-lease/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { createLoginServer } from "../oauth/login-server.ts";

const schemes: Record<string, SecurityScheme> = {
  key: { apiKeySecurityScheme: { location: "header", name: "x-key" } },
  token: { httpAuthSecurityScheme: { scheme: "Bearer" } },
  user: { oauth2SecurityScheme: { flows: { authorizationCode: { tokenUrl: "https://a.example/t" } } } },
  any: { oauth2SecurityScheme: { flows: {} } },
};

function contextOf(names: readonly (readonly string[])[], more: Partial<CredentialContext> = {}) {
  const alternatives = names.map((item) => ({
    schemes: Object.fromEntries(item.map((name) => [name, { list: [] }])),
  }));
  const signal = new AbortController().signal;
  const purpose = "call" as const;
  return {
    origin: "https://agent.example",
    purpose,
    requirements: { alternatives, schemes },
    signal,
    ...more,
  };
}

const given = (provider: CredentialProvider, ...args: Parameters<typeof contextOf>) =>
  provider(contextOf(...args));

describe("a function that has no secret for this", () => {
  const none = () => undefined;

  test("leaves the next alternative its turn", async () => {
    const credentials = createCredentials({ key: apiKey(none), token: bearer("t0ken") });

    expect(await given(credentials, [["key"], ["token"]])).toMatchObject({
      headers: { authorization: "Bearer t0ken" },
      requirement: { schemes: [{ name: "token" }] },
    });
    // The same by a provider of the caller's own.
    const own = createCredentials({ key: async () => undefined, token: bearer("t0ken") });
    expect(await given(own, [["key"], ["token"]])).toMatchObject({
      requirement: { schemes: [{ name: "token" }] },
    });
  });

  test("keeps the others of the same alternative from being asked in vain", async () => {
    let asked = 0;
    const credentials = createCredentials({
      key: apiKey(none),
      token: bearer(() => {
        asked += 1;
        return "t0ken";
      }),
    });

    await caught(given(credentials, [["key", "token"]]));
    expect(asked).toBe(0);
  });

  test("is told where there is no other alternative", async () => {
    const credentials = createCredentials({ key: apiKey(none), token: async () => undefined });

    const error = await caught(given(credentials, [["key"], ["token"]]), CredentialMissingError);
    expect(error.problems).toEqual([
      'for the scheme "key" found that "API key" gave none, wanted a secret',
      'for the scheme "token" found that "a function" gave none, wanted a secret',
    ]);
    expect(error.message).toContain('for the scheme "key" found that "API key" gave none, wanted a secret');
  });

  test("once the agent refused what was sent, leaves its refusal to be told", async () => {
    const credentials = createCredentials({ key: apiKey(none) });
    const error = await caught(given(credentials, [["key"]], { challenge: "Key" }), AuthenticationError);

    expect(error).toMatchObject({ challenge: "Key", requirement: { schemes: [{ name: "key" }] } });
    expect(error.message).toContain('found none for the scheme "key", wanted other credentials');
  });

  test("and no scheme on the card is left to what the challenge names next", async () => {
    const credentials = createCredentials({
      mine: bearer(none),
      login: basic({ username: "u", password: "p" }),
    });
    const open = { challenge: "Bearer, Basic" };

    expect(await given(credentials, [], open)).toMatchObject({ headers: { authorization: "Basic dTpw" } });
    expect(await caught(given(createCredentials({ mine: bearer(none) }), [], open))).toMatchObject({
      code: "AUTHENTICATION",
      challenge: "Bearer, Basic",
    });
  });
});

describe("a function that gives something else than a secret", () => {
  const makers: [string, (source: () => string) => SchemeProvider][] = [
    ["apiKey()", (source) => apiKey(source)],
    ["bearer()", (source) => bearer(source)],
    ["basic()", (password) => basic({ username: "u", password })],
  ];
  const context = { requirements: { alternatives: [], schemes: { key: schemes.key ?? {} } } };
  test.each<[string, unknown]>([
    ["an empty text", ""],
    ["a number", 5],
    ["null", null],
    ["an object", { token: "s3cret-of-me" }],
  ])("is named where it gives %s", async (found, wrong) => {
    for (const [name, make] of makers) {
      const error = await caught(
        given(
          make(() => wrong as string),
          [],
          context,
        ),
        AuthenticationError,
      );
      expect(error.message).toBe(
        `https://agent.example: found that the function of ${name} gave ${found}, wanted a text or undefined`,
      );
      expect(inspect(error, { depth: 9 })).not.toContain("s3cret");
    }
  });

  test("is named where it throws", async () => {
    for (const [name, make] of makers) {
      const provider = make(() => {
        throw new Error("the vault is closed, token=s3cret-of-me-01");
      });
      const error = await caught(given(provider, [], context), AuthenticationError);
      expect(error.message).toContain(`found that the function of ${name} threw "the vault is closed, `);
      expect(error.message).toMatch(/", wanted a text or undefined$/);
    }
  });

  test("goes on as it is where it is an error of this library, or the caller gave up", async () => {
    const refusal = new AuthenticationError("https://vault.example", {});
    const failing = bearer(() => {
      throw refusal;
    });
    expect(await caught(given(failing, []))).toBe(refusal);
    const controller = new AbortController();
    const leaving = bearer(() => {
      controller.abort("gone");
      throw new Error("aborted");
    });
    expect(await caught(given(leaving, [], { signal: controller.signal }))).toBe("gone");
  });
});

describe("a provider of the caller's own", () => {
  test.each<[string, unknown]>([
    ["a text", "k3y-s3cret"],
    ["a number", 5],
    ["an object", { authorization: "Bearer k3y-s3cret" }],
    ["a list", ["k3y-s3cret"]],
    ["null", null],
  ])("that gives %s is named by its scheme, and nothing goes without it", async (found, wrong) => {
    const credentials = createCredentials({ key: async () => wrong as { headers: Record<string, string> } });
    const error = await caught(given(credentials, [["key"]]), AuthenticationError);

    expect(error.message).toBe(
      `https://agent.example: found that the provider for the scheme "key" gave ${found}, wanted { headers } or { query }, or undefined`,
    );
    expect(inspect(error, { depth: 9 })).not.toContain("s3cret");
  });

  test("that throws is named by its scheme", async () => {
    const credentials = createCredentials({
      key: async () => {
        throw new Error("Invalid URL");
      },
    });
    const error = await caught(given(credentials, [["key"]]), AuthenticationError);

    expect(error.message).toBe(
      'https://agent.example: found that the provider for the scheme "key" threw "Invalid URL", wanted { headers } or { query }, or undefined',
    );
  });

  test("may give its headers as Headers", async () => {
    const headers = new Headers({ "X-Key": "k3y" }) as unknown as Record<string, string>;
    const credentials = createCredentials({ key: async () => ({ headers }), token: bearer("t0ken") });

    expect(await given(credentials, [["key", "token"]])).toMatchObject({
      headers: { "x-key": "k3y", authorization: "Bearer t0ken" },
    });
  });
});

describe("a scheme that the card does not define", () => {
  test("is told as that, and an API key has no place there", async () => {
    const credentials = createCredentials({ ghost: apiKey("k3y-s3cret") });

    await expect(given(credentials, [["ghost"]])).rejects.toMatchObject({
      code: "CREDENTIAL_MISSING",
      problems: [
        'for the scheme "ghost" found no definition on the card, wanted one that says where an API key goes, or the options in and name',
      ],
    });
    await expect(given(createCredentials({ key: bearer("t") }), [["ghost"]])).rejects.toMatchObject({
      problems: [
        'for the scheme "ghost" found no definition on the card, wanted one, or a provider under its name',
      ],
    });
  });

  test("leaves another alternative its turn", async () => {
    const credentials = createCredentials({ ghost: apiKey("k3y"), token: bearer("t0ken") });

    expect(await given(credentials, [["ghost"], ["token"]])).toMatchObject({
      requirement: { schemes: [{ name: "token" }] },
    });
  });

  test("is served by what needs no definition", async () => {
    const placed = createCredentials({ ghost: apiKey("k3y", { in: "query", name: "k" }) });
    expect(await given(placed, [["ghost"]])).toMatchObject({ query: { k: "k3y" } });
    expect(await given(createCredentials({ ghost: bearer("t0ken") }), [["ghost"]])).toMatchObject({
      headers: { authorization: "Bearer t0ken" },
    });
  });

  test("is not the only one that leaves an API key alone without a place", async () => {
    const alone = apiKey("k3y-s3cret");
    const two = {
      ...contextOf([]),
      requirements: { alternatives: [], schemes: { one: schemes.key, two: schemes.key } },
    };

    await expect(alone(contextOf([], { requirements: { alternatives: [], schemes: {} } }))).rejects.toThrow(
      "https://agent.example: found no API key among the schemes of the card, wanted one that says where it goes, or the options in and name",
    );
    await expect(alone(two as CredentialContext)).rejects.toThrow(
      "found several API keys among the schemes of the card, wanted one",
    );
  });
});

describe("the flow by which a token comes", () => {
  const server = createLoginServer();
  const options = { issuer: server.url, clientId: "me", fetch: server.fetch };

  test("is one that the card offers, where nobody named the scheme", async () => {
    const token = oauthClientCredentials(options);
    const why = 'found "OAuth 2.0 client credentials" under';
    const wanted = "wanted the flow authorizationCode, or it under the scheme's own name";
    for (const name of ["oauth2", "mine"]) {
      await expect(given(createCredentials({ [name]: token }), [["user"]])).rejects.toMatchObject({
        code: "CREDENTIAL_MISSING",
        problems: [`for the scheme "user" ${why} "${name}", ${wanted}`],
      });
      expect(server.requests).toEqual([]);
    }
  });

  test("is left to the caller, where the scheme is named", async () => {
    expect(
      await given(createCredentials({ user: oauthClientCredentials(options) }), [["user"]]),
    ).toMatchObject({
      requirement: { schemes: [{ name: "user" }] },
    });
  });

  test("does not count where the card lists none, nor for a token from elsewhere", async () => {
    const token = oauthClientCredentials(options);
    expect(await given(createCredentials({ oauth2: token }), [["any"]])).toBeDefined();
    expect(await given(createCredentials({ mine: token }), [["any"]])).toBeDefined();
    expect(await given(createCredentials({ oauth2: bearer("t0ken") }), [["user"]])).toBeDefined();
  });

  test("decides between two that could serve the scheme", async () => {
    const refreshing = oauthRefresh({ ...options, refreshToken: "r0" });
    const credentials = createCredentials({ one: oauthClientCredentials(options), other: refreshing });
    await given(credentials, [["user"]]);

    expect(server.asked().at(-1)?.form.grant_type).toBe("refresh_token");
  });
});

test.each([
  ["apiKey", (secret: string) => apiKey(secret)],
  ["bearer", (secret: string) => bearer(secret)],
  ["basic.password", (password: string) => basic({ username: "u", password })],
])("%s says of an empty text that it is one", (name, make) => {
  const wanted = "wanted a text that is not empty, or a function";
  expect(() => make("")).toThrow(new TypeError(`${name}: found an empty text, ${wanted}`));
  expect(() => make(undefined as never)).toThrow(`${name}: found undefined, ${wanted}`);
});

test("a bearer token that is an empty text is told when the client is made", async () => {
  const make = createClient("https://agent.example", { credentials: { bearer: "" } });
  await expect(make).rejects.toThrow(
    new TypeError("credentials.bearer: found an empty text, wanted a token"),
  );
});

test("nothing leaves where the only function has nothing, and the call says so", async () => {
  const card = createTestCard({
    securitySchemes: { key: { apiKeySecurityScheme: { location: "header", name: "x-key" } } },
    securityRequirements: [{ schemes: { key: { list: [] } } }],
  });
  const agent = createScriptedAgent({ card });
  const listener = await agent.listen();
  onTestFinished(() => listener.close());
  const credentials = createCredentials({ key: apiKey(() => undefined) });
  const client = await createClient(listener.url, { credentials });
  onTestFinished(() => client.close());

  expect(await caught(client.sendMessage("x"), CredentialMissingError)).toMatchObject({
    problems: ['for the scheme "key" found that "API key" gave none, wanted a secret'],
  });
  expect(agent.calls("SendMessage")).toEqual([]);
});
