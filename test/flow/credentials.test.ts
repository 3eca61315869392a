import {
  type AgentCard,
  type AuthRequiredContext,
  apiKey,
  basic,
  bearer,
  type CredentialContext,
  type CredentialsChosenEvent,
  createClient,
  createCredentials,
  type FetchLike,
} from "a2a-lease";
import { oauthClientCredentials } from "a2a-lease/oauth";
import { answer, createScriptedAgent, createTestCard, createTestClock, step } from "a2a-lease/testing";
import { describe, expect, test, vi } from "vitest";
import { createLoginServer } from "../oauth/login-server.ts";
import { caught } from "./caught.ts";

const securitySchemes = {
  oauth: {
    oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: "https://login.example/token" } } },
  },
  key: { apiKeySecurityScheme: { location: "header", name: "X-Key" } },
  queryKey: { apiKeySecurityScheme: { location: "query", name: "key" } },
};
const needs = (...alternatives: Record<string, readonly string[]>[]) => ({
  securitySchemes,
  securityRequirements: alternatives.map((item) => ({
    schemes: Object.fromEntries(Object.entries(item).map(([name, list]) => [name, { list }])),
  })),
});

function setUp(card: Partial<AgentCard>, options: object = {}) {
  const clock = createTestClock();
  const agent = createScriptedAgent({ clock, card: createTestCard(card), ...options });
  const connect = (more: Parameters<typeof createClient>[1]) =>
    createClient(agent.url, { fetch: agent.fetch, clock, ...more });
  return { clock, agent, connect };
}

describe("the requirement of a call", () => {
  test("is the first alternative of the card that can be met, and is told", async () => {
    const { agent, connect } = setUp(needs({ oauth: ["read"] }, { key: [] }));
    const client = await connect({ credentials: createCredentials({ key: apiKey("k3y") }) });
    const told: CredentialsChosenEvent[] = [];
    client.on("credentials-chosen", (event) => told.push(event));
    await client.sendMessage("x");

    expect(agent.calls()[0]?.headers).toMatchObject({ "x-key": "k3y" });
    expect(told).toEqual([
      expect.objectContaining({
        operation: "SendMessage",
        origin: agent.url,
        requirement: { schemes: [{ name: "key", kind: "apiKey", scopes: [] }] },
      }),
    ]);
  });

  test("is the one of the card that is pinned now, for the extended card too", async () => {
    const secured = (name: string): Partial<AgentCard> => ({
      capabilities: { extendedAgentCard: true },
      securitySchemes: { key: { apiKeySecurityScheme: { location: "header", name } } },
      securityRequirements: [{ schemes: { key: { list: [] } } }],
    });
    const { agent, connect } = setUp(secured("x-old"));
    const client = await connect({ credentials: createCredentials({ key: apiKey("k3y-of-ours") }) });
    const asked = () =>
      agent.calls("GetExtendedAgentCard").map(({ headers }) => [headers["x-old"], headers["x-new"]]);
    agent.on("GetExtendedAgentCard", answer.result({ ...createTestCard(secured("x-old")) }));
    await client.getExtendedAgentCard();
    await client.sendMessage("x");
    agent.rotateCard((card) => ({ ...card, ...secured("x-new") }));
    agent.on("GetExtendedAgentCard", answer.result({ ...createTestCard(secured("x-new")) }));
    const next = await client.renegotiate();
    const before = asked().length;
    await next.sendMessage("x");
    expect(asked()[before - 1]).toEqual([undefined, "k3y-of-ours"]);
    expect(asked().slice(before)).toEqual([[undefined, "k3y-of-ours"]]);
  });

  test("is not made wider by another skill of the same id that a posture would take", async () => {
    const { agent, connect } = setUp(needs({ oauth: ["read"] }));
    const login = createLoginServer();
    const oauth = oauthClientCredentials({
      ...{ tokenUrl: `${login.url}/token`, clientId: "us", clientSecret: "of-ours-alone" },
      fetch: login.fetch,
    });
    const client = await connect({
      credentials: createCredentials({ oauth }),
      posture: { onDrift: "degrade", restartable: true },
      requires: { skills: ["summarize"] },
    });
    await client.sendMessage("x");
    const securityRequirements = [{ schemes: { oauth: { list: ["admin"] } } }];
    agent.rotateCard((card) => ({
      ...card,
      skills: card.skills.flatMap((skill) => [skill, { ...skill, securityRequirements }]),
    }));

    expect(await caught(client.sendMessage("x"))).toMatchObject({ reason: "security-changed" });
    expect(login.asked().map(({ form }) => form.scope)).toEqual(["read"]);
  });

  test("is read in the form of the prose as well", async () => {
    const card = { securitySchemes, securityRequirements: [{ key: [] }] } as unknown as Partial<AgentCard>;
    const { agent, connect } = setUp(card);
    const client = await connect({ credentials: createCredentials({ key: apiKey("k3y") }) });
    await client.sendMessage("x");

    expect(agent.calls()[0]?.headers).toMatchObject({ "x-key": "k3y" });
  });

  test("is joined with that of each skill that the call needs, and of no other", async () => {
    const skill = (id: string, asked: readonly Record<string, readonly string[]>[]) => ({
      ...{ id, name: id, description: id, tags: [] },
      securityRequirements: needs(...asked).securityRequirements,
    });
    const skills = [
      skill("plain", []),
      skill("write", [{ oauth: ["write"] }]),
      skill("keyed", [{ key: [] }, { oauth: ["key"] }]),
    ];
    const { connect } = setUp({ ...needs({ oauth: ["read"] }), skills });
    const asked: CredentialContext["requirements"][] = [];
    const client = await connect({
      credentials: async ({ requirements }) => {
        asked.push(requirements);
        return { headers: {} };
      },
    });
    await client.sendMessage("x", { requires: { skills: ["plain"] } });
    await client.sendMessage("x", { requires: { skills: ["write", "keyed"] } });

    expect(asked.map(({ alternatives }) => alternatives.map(({ schemes }) => schemes))).toEqual([
      [{ oauth: { list: ["read"] } }],
      [
        { oauth: { list: ["read", "write"] }, key: { list: [] } },
        { oauth: { list: ["read", "write", "key"] } },
      ],
    ]);
  });

  test("that cannot be met fails before anything is sent, and says what is asked and what is there", async () => {
    const { agent, connect } = setUp(needs({ oauth: ["read"] }, { unheard: [] }));
    const client = await connect({ credentials: createCredentials({ key: apiKey("k3y") }) });

    expect(await caught(client.sendMessage("x"))).toMatchObject({
      code: "CREDENTIAL_MISSING",
      available: ["key (API key)"],
      message: expect.stringContaining("oauth (oauth2: read), or unheard (unknown)"),
    });
    expect(agent.calls()).toEqual([]);
  });

  test.each([
    ["of another kind under the scheme's name", { key: basic({ username: "u", password: "p4ss-w0rd" }) }],
    ["that several could serve", { one: apiKey("k3y-0ne-0123"), two: apiKey("k3y-tw0-0123") }],
  ])("with credentials %s fails before anything is sent", async (_what, providers) => {
    const { agent, connect } = setUp(needs({ key: [] }));
    const client = await connect({ credentials: createCredentials(providers) });
    const error = await caught<Error>(client.sendMessage("x"));

    expect(error).toMatchObject({
      code: "CREDENTIAL_MISSING",
      problems: [expect.stringMatching(/^for the scheme "key" found .+, wanted /)],
    });
    expect(agent.calls()).toEqual([]);
    expect(JSON.stringify(error) + error.stack).not.toMatch(/p4ss|k3y-/);
  });

  test("is on the error of a refusal", async () => {
    const { connect } = setUp(needs({ oauth: ["read"] }), { bearer: "right" });
    const client = await connect({ credentials: createCredentials({ oauth: bearer("wr0ng-token") }) });

    expect(await caught(client.sendMessage("x"))).toMatchObject({
      code: "AUTHENTICATION",
      challenge: expect.stringContaining("Bearer"),
      requirement: { schemes: [{ name: "oauth", kind: "oauth2", scopes: ["read"] }] },
    });
  });
});

