import { type AgentCard, CardDriftError, createClient, UnsupportedOperationError } from "a2a-lease";
import { answer, createScriptedAgent, createTestCard, createTestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";

const clock = createTestClock();
const connect = (agent: ReturnType<typeof createScriptedAgent>, options = {}) =>
  createClient(agent.url, { fetch: agent.fetch, clock, ...options });

describe("how a change of the card is noticed", () => {
  test("a 304 to the stored validator renews the lease", async () => {
    const agent = createScriptedAgent({ clock, etag: "content", cacheControl: "max-age=0" });
    const client = await connect(agent);

    await client.sendMessage("hello");

    const [first, second] = agent.cardReads();
    expect(first).toMatchObject({ status: 200, fullRead: true });
    expect(second).toMatchObject({ status: 304, fullRead: false });
    expect(second?.headers["if-none-match"]).toMatch(/^"/);
  });

  test("a server without validators is read in full and compared", async () => {
    const agent = createScriptedAgent({ clock, etag: "none" });
    const client = await connect(agent, { requires: { streaming: true } });
    agent.rotateCard((card) => ({ ...card, capabilities: { streaming: false } }));

    const error = await caught(client.sendMessage("hello"), CardDriftError);

    expect(error).toBeInstanceOf(CardDriftError);
    expect(error.reason).toBe("streaming-disabled");
    expect(error.drift.changes).toEqual([
      {
        pointer: "/capabilities/streaming",
        kind: "capability-lost",
        before: true,
        after: false,
        impact: "breaking",
      },
    ]);
  });

  test("an error that a changed card explains asks for the card, and becomes the cause of the drift", async () => {
    const agent = createScriptedAgent({ clock });
    const client = await connect(agent, { requires: { streaming: true } });
    agent.once("SendMessage", answer.error(-32004, "streaming only"));
    agent.rotateCard((card) => ({ ...card, capabilities: { streaming: false } }), { before: "card", nth: 2 });

    const error = await caught(client.sendMessage("hello"), CardDriftError);

    expect(error).toBeInstanceOf(CardDriftError);
    expect(error.reason).toBe("streaming-disabled");
    expect(error.cause).toBeInstanceOf(UnsupportedOperationError);
  });

  test("a chosen interface that moved is a drift that names it, never a silent switch", async () => {
    const at = (path: string, protocolBinding: string) => ({
      url: `https://agent.example${path}`,
      protocolBinding,
      protocolVersion: "1.0",
    });
    const card = createTestCard({ supportedInterfaces: [at("/a", "JSONRPC")] });
    const agent = createScriptedAgent({ clock, card, rpcPath: ["/a", "/c"] });
    const client = await connect(agent);
    agent.rotateCard(createTestCard({ supportedInterfaces: [at("/b", "HTTP+JSON"), at("/c", "JSONRPC")] }));

    const error = await caught(client.sendMessage("hello"), CardDriftError);

    expect(error).toMatchObject({ name: "CardDriftError", reason: "interface-moved" });
    expect(error.drift.changes).toContainEqual({
      pointer: "/supportedInterfaces/1",
      kind: "interface-moved",
      before: at("/a", "JSONRPC"),
      after: at("/c", "JSONRPC"),
      impact: "security",
    });
    expect(agent.calls()).toEqual([]);
  });

  test("a live count in the description ends a lease on the content, not one on the structure", async () => {
    const describing = (count: number): Partial<AgentCard> => ({ description: `Index of ${count} items` });
    const agent = createScriptedAgent({ clock, card: createTestCard(describing(1547)) });
    const strict = await connect(agent);
    const structural = await connect(agent, { compare: "structure" });
    agent.rotateCard((card) => ({ ...card, ...describing(1548) }));

    const error = await caught(strict.sendMessage("hello"), CardDriftError);

    expect(error).toMatchObject({
      reason: "content-changed",
      drift: { changes: [{ kind: "text-changed" }] },
    });
    await expect(structural.sendMessage("hello")).resolves.toHaveProperty("task");
  });

  test("a validator that does not move with the content deceives for no longer than the full check allows", async () => {
    const agent = createScriptedAgent({ clock, etag: "weak-version", cacheControl: "max-age=3600" });
    const client = await connect(agent);
    agent.rotateCard((card) => ({ ...card, description: "another" }));
    await client.sendMessage("believed");

    await clock.advance(60_000);

    expect(await caught(client.sendMessage("checked"))).toBeInstanceOf(CardDriftError);
  });
});

describe("what is sent and what comes back", () => {
  test("every request names the protocol version, card reads included", async () => {
    const agent = createScriptedAgent({ clock });
    const client = await connect(agent);
    const reply = await client.sendMessage("hello");
    if ("task" in reply) await reply.task.get();

    const versions = agent.transcript.map(({ headers }) => headers["a2a-version"]);

    expect(versions).toEqual(versions.map(() => "1.0"));
    expect(versions.length).toBeGreaterThanOrEqual(5);
  });

  test("bytes, files and any JSON value come back as they were sent", async () => {
    const agent = createScriptedAgent({ clock, card: createTestCard({ defaultInputModes: ["*/*"] }) });
    const client = await connect(agent);
    const parts = [
      { raw: "AAEC", mediaType: "application/octet-stream", filename: "x.bin" },
      { url: "https://files.example/x.png", mediaType: "image/png" },
      { data: null },
      { data: { nested: [0, false, "", null] } },
      { text: "𝒳\u0000 \u2028" },
    ];

    const reply = await client.sendMessage(parts);
    if (!("task" in reply)) expect.fail("no task");
    await reply.task.get();

    expect(agent.calls("SendMessage")[0]?.params).toMatchObject({ message: { parts } });
    expect(reply.task.artifacts[0]?.parts).toEqual(parts);
  });
});
