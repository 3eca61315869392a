/** Where a card may lead: an agent in the company's network, a card that points inside, and a name that leads there. */
import assert from "node:assert/strict";
import { AddressRefusedError, createClient } from "a2a-lease";
import { createNodeFetch } from "a2a-lease/node";
import { startRealAgent } from "./support/real-agent.ts";

await using agent = await startRealAgent();
const { port } = new URL(agent.url);
const url = `http://agent.corp.example:${port}`;

/** The agent's card, with another host in its interfaces. */
const moveTo = (host: string) =>
  agent.rotateCard((card) => ({
    ...card,
    supportedInterfaces: card.supportedInterfaces.map((entry) => {
      const moved = new URL(entry.url);
      moved.hostname = host;
      return { ...entry, url: moved.href };
    }),
  }));

/** The names of this example, all of which lead to this machine. */
const lookup = async () => [{ address: "127.0.0.1", family: 4 as const }];

moveTo("agent.corp.example");

// #region node
const fetch = createNodeFetch({ allowHosts: ["agent.corp.example"], lookup });
const client = await createClient(url, { fetch, addressPolicy: { allowHttp: true } });
// #endregion node
await client.sendMessage("Summarize the quarter");
console.log("an agent inside, which the caller allowed:", client.pin.interface.url);

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => assert.fail("wanted a refusal"),
    (error: unknown) => {
      assert(error instanceof AddressRefusedError);
      return error.message;
    },
  );

moveTo("127.0.0.1");
console.log("a card that points inside:", await refusal(client.renegotiate()));

moveTo("innocent.example");
await client.renegotiate();
console.log("a name that leads inside:", await refusal(client.sendMessage("Summarize the quarter")));

await client.close();
await fetch.close();
