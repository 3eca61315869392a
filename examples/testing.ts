/** How to test a planner against an agent that does as it is told: no network, no waiting. */
// #region testing
import assert from "node:assert/strict";
import { type A2AClient, CardDriftError, createClient, SendOutcomeUnknownError } from "a2a-lease";
import { answer, createScriptedAgent, createTestClock, step } from "a2a-lease/testing";

/** The planner under test: it has a text summarized, and answers a question on the way. */
async function summarize(client: A2AClient, text: string): Promise<string | undefined> {
  const outcome = await client.delegate(text, { requires: { skills: ["summarize"] } });
  const settled = outcome.status === "input-required" ? await outcome.reply("Everything.") : outcome;
  return settled.status === "completed" ? settled.text : undefined;
}

const clock = createTestClock();
const agent = createScriptedAgent({ clock });
const client = await createClient(agent.url, { fetch: agent.fetch, clock });

// The agent asks a question in the middle of the task.
agent.planNext([
  step.working(),
  step.inputRequired("Which part?"),
  step.artifact("summary", "All is well."),
  step.completed(),
]);
assert.equal(await summarize(client, "A long text"), "All is well.");
assert.equal(agent.acceptedMessageIds.length, 2);

// The agent takes the message, its reply is lost, and it lists no tasks. The planner must not send again by itself.
agent.once("SendStreamingMessage", answer.acceptThenReset());
agent.on("ListTasks", answer.error(-32601, "no such method"));
await assert.rejects(summarize(client, "A long text"), SendOutcomeUnknownError);
assert.equal(agent.acceptedMessageIds.length, 3);

// The card changes in forty seconds, which pass at once.
agent.rotateCard((card) => ({ ...card, skills: [] }), { atMs: clock.now() + 40_000 });
await clock.advance(40_000);
await assert.rejects(summarize(client, "A long text"), CardDriftError);
assert.equal(agent.acceptedMessageIds.length, 3);
// #endregion testing

for (const { operation, kind, outcome } of agent.transcript) console.log(operation ?? kind, outcome);
await client.close();
