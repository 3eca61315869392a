import {
  type AgentCard,
  AuthenticationError,
  apiKey,
  type ClientOptions,
  type CredentialContext,
  chooseRequirement,
  createClient,
  createCredentials,
  type RetryEvent,
} from "a2a-lease";
import { createNodeFetch } from "a2a-lease/node";
import { oauthClientCredentials } from "a2a-lease/oauth";
import { answer, createScriptedAgent, createTestCard, createTestClock } from "a2a-lease/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { startServer } from "../node/servers.ts";
import { createLoginServer } from "../oauth/login-server.ts";

const origin = "https://agent.example";
const secret = "s3cret-of-the-caller";
const at = (...urls: readonly string[]): Partial<AgentCard> => ({
  supportedInterfaces: urls.map((url) => ({ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" })),
});

describe("a token where the card says (G1)", () => {
  /** A client that has secrets of every make, and what everybody but the agent was sent. */
  async function setUp(card: Partial<AgentCard>, rpc: () => Response) {
    const strangers: string[] = [];
    const fetch = async (url: string, init: RequestInit) => {
      const headers = [...new Headers(init.headers)];
      if (new URL(url).origin !== origin) strangers.push(JSON.stringify([url, headers, init.body ?? ""]));
      return init.method === "GET" ? Response.json(createTestCard(card)) : rpc();
    };
    const client = await createClient(origin, {
      fetch,
      clock: createTestClock(),
      credentials: { bearer: secret },
      headers: { "x-private": secret },
      retries: false,
    });
    return { client, strangers };
  }
  const down = () => {
    throw Object.assign(new TypeError("refused"), { code: "ECONNREFUSED" });
  };
  const wants: Partial<AgentCard> = {
    securitySchemes: { b: { httpAuthSecurityScheme: { scheme: "bearer" } } },
    securityRequirements: [{ schemes: { b: { list: [] } } }],
  };

  test.each<[string, Partial<AgentCard>, () => Response]>([
    ["the only interface", at("https://evil.example/rpc"), () => Response.json({})],
    [
      "the only interface, which asks",
      { ...at("https://evil.example/rpc"), ...wants },
      () => Response.json({}),
    ],
    [
      "an interface that refuses to go without",
      at("https://evil.example/rpc"),
      () => new Response("", { status: 401, headers: { "www-authenticate": "Bearer" } }),
    ],
    ["an extra interface, when the first is down", at(`${origin}/rpc`, "https://evil.example/rpc"), down],
    ["a name that holds the agent's", at("https://agent.example.evil.example/rpc"), () => Response.json({})],
    ["another port", at(`${origin}:8443/rpc`), () => Response.json({})],
    ["a path that holds the agent's", at(`https://evil.example/${origin}/rpc`), () => Response.json({})],
  ])("does not go to %s", async (_where, card, rpc) => {
    const { client, strangers } = await setUp(card, rpc);
    await caught(client.sendMessage("x", { headers: { "x-mine": secret } }));
    await caught(client.sendStreamingMessage("x", { headers: { "x-mine": secret } }));

    expect(strangers.join("\n")).not.toContain(secret);
  });

  test.each([301, 302, 303, 307, 308])(
    "does not go along with a %i, and neither does the call",
    async (status) => {
      const redirect = () => new Response("", { status, headers: { location: "https://evil.example/" } });
      const { client, strangers } = await setUp(at(`${origin}/rpc`), redirect);

      expect(await caught(client.sendMessage("x"))).toMatchObject({ name: "RedirectRefusedError" });
      expect(strangers).toEqual([]);
    },
  );
});

describe("a URL of a card that leads inside (G2)", () => {
  const connect = (card: Partial<AgentCard>, options: Partial<ClientOptions> = {}) => {
    const agent = createScriptedAgent({ clock: createTestClock(), card: createTestCard(card) });
    return createClient(origin, { fetch: agent.fetch, clock: createTestClock(), ...options });
  };

  test.each([
    "https://exämple.example/rpc",
    "https://agent.exаmple/rpc",
    "http://agent.example/rpc",
    "https://127.0.0.1/rpc",
    "https://2130706433/rpc",
    "https://0177.0.0.1/rpc",
    "https://[::ffff:10.0.0.1]/rpc",
    "https://[fe80::1]/rpc",
    "https://169.254.169.254/latest",
    "https://metadata.google.internal/rpc",
    "https://localhost/rpc",
    "https://router/rpc",
  ])("is refused, as often as it is asked for: %s", async (url) => {
    for (const _again of [1, 2]) {
      const error = await caught(connect(at(url)));
      expect((error as Error).name).toMatch(/^(?:AddressRefused|CardInvalid|NoSupportedInterface)Error$/);
    }
  });

  test("is put to the caller's own rule, which has the last word", async () => {
    const asked: string[] = [];
    const allow = (url: URL) => {
      asked.push(url.href);
      return url.hostname === "10.0.0.1";
    };
    const client = await connect(at("https://10.0.0.1/rpc"), { addressPolicy: { allow } });
    await caught(connect(at("https://public.example/rpc"), { addressPolicy: { allow } }));

    expect(client.pin.interface.url).toBe("https://10.0.0.1/rpc");
    expect(new Set(asked)).toEqual(new Set(["https://10.0.0.1/rpc", "https://public.example/rpc"]));
  });

  test("by a name that changes where it leads between the card and the call is refused at the call", async () => {
    const agent = await startServer();
    const inside = await startServer();
    agent.answer = () => ({ body: createTestCard(at(`http://rebind.example:${inside.port}/rpc`)) });
    const answers = ["203.0.113.5", "127.0.0.1", "93.184.215.14"];
    const fetch = createNodeFetch({
      allowHosts: ["agent.example"],
      async lookup(host) {
        const address = host === "agent.example" ? "127.0.0.1" : (answers.shift() ?? "10.0.0.1");
        return [{ address, family: 4 }];
      },
    });
    onTestFinished(() => fetch.close());
    const client = await createClient(`http://agent.example:${agent.port}/card.json`, {
      fetch,
      addressPolicy: { allowHttp: true },
    });

    for (const _again of [1, 2]) {
      expect(await caught(client.sendMessage("x"))).toMatchObject({ name: "AddressRefusedError" });
    }
    expect([answers, inside.connections]).toEqual([["93.184.215.14"], 0]);
  });
});

describe("how to get a token (G3)", () => {
  const card: Partial<AgentCard> = {
    securitySchemes: {
      oauth: {
        oauth2SecurityScheme: {
          flows: { clientCredentials: { tokenUrl: "https://login.example/token", scopes: { read: "Read" } } },
        },
      },
      apiKey: { apiKeySecurityScheme: { location: "header", name: "x-key" } },
    },
    securityRequirements: [{ schemes: { oauth: { list: ["read"] } } }, { schemes: { apiKey: { list: [] } } }],
  };
  function setUp() {
    const clock = createTestClock();
    const agent = createScriptedAgent({ clock, card: createTestCard(card) });
    return { clock, agent, fetch: agent.fetch };
  }

  test("is told to the caller's function: alternatives, schemes, scopes and URLs", async () => {
    const { agent, ...options } = setUp();
    const asked: CredentialContext[] = [];
    const client = await createClient(origin, {
      ...options,
      async credentials(context) {
        asked.push(context);
        const requirement = chooseRequirement(context.requirements, (name) => name === "apiKey");
        return { headers: { "x-key": secret }, ...(requirement ? { requirement } : {}) };
      },
    });
    const chosen: unknown[] = [];
    client.on("credentials-chosen", ({ requirement }) => chosen.push(requirement));
    await client.sendMessage("x");

    expect(asked.at(-1)).toMatchObject({
      origin,
      purpose: "call",
      requirements: { alternatives: card.securityRequirements, schemes: card.securitySchemes },
    });
    expect(chosen).toEqual([{ schemes: [{ name: "apiKey", kind: "apiKey", scopes: [] }] }]);
    expect(agent.calls()[0]?.headers["x-key"]).toBe(secret);
  });

  test.each<[string, string]>([
    ["oauth", "oauth2"],
    ["apiKey", "apiKey"],
  ])("is found by what the caller has, and said which: %s", async (name, kind) => {
    const { agent, clock, fetch } = setUp();
    const login = createLoginServer();
    const oauth = oauthClientCredentials({ issuer: login.url, clientId: "me", fetch: login.fetch, clock });
    const providers = name === "oauth" ? { oauth } : { apiKey: apiKey(secret) };
    const client = await createClient(origin, { fetch, clock, credentials: createCredentials(providers) });
    const chosen: unknown[] = [];
    client.on("credentials-chosen", ({ requirement }) => chosen.push(requirement.schemes));
    await client.sendMessage("x");

    expect(chosen).toEqual([[{ name, kind, scopes: name === "oauth" ? ["read"] : [] }]]);
    expect(agent.calls()).toHaveLength(1);
  });
});

describe("a refusal by 401 (G6)", () => {
  const refusal = (status: number) =>
    answer.json({}, { status, headers: { "www-authenticate": 'Bearer realm="a"' } });
  async function setUp(...statuses: readonly number[]) {
    const clock = createTestClock();
    const agent = createScriptedAgent({ clock });
    for (const status of statuses) agent.once("SendMessage", refusal(status));
    let tokens = 0;
    const client = await createClient(agent.url, {
      fetch: agent.fetch,
      clock,
      headers: { "x-all": "each request" },
      async credentials() {
        tokens += 1;
        return { headers: { authorization: `Bearer token-${tokens}` } };
      },
    });
    const retries: RetryEvent[] = [];
    client.on("retry", (event) => retries.push(event));
    const send = () => client.sendMessage("x", { headers: { traceparent: "00-1" } });
    const posts = () =>
      agent.calls("SendMessage").map(({ headers, params }) => ({
        token: headers.authorization,
        own: [headers["x-all"], headers.traceparent],
        messageId: (params as { message?: { messageId?: string } }).message?.messageId,
      }));
    return { send, posts, retries };
  }

  test("is answered once, by the same message with other credentials, and told", async () => {
    const { send, posts, retries } = await setUp(401);
    await send();

    const [first, second, ...more] = posts();
    expect(more).toEqual([]);
    expect(second).toEqual({ ...first, token: "Bearer token-2" });
    expect(first).toMatchObject({ own: ["each request", "00-1"], messageId: expect.any(String) });
    expect(retries).toMatchObject([
      { operation: "SendMessage", code: "AUTHENTICATION", with: "credentials" },
    ]);
  });

  test("that comes again is the error of the call, with its challenge", async () => {
    const { send, posts } = await setUp(401, 401);

    const error = await caught(send(), AuthenticationError);
    expect([error.challenge, posts().length]).toEqual(['Bearer realm="a"', 2]);
  });

  test.each([400, 403, 404, 409, 429, 500, 502, 503])(
    "is the only one that a message is sent again for: %i",
    async (status) => {
      const { send, posts, retries } = await setUp(status);
      await caught(send());

      expect([posts().length, retries]).toEqual([1, []]);
    },
  );
});
