import { cardDigest, createClient } from "a2a-lease";
import { answer, createScriptedAgent, createTestCard, createTestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";

const clock = createTestClock();
const connect = (agent: ReturnType<typeof createScriptedAgent>, url: string) =>
  createClient(url, { fetch: agent.fetch, clock });
const paths = (agent: ReturnType<typeof createScriptedAgent>) =>
  agent.cardReads().map(({ path, status }) => `${status} ${path}`);

describe("where a card is found", () => {
  test("a base URL with a path keeps its path", async () => {
    const agent = createScriptedAgent({ clock, cardPath: "/foo/.well-known/agent-card.json" });

    const client = await connect(agent, `${agent.url}/foo`);

    expect(client.card.name).toBe("Test agent");
    expect(paths(agent)).toEqual(["200 /foo/.well-known/agent-card.json"]);
  });

  test("a card at the origin is found from the address of the endpoint, and checked where it was found", async () => {
    const agent = createScriptedAgent({ clock, rpcPath: "/a2a" });
    const client = await connect(agent, `${agent.url}/a2a`);

    await client.sendMessage("hello");

    expect(paths(agent)).toEqual([
      "404 /a2a/.well-known/agent-card.json",
      "200 /.well-known/agent-card.json",
      "304 /.well-known/agent-card.json",
    ]);
    expect(client.lease.url).toBe(`${agent.url}/.well-known/agent-card.json`);
  });

  test("an authentication failure at the first place is that, and not a card that is missing", async () => {
    const agent = createScriptedAgent({ clock });
    agent.once("card", answer.http(401, "", { "www-authenticate": "Bearer" }));

    await expect(connect(agent, agent.url)).rejects.toMatchObject({
      name: "CardAuthError",
      status: 401,
      challenge: "Bearer",
    });
    expect(agent.cardReads()).toHaveLength(1);
  });

  test("a card URL is used verbatim, with its query, at every check", async () => {
    const cardPath = "/cards/agent-card.json?assistant=9";
    const agent = createScriptedAgent({ clock, cardPath });
    const client = await connect(agent, `${agent.url}${cardPath}`);

    await client.sendMessage("hello");

    expect(paths(agent)).toEqual([`200 ${cardPath}`, `304 ${cardPath}`]);
  });

  test.each([["as a plain URL"], ["as a card URL"]])(
    "a card at a path of its own is found, given %s",
    async (how) => {
      const agent = createScriptedAgent({ clock, cardPath: "/v1/card" });
      const url = `${agent.url}/v1/card`;

      const source = how === "as a card URL" ? { cardUrl: url } : url;
      const client = await createClient(source, { fetch: agent.fetch, clock });
      await client.sendMessage("hello");

      expect(client.lease.url).toBe(url);
      expect(paths(agent).at(-1)).toBe("304 /v1/card");
    },
  );

  test("when there is no card anywhere the error lists every URL with its status", async () => {
    const agent = createScriptedAgent({ clock, cardPath: "/elsewhere" });

    await expect(connect(agent, `${agent.url}/foo`)).rejects.toMatchObject({
      name: "CardNotFoundError",
      attempts: [
        { url: `${agent.url}/foo/.well-known/agent-card.json`, status: 404 },
        { url: `${agent.url}/.well-known/agent-card.json`, status: 404 },
        { url: `${agent.url}/foo/.well-known/agent.json`, status: 404 },
        { url: `${agent.url}/.well-known/agent.json`, status: 404 },
        { url: `${agent.url}/foo`, status: 404 },
      ],
    });
  });
});

describe("what a card must be", () => {
  const serve = (body: string, headers: Record<string, string> = { "content-type": "application/json" }) => {
    const agent = createScriptedAgent({ clock });
    agent.on("card", answer.http(200, body, headers));
    return connect(agent, agent.url);
  };

  test("an empty object is refused with everything that it lacks", async () => {
    const error = await serve("{}").catch((caught) => caught);

    expect(error).toMatchObject({ name: "CardInvalidError", code: "CARD_INVALID" });
    expect(error.issues.map(({ path }: { path: string }) => path)).toEqual([
      "$.name",
      "$.description",
      "$.version",
      "$.capabilities",
      "$.supportedInterfaces",
    ]);
    expect(error.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test("a capability that is no boolean is refused with its path", async () => {
    const card = createTestCard({ capabilities: { streaming: "yes" } as never });

    await expect(serve(JSON.stringify(card))).rejects.toMatchObject({
      name: "CardInvalidError",
      issues: [{ path: "$.capabilities.streaming", message: 'found string "yes", wanted a boolean' }],
    });
  });

  test("a login page with status 200 is no card", async () => {
    await expect(serve("<html>login</html>", { "content-type": "text/html" })).rejects.toMatchObject({
      name: "CardUnreadableError",
      reason: "html",
    });
  });

  test("a relative interface URL is refused with its path", async () => {
    const card = createTestCard({
      supportedInterfaces: [{ url: "/a2a/agent", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    });

    await expect(serve(JSON.stringify(card))).rejects.toMatchObject({
      name: "CardInvalidError",
      issues: [
        { path: "$.supportedInterfaces[0].url", message: 'found "/a2a/agent", wanted an absolute URL' },
      ],
    });
  });

  test("a card of the older protocol is told by its shape", async () => {
    const { supportedInterfaces: _none, ...rest } = createTestCard();
    const card = { ...rest, url: "https://agent.example/rpc", protocolVersion: "0.3.0" };

    await expect(serve(JSON.stringify(card))).rejects.toMatchObject({
      name: "ProtocolVersionError",
      offered: ["0.3.0"],
      implemented: ["1.0"],
    });
  });

  test("an interface that downgrades to http is refused, and asking twice does not help", async () => {
    const agent = createScriptedAgent({
      clock,
      card: createTestCard({
        supportedInterfaces: [
          { url: "http://internal.example:8080/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        ],
      }),
    });
    const first = await connect(agent, agent.url).catch((caught) => caught);
    const second = await connect(agent, agent.url).catch((caught) => caught);

    expect(first).toMatchObject({ name: "CardInvalidError" });
    expect(second.toJSON()).toEqual(first.toJSON());
    expect(agent.calls()).toEqual([]);
  });

  test("explicit nulls count as absent for the reader and as they are for the digest", async () => {
    const nulls = { provider: null, documentationUrl: null, securitySchemes: null, signatures: null };
    const card = { ...createTestCard(), ...nulls };
    const agent = createScriptedAgent({ clock, card: card as never });

    const client = await connect(agent, agent.url);

    expect(client.card).not.toHaveProperty("provider");
    expect(client.pin.digest).toBe(cardDigest(card));
    expect(client.pin.digest).not.toBe(cardDigest(createTestCard()));
  });

  test("unknown members are ignored by the reader and kept by the digest", async () => {
    const card = createTestCard({ "x-future": { a: 1 } });
    const agent = createScriptedAgent({ clock, card });

    const client = await connect(agent, agent.url);

    expect(client.card).toHaveProperty("x-future", { a: 1 });
    expect(client.pin.digest).not.toBe(cardDigest(createTestCard()));
  });

  test("white space says nothing: the digest of an indented card is that of the compact one", async () => {
    const agent = createScriptedAgent({ clock, indent: 2 });

    const client = await connect(agent, agent.url);

    expect(client.lease).toMatchObject({
      digest: cardDigest(createTestCard()),
      url: `${agent.url}/.well-known/agent-card.json`,
      interface: { url: `${agent.url}/rpc` },
      fetchedAt: "2026-01-01T00:00:00.000Z",
      stale: false,
      sameOrigin: true,
    });
  });

  test("a one-of in the inner form that servers of the official SDK give is read as its member", async () => {
    const scheme = {
      $case: "oauth2SecurityScheme",
      value: {
        flows: {
          flow: {
            $case: "clientCredentials",
            value: { tokenUrl: "https://auth.example/token", scopes: { read: "" } },
          },
        },
      },
    };
    const card = createTestCard({ securitySchemes: { login: { scheme } } as never });
    const agent = createScriptedAgent({ clock, card });

    const client = await connect(agent, agent.url);

    expect(client.pin.securitySchemes).toEqual([{ name: "login", kind: "oauth2" }]);
    expect(client.card.securitySchemes?.login?.oauth2SecurityScheme?.flows.clientCredentials?.tokenUrl).toBe(
      "https://auth.example/token",
    );
    expect(client.deviations).toMatchObject([
      { kind: "one-of-form", path: "$.securitySchemes.login.scheme" },
    ]);
  });
});
