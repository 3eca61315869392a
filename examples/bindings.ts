/** The wire form is a choice: HTTP+JSON where it is preferred, and a binding of one's own where the card names one. */
import assert from "node:assert/strict";
import { createTestCard } from "a2a-lease/testing";
import { startRealAgent } from "./support/real-agent.ts";

await using agent = await startRealAgent();
const { url } = agent;
const report = "The river rose two metres. The bridge was closed. Nobody was hurt.";

// #region preferred
import { createClient } from "a2a-lease";

// The card lists JSON-RPC first. The rest of the program is the same over either.
const client = await createClient(url, { preferredBindings: ["HTTP+JSON"] });
console.log(client.lease.interface.url);
// #endregion preferred

assert.equal(client.lease.interface.protocolBinding, "HTTP+JSON");
assert.equal((await client.delegate(report)).status, "completed");
assert.ok(agent.seen.some(({ what }) => what === "/rest/message:stream"));
await client.close();

/** The far side of a wire form without a network: a function from one JSON to another. */
async function exchange(operation: string, input: { readonly message?: object }): Promise<unknown> {
  if (operation !== "SendMessage") throw new TypeError(`${operation} is not there`);
  return {
    message: { messageId: "m1", role: "ROLE_AGENT", parts: [{ text: JSON.stringify(input.message) }] },
  };
}

// #region own
import { type Binding, readBindingAnswer, UnsupportedOperationError, writeBindingRequest } from "a2a-lease";

/** A wire form of one's own, under the name that a card has for it. It keeps to the signal, and throws typed errors. */
const frames: Binding = {
  name: "https://bindings.example/frames/v1",
  async call(operation, request, { interface: target, signal }) {
    signal.throwIfAborted();
    const answer = await exchange(operation, writeBindingRequest(operation, request, target.tenant));
    // Checked as the answers of the built-in bindings are: what breaks the spec throws, or is told as a deviation.
    return readBindingAnswer(operation, answer);
  },
  async open(operation) {
    throw new UnsupportedOperationError({ operation, remoteMessage: "frames do not stream" });
  },
};
// #endregion own

const card = createTestCard({
  supportedInterfaces: [
    { url: "frames://agent.example", protocolBinding: frames.name, protocolVersion: "1.0" },
  ],
});
const framed = await createClient(card, { bindings: [frames], immutable: true });
const reply = await framed.sendMessage("Over frames.");
assert.ok("message" in reply);
console.log(reply.message.parts);
await framed.close();
