import {
  AddressRefusedError,
  CardDriftError,
  ConnectionError,
  createAgents,
  createClient,
  HttpStatusError,
} from "a2a-lease";
import { answer, createScriptedAgent, createTestCard, createTestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";

const clock = createTestClock();

/** An agent whose card, seen through a gateway, names an address that is not the agent's. */
function behindGateway(url: string) {
  const card = createTestCard({
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  });
  return createScriptedAgent({ clock, card });
}

describe("a card that a gateway has rewritten", () => {
  const doubled = "https://agent.example/rpc/a2a/rpc/";

  test.each([
    ["a page that says 404", 404, "<!doctype html><p>no", "text/html"],
    ["a bare 404", 404, "", ""],
    ["a 405", 405, "no", "text/plain"],
    ["a login page", 200, "<html><p>log in", "text/html"],
  ])(
    "leads to %s: the address is told as wrong, after a look at the card",
    async (_what, status, body, type) => {
      const agent = behindGateway(doubled);
      // Nothing of the agent is at that address, so whatever comes is the gateway's own answer.
      const fetch: typeof agent.fetch = async (url, init) => {
        if (String(url) !== doubled) return agent.fetch(url, init);
        return new Response(body, { status, headers: { "content-type": type } });
      };
      const client = await createClient(agent.url, { fetch, clock });
      agent.clearTranscript();

      const error = await caught(client.getTask({ id: "t1" }), HttpStatusError);

      expect([error.url, error.status]).toEqual([doubled, status]);
      expect(agent.calls()).toEqual([]);
    },
  );

  test("leads to where nothing answers: that is an agent that is down, and told apart", async () => {
    const agent = behindGateway("https://agent.cluster.internal/rpc");
    const origin = "https://agent.cluster.internal";
    const options = { fetch: agent.fetch, clock, allowedOrigins: [origin], retries: false as const };
    // An address in a cluster is reached by those alone who say that they are inside.
    await caught(createClient(agent.url, options), AddressRefusedError);
    const client = await createClient(agent.url, { ...options, addressPolicy: { allowPrivate: true } });

    await caught(client.getTask({ id: "t1" }), ConnectionError);
  });

  test("is another document than the one that the agent serves itself: each route has its own lease", async () => {
    const direct = createScriptedAgent({ clock });
    const rewritten = createTestCard({
      supportedInterfaces: [
        { url: "https://gw.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      ],
    });
    const gateway = createScriptedAgent({ clock, url: "https://gw.example", card: rewritten });
    const fetch: typeof direct.fetch = (url, init) =>
      (String(url).startsWith(gateway.url) ? gateway : direct).fetch(url, init);
    const agents = createAgents({ fetch, clock });
    const [there, here] = [await agents.get(direct.url), await agents.get(gateway.url)];
    expect(here).not.toBe(there);
    expect(here.pin.digest).not.toBe(there.pin.digest);

    gateway.rotateCard((card) => ({ ...card, description: "rewritten once more" }));

    await caught(here.sendMessage("hello"), CardDriftError);
    await expect(there.sendMessage("hello")).resolves.toHaveProperty("task");
    await agents.close();
  });
});

describe("a card that the caller has already", () => {
  const nowhere = () => {
    const agent = createScriptedAgent({ clock });
    agent.on("card", answer.http(404));
    return agent;
  };

  test.each([
    ["for good", { immutable: true as const }],
    ["for a time", { immutable: { untilMs: clock.now() + 60_000 } }],
  ])("is used as it is where it holds %s, and nobody looks for another", async (_how, how) => {
    const agent = nowhere();
    const card = createTestCard();
    const client = await createClient(card, { fetch: agent.fetch, clock, ...how });

    await expect(client.sendMessage("hello")).resolves.toHaveProperty("task");
    await expect(client.listTasks()).resolves.toHaveProperty("tasks.length", 1);
    expect(agent.cardReads()).toEqual([]);
  });

  test("is withdrawn where it is to be checked and is not, and nothing is sent", async () => {
    const agent = nowhere();
    const revalidateAt = `${agent.url}/v1/card?assistant=9`;
    const client = await createClient(createTestCard(), { fetch: agent.fetch, clock, revalidateAt });

    const error = await caught(client.sendMessage("hello"), CardDriftError);

    expect(error.reason).toBe("card-withdrawn");
    expect(agent.transcript.map(({ path, status }) => [path, status])).toEqual([
      ["/v1/card?assistant=9", 404],
      ["/v1/card?assistant=9", 404],
    ]);
  });
});

describe("a card at a vendor's own path", () => {
  test.each(["/v1/card", "/v1/card?assistant=9&x=%20a", "/cards/agent-card.json?assistant=9", "/card/"])(
    "%s is read, checked conditionally and read in full at that very path",
    async (cardPath) => {
      const agent = createScriptedAgent({ clock, cardPath });
      const cardUrl = `${agent.url}${cardPath}`;
      const client = await createClient({ cardUrl }, { fetch: agent.fetch, clock });

      await client.sendMessage("hello");
      await client.revalidate();

      expect(client.lease.url).toBe(cardUrl);
      expect(agent.cardReads().map(({ path, status }) => [path, status])).toEqual([
        [cardPath, 200],
        [cardPath, 304],
        [cardPath, 200],
      ]);
    },
  );
});
