/** What is done about a drift: by default, for one client, for one piece of work, and between two calls. */
import assert from "node:assert/strict";
import { CardDriftError, createClient } from "a2a-lease";
import { skill, startRealAgent } from "./support/real-agent.ts";

await using agent = await startRealAgent();
const { url } = agent;
const report = "The river rose two metres. The bridge was closed. Nobody was hurt.";

// #region degrade
const client = await createClient(url, {
  requires: { skills: ["summarize"] },
  // The agent may go about the work in another way, as long as the plan still holds and nothing touches security.
  posture: { onDrift: "degrade", restartable: true },
});
client.on("lease-repinned", ({ drift }) => {
  for (const { kind, pointer } of drift.changes) console.log("went on after", kind, pointer);
});
// #endregion degrade

let repinned = 0;
client.on("lease-repinned", ({ drift: { changes } }) => {
  assert.deepEqual([changes.length, changes[0]?.pointer], [1, "/description"]);
  repinned += 1;
});

agent.rotateCard((card) => ({ ...card, description: "Summarizes texts. Keeps texts for 30 days." }));
assert.equal((await client.delegate(report)).status, "completed");
assert.equal(repinned, 1);

// #region function
await client.delegate(report, {
  posture: {
    onDrift: ({ changes }) => (changes.every(({ impact }) => impact === "cosmetic") ? "repin" : "fail"),
  },
});
// #endregion function

agent.rotateCard((card) => ({ ...card, skills: [...card.skills, skill("translate", "Translates a text")] }));
await assert.rejects(client.delegate(report, { posture: "fail-closed" }), CardDriftError);
await client.renegotiate();
assert.deepEqual(client.pin.skills, ["summarize", "translate"]);

// #region watch
client.on("lease-ended", ({ taskId, reason }) => console.log(taskId ?? "the plan", "ended:", reason));
const stop = client.watch({ everyMs: 1_000 });
// #endregion watch

const ended = new Promise<string>((resolve) => client.on("lease-ended", ({ reason }) => resolve(reason)));
agent.rotateCard((card) => ({ ...card, skills: [skill("translate", "Translates a text")] }));
assert.equal(await ended, "skill-withdrawn");
stop();

await client.close();
