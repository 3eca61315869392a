/** A card that is signed: who signed is pinned, a changed card is refused, and a new key takes over from the old one. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { type AgentCard, generateAgentCardSignature } from "@a2a-js/sdk";
import { CardDriftError, CardSignatureError, createClient, verifyCardSignatures } from "a2a-lease";
import { startRealAgent } from "./support/real-agent.ts";

/** A key pair of the agent's operator; the public half is what callers get, by a way that they trust. */
function createSigner(kid: string) {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    publicKey: publicKey.export({ type: "spki", format: "pem" }).toString(),
    sign: generateAgentCardSignature(privateKey, { alg: "ES256", typ: "JOSE", kid }),
  };
}

await using agent = await startRealAgent();
const { url } = agent;
const unsigned: AgentCard = agent.card;
const old = createSigner("2026-01");
const next = createSigner("2026-07");
const serve = (card: AgentCard) => agent.rotateCard(() => card);

serve(await old.sign(unsigned));
const [oldKey, newKey] = [old.publicKey, next.publicKey];

// #region require
const client = await createClient(url, {
  signatures: {
    mode: "require",
    keys: [
      { kid: "2026-01", key: oldKey },
      { kid: "2026-07", key: newKey },
    ],
    // A change that the pinned key signed is up to the posture, and the first of several signers is pinned next.
    acceptSignedChanges: true,
  },
  posture: { onDrift: "degrade", restartable: true },
});
console.log("signed by", client.pin.signer);
// #endregion require
assert.equal(client.lease.signature?.result, "valid");
const first = client.pin.signer;

// Somebody changes the signed card on its way.
serve({ ...agent.card, description: "Summarizes texts, and keeps them." });
const card = await (await fetch(client.lease.url)).text();
const trusted = [{ kid: "2026-01", key: oldKey }];

// #region verify
const verdict = await verifyCardSignatures(card, { keys: trusted });
if (verdict.result !== "valid") {
  for (const { kid, problem, message } of verdict.signatures) console.log(kid, problem, message);
}
// #endregion verify
assert.deepEqual([verdict.result, verdict.signatures[0]?.problem], ["invalid", "mismatch"]);

await assert.rejects(createClient(url, { signatures: { keys: trusted } }), CardSignatureError);
await assert.rejects(
  client.sendMessage("Summarize this."),
  (error) => error instanceof CardDriftError && error.reason === "signer-changed",
);

// Both keys sign for a while, the new one first; then the old one goes.
serve(await old.sign(await next.sign(unsigned)));
await client.renegotiate();
assert.equal((await client.delegate("The river rose. The bridge closed.")).status, "completed");
serve(await next.sign(unsigned));
assert.equal((await client.delegate("The river rose. The bridge closed.")).status, "completed");
assert.notEqual(client.pin.signer, first);

await client.close();