test("a key in the query is on the request and on no URL that is told of", async () => {
  const { agent, connect } = setUp(needs({ queryKey: [] }));
  const urls: string[] = [];
  const client = await connect({
    credentials: createCredentials({ queryKey: apiKey("k3y") }),
    retries: false,
    fetch: (url, init) => {
      urls.push(url);
      if (init.method === "POST") throw new TypeError("fetch failed");
      return agent.fetch(url, init);
    },
  });
  const error = await caught<Error>(client.getTask({ id: "t1" }));

  expect(urls).toContain(`${agent.url}/rpc?key=k3y`);
  expect(JSON.stringify(error) + error.stack).not.toContain("k3y");
});

test("a token that the agent refuses is replaced once, for the same message, and the new one is kept", async () => {
  const login = createLoginServer();
  const { agent, clock, connect } = setUp(needs({ oauth: [] }), { bearer: "token-1" });
  const oauth = oauthClientCredentials({ issuer: login.url, clientId: "me", fetch: login.fetch, clock });
  const client = await connect({ credentials: createCredentials({ oauth }) });
  await client.sendMessage("x");
  agent.configure({ bearer: "token-2" });
  agent.clearTranscript();
  await client.sendMessage("y");
  await client.sendMessage("z");

  const [first, second, third] = agent.calls();
  expect([first, second, third].map((call) => call?.headers.authorization)).toEqual([
    "Bearer token-1",
    "Bearer token-2",
    "Bearer token-2",
  ]);
  expect(first?.params).toEqual(second?.params);
  expect(login.asked()).toHaveLength(2);
});

test("the card's own credentials are chosen by its challenge", async () => {
  const { agent, connect } = setUp({}, { cardBearer: "t0ken" });
  await connect({ credentials: createCredentials({ key: apiKey("k3y"), token: bearer("t0ken") }) });

  expect(agent.cardReads().map(({ status }) => status)).toEqual([401, 200]);
});

