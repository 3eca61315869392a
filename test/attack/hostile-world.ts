import { createClient } from "a2a-lease";
import { type AddressLookup, createNodeFetch } from "a2a-lease/node";
import { createTestCard } from "a2a-lease/testing";
import { expect, onTestFinished } from "vitest";
import { type Answer, type LoggedServer, type SeenRequest, startServer } from "../node/servers.ts";

type ClientOptions = NonNullable<Parameters<typeof createClient>[1]>;
type Card = ReturnType<typeof createTestCard>;
type CardMembers = NonNullable<Parameters<typeof createTestCard>[0]>;

/** Both are planted in the client, and neither may be seen by anybody but the agent. */
const secrets = { bearer: "s3cret-bearer", key: "s3cret-key" };

/**
 * Where the names of the test lead. Those of `agent.example` and `evil.example` stand for hosts on the open internet;
 * `internal` is what listens inside, on loopback.
 */
const names: Readonly<Record<string, readonly string[]>> = {
  "agent.example": ["127.0.0.1"],
  "evil.example": ["127.0.0.1"],
  "mixed.example": ["203.0.113.5", "127.0.0.1"],
  "mapped.example": ["::ffff:127.0.0.1"],
  "six.example": ["::1"],
  "zone.example": ["fe80::1%lo"],
  "meta.example": ["169.254.169.254"],
  "private.example": ["10.0.0.5"],
  "ula.example": ["fd12:3456::1"],
  "nat64.example": ["64:ff9b::7f00:1"],
  "zero.example": ["0.0.0.0"],
};

/** What is reached inside the world of one test. */
export interface HostileWorld {
  readonly agent: LoggedServer;
  /** Somebody else, on the open internet. */
  readonly evil: LoggedServer;
  /** A service that is inside. */
  readonly internal: LoggedServer;
  /** The card that the agent serves. */
  card: Card;
  /** What the agent answers calls with. */
  rpc: (request: SeenRequest) => Answer;
  /** Reads the card, with both secrets planted. */
  connect(more?: ClientOptions): ReturnType<typeof createClient>;
  /** The test's verdict: nobody inside was connected to, and nobody else learned a secret. */
  expectUnharmed(): void;
}

/** An answer to a send, as an agent gives it. */
export function replyTo({ body }: SeenRequest): Answer {
  const { id = null } = body === "" ? {} : JSON.parse(body);
  const message = { messageId: "m-1", role: "ROLE_AGENT", parts: [{ text: "done" }] };
  return { body: { jsonrpc: "2.0", id, result: { message } } };
}

/** Interfaces of a card, all JSON-RPC. */
export const interfacesAt = (...urls: readonly string[]): CardMembers => ({
  supportedInterfaces: urls.map((url) => ({ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" })),
});

/** An agent, somebody else and something inside: three real servers, and a resolver that knows where they are. */
export async function createHostileWorld(): Promise<HostileWorld> {
  const [agent, evil, internal] = [
    await startServer(),
    await startServer(replyTo),
    await startServer(replyTo),
  ];
  const lookups = new Map<string, number>();
  const lookup: AddressLookup = async (hostname) => {
    const count = (lookups.get(hostname) ?? 0) + 1;
    lookups.set(hostname, count);
    // Whatever nobody knows leads inside, and so does a name that was harmless when it was looked at first.
    const addresses =
      hostname === "rebind.example" && count === 1 ? ["203.0.113.5"] : (names[hostname] ?? ["127.0.0.1"]);
    return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  };
  const fetch = createNodeFetch({ lookup, allowHosts: ["agent.example", "evil.example"] });
  onTestFinished(() => fetch.close());
  const world: HostileWorld = {
    agent,
    evil,
    internal,
    card: createTestCard(interfacesAt(`http://agent.example:${agent.port}/rpc`)),
    rpc: replyTo,
    connect: (more) =>
      createClient(`http://agent.example:${agent.port}`, {
        fetch,
        addressPolicy: { allowHttp: true },
        credentials: { bearer: secrets.bearer },
        headers: { "x-api-key": secrets.key },
        cardCredentials: "always",
        ...more,
      }),
    expectUnharmed() {
      expect(internal.connections).toBe(0);
      expect(JSON.stringify(evil.log)).not.toContain("s3cret");
    },
  };
  agent.answer = (request) => (request.method === "GET" ? { body: world.card } : world.rpc(request));
  return world;
}
