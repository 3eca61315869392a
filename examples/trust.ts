/** An agent that earns trust with a probe, and loses it with the first rule that it breaks. */
import assert from "node:assert/strict";
import { LifecycleMismatchError, LifecycleNotTrustedError } from "a2a-lease";
import { createScriptedAgent, step } from "a2a-lease/testing";

const agent = createScriptedAgent();
const port = await agent.listen();
const { url } = port;

// #region probe
import { createClient } from "a2a-lease";

const client = await createClient(url, { trust: "required" });

const seen = await client.probe({ message: "A small and harmless text." });
console.log(String(seen));
if (!seen.promoted) throw new Error(seen.obstacles.join("\n"));

console.log(client.trust.level, client.trust.record?.capabilities);
// #endregion probe

assert.equal(client.trust.level, "lifecycle-trusted");
assert.equal((await client.delegate("A text that matters.")).status, "completed");

agent.planNext([step.working("On it."), step.completed(), step.working("Still on it.")]);
await assert.rejects(client.delegate("Another text."), LifecycleMismatchError);
assert.equal(client.trust.level, "card-trusted");
console.log(client.trust.record?.history.at(-1)?.reason);
await assert.rejects(client.delegate("Another text."), LifecycleNotTrustedError);

await client.close();
await port.close();