test("a card that asks for what several could serve is read by none of them", async () => {
  const { agent, connect } = setUp({}, { cardBearer: "t0ken" });
  const credentials = createCredentials({ one: bearer("0ther"), two: bearer("t0ken") });

  expect(await caught(connect({ credentials }))).toMatchObject({ code: "CREDENTIAL_MISSING" });
  expect(agent.cardReads().map(({ headers }) => headers.authorization)).toEqual([undefined]);
});

describe("a task that wants an authorization", () => {
  const plan = [step.working(), step.authRequired("Sign in"), step.working(), step.completed()];

  test("tells the hook once, and its wait goes on where the hook says so", async () => {
    const { agent, clock, connect } = setUp({ capabilities: {} });
    const hook = vi.fn(async ({ task }: AuthRequiredContext) => {
      agent.step(task.id);
      return "wait" as const;
    });
    const client = await connect({ onAuthRequired: hook });
    agent.planNext(plan);
    const outcome = client.delegate("x");
    for (let looks = 0; looks < 12; looks += 1) await clock.advance(30_000);

    expect((await outcome).status).toBe("completed");
    expect(hook).toHaveBeenCalledTimes(1);
    expect(hook).toHaveBeenCalledWith(
      expect.objectContaining({
        task: expect.objectContaining({
          status: expect.objectContaining({ state: "TASK_STATE_AUTH_REQUIRED" }),
        }),
        message: expect.objectContaining({ parts: [{ text: "Sign in" }] }),
        details: [],
      }),
    );
  });

  test("ends the wait where the hook says nothing, and tells it no second time", async () => {
    const { agent, clock, connect } = setUp({ capabilities: {} });
    const hook = vi.fn(async () => undefined);
    const client = await connect({ onAuthRequired: hook });
    agent.planNext([step.working(), step.authRequired("Sign in")]);
    const outcome = client.delegate("x");
    for (let looks = 0; looks < 4; looks += 1) await clock.advance(30_000);

    const { status, ...rest } = await outcome;
    expect(status).toBe("auth-required");
    if ("task" in rest) await (await client.task(rest.task.id)).result();
    expect(hook).toHaveBeenCalledTimes(1);
  });

  test("hands on what the hook throws", async () => {
    const { agent, clock, connect } = setUp({ capabilities: {} });
    const client = await connect({ onAuthRequired: () => Promise.reject("no") });
    agent.planNext([step.working(), step.authRequired("Sign in")]);
    const failing = caught(client.delegate("x"));
    for (let looks = 0; looks < 4; looks += 1) await clock.advance(30_000);

    expect(await failing).toBe("no");
  });
});

describe("what the server asks for", () => {
  const throwing = (error: unknown) => async (context: CredentialContext) => {
    if (context.challenge !== undefined) throw error;
    return undefined;
  };

  test.each([
    ["an error", new Error("the vault is shut"), 'threw "the vault is shut"'],
    ["an error without a word", new Error(" "), "threw an error without a word"],
    ["a text", "no", "threw something that is no error"],
  ])("is no end in the air where it said nothing and the function throws %s", async (_what, thrown, told) => {
    const { connect, silent } = withSilentRefusals();
    const client = await connect({ fetch: silent, credentials: throwing(thrown) });
    const error = await caught<Error>(client.sendMessage("x"));

    expect(error.message).toMatch(
      new RegExp(`: found that the credentials function ${told}, wanted .+, or undefined$`),
    );
    expect(error).toMatchObject({ challenge: undefined });
  });

  test.each([
    ["nothing", async () => undefined],
    ["the same", { bearer: "wr0ng-token-01" }],
  ])("is none where it said nothing and the function gives %s", async (_what, credentials) => {
    const { connect, silent } = withSilentRefusals();
    const client = await connect({ fetch: silent, credentials });
    const error = await caught<Error>(client.sendMessage("x"));

    expect(error).toMatchObject({ code: "AUTHENTICATION" });
    expect(error.message).toMatch(/wanted accepted credentials$/);
    expect(error).toMatchObject({ challenge: undefined });
  });

  /** An agent whose refusals have an empty challenge. */
  function withSilentRefusals() {
    const { agent, connect } = setUp({}, { bearer: "right" });
    const silent: FetchLike = async (url, init) => {
      const response = await agent.fetch(url, init);
      if (response.status !== 401) return response;
      return new Response("", { status: 401, headers: { "www-authenticate": "" } });
    };
    return { connect, silent };
  }
});

test("without credentials a call goes out without any, whatever the card asks for", async () => {
  const { agent, connect } = setUp(needs({ oauth: [] }, { key: [] }), { bearer: "right" });
  const client = await connect({});

  expect(await caught(client.sendMessage("x"))).toMatchObject({ code: "AUTHENTICATION" });
  expect(agent.calls().map(({ headers }) => headers.authorization)).toEqual([undefined]);
});
