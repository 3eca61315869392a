/** The smallest program, and a card that changes under it: before the work, and in the middle of it. */
import assert from "node:assert/strict";
import { startRealAgent } from "./support/real-agent.ts";

await using agent = await startRealAgent();
const { url } = agent;
const report = "The river rose two metres. The bridge was closed. Nobody was hurt.";

// #region smallest
import { createClient } from "a2a-lease";

// Reads the agent's card, checks it and pins it: this is what the plan stands on.
const client = await createClient(url, { requires: { skills: ["summarize"] } });

const outcome = await client.delegate(report);
if (outcome.status === "completed") console.log(outcome.text);
else console.log(outcome.status, outcome.message?.parts);
// #endregion smallest

assert.equal(outcome.status, "completed");
assert.equal(outcome.text, "The river rose two metres. Nobody was hurt.");

// #region drift
import { CardDriftError, type DelegateOutcome } from "a2a-lease";

async function summarize(text: string): Promise<DelegateOutcome> {
  try {
    return await client.delegate(text);
  } catch (error) {
    if (!(error instanceof CardDriftError)) throw error;
    const { changes, breaks } = error.drift;
    for (const { kind, impact, before, after } of changes) console.log(kind, impact, before, after);
    // Another interface, another login, a skill that the plan requires is gone: not for a program to decide.
    if (error.reason !== "content-changed" || breaks.length > 0) throw error;
    // A message that may have been taken is not sent again: two sends make two tasks.
    if (error.retry !== "after-renegotiation") throw error;
    // The plan still holds: adopt the live card. A task that is under way goes on, else the message goes out now.
    const { handle } = await error.renegotiate();
    return handle ? handle.result() : client.delegate(text);
  }
}
// #endregion drift

const sent = () => agent.seen.filter(({ what }) => /^Send/.test(what)).length;
assert.equal(sent(), 1);

agent.rotateCard((card) => ({ ...card, description: "Summarizes texts. Keeps texts for 30 days." }));
assert.equal((await summarize(report)).status, "completed");
assert.equal(client.card.description, "Summarizes texts. Keeps texts for 30 days.");
assert.equal(sent(), 2);

// As soon as there is a task, the agent changes its card. The result is withheld until the change was looked at.
const stop = client.on("lease-granted", ({ taskId }) => {
  if (taskId === undefined) return;
  stop();
  agent.rotateCard((card) => ({ ...card, version: "1.1.0" }));
});
assert.equal((await summarize(report)).status, "completed");
assert.equal(sent(), 3);

await client.close();
