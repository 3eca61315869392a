/** How to test a planner against an agent that does as it is told: no network, no waiting. */
import assert from "node:assert/strict";
import type { A2AClient } from "a2a-lease";

/** The planner under test: it has a text summarized, and answers a question on the way. */
async function summarize(client: A2AClient, text: string): Promise<string> {
  const requires = { skills: ["summarize"] };
  const reply = await client.sendMessage(text, { requires, blocking: true });
  if (!("task" in reply)) return "the agent did not make a task of it";
  const { task } = reply;
  if (task.state === "TASK_STATE_INPUT_REQUIRED") await task.sendMessage("Everything", { blocking: true });
  return task.artifacts
    .flatMap(({ parts }) => parts.map((part) => ("text" in part ? part.text : "")))
    .join("");
}

// #region testing
import { CardDriftError, createClient, SendOutcomeUnknownError } from "a2a-lease";
import { answer, createScriptedAgent, createTestClock, step } from "a2a-lease/testing";

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

// The agent takes the message, and its reply is lost. The planner must not send again by itself.
agent.once("SendMessage", answer.acceptThenReset());
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
