/** The smallest program, a card that changes under it, and a planner that takes every error as data. */
import assert from "node:assert/strict";
import { skill, startRealAgent } from "./support/real-agent.ts";

await using agent = await startRealAgent();
const { url } = agent;
const report = "The river rose two metres. The bridge was closed. Nobody was hurt.";

// #region smallest
import { createClient } from "a2a-lease";

// Reads the agent's card, checks it and pins it: this is what the plan stands on.
const client = await createClient(url, { requires: { skills: ["summarize"], streaming: true } });

const stream = await client.sendStreamingMessage(report);
for await (const event of stream) {
  if ("statusUpdate" in event) console.log(event.statusUpdate.status.state);
}
console.log(stream.task?.state, stream.task?.artifacts[0]?.parts);
// #endregion smallest

assert.equal(stream.task?.state, "TASK_STATE_COMPLETED");
assert.equal(stream.task.artifacts[0]?.parts.length, 2);

// #region drift
import { CardDriftError, type SendReply } from "a2a-lease";

async function summarize(text: string): Promise<SendReply> {
  try {
    return await client.sendMessage(text);
  } catch (error) {
    if (!(error instanceof CardDriftError)) throw error;
    // The agent's card is not the one that was planned on. Nothing was sent, unless `cause` says what was answered.
    if (error.cause !== undefined) throw error;
    const { changes, breaks } = error.drift;
    for (const { kind, impact, before, after } of changes) console.log(kind, impact, before, after);
    // Something that the plan requires is gone, or the change touches security: not for a program to decide.
    if (breaks.length > 0 || changes.some(({ impact }) => impact === "security")) throw error;
    // The plan still holds: adopt the live card, and send.
    await client.renegotiate();
    return client.sendMessage(text);
  }
}
// #endregion drift

const sent = () => agent.seen.filter(({ what }) => what === "SendMessage").length;
agent.rotateCard((card) => ({ ...card, description: "Summarizes texts. Keeps texts for 30 days." }));
assert.ok("task" in (await summarize(report)));
assert.equal(client.card.description, "Summarizes texts. Keeps texts for 30 days.");
assert.equal(sent(), 1);

// #region planner
import { type ErrorJson, isA2ALeaseError, type NextStep } from "a2a-lease";

/** What the planner goes on with: a reply, or what to do next and why, as plain data. */
type Step = { reply: SendReply } | { next: NextStep; why: ErrorJson };

async function step(text: string, isSecondTry = false): Promise<Step> {
  try {
    return { reply: await client.sendMessage(text) };
  } catch (error) {
    // Anything else is a mistake in the program, or the reason of its own abort.
    if (!isA2ALeaseError(error)) throw error;
    switch (error.code) {
      case "CARD_DRIFT": {
        const { breaks, changes } = error.drift;
        const isHarmless = breaks.length === 0 && changes.every(({ impact }) => impact !== "security");
        const isUnsent = error.cause === undefined;
        if (isSecondTry || !isHarmless || !isUnsent) return { next: "replan", why: error.toJSON() };
        await error.renegotiate();
        return step(text, true);
      }
      case "SEND_OUTCOME_UNKNOWN":
        // The agent may be working on error.messageId. Sending again could make a second task.
        return { next: "recover", why: error.toJSON() };
      default:
        return { next: error.nextStep, why: error.toJSON() };
    }
  }
}
// #endregion planner

agent.rotateCard((card) => ({ ...card, version: "1.1.0" }));
assert.ok("reply" in (await step(report)));
assert.equal(client.card.version, "1.1.0");

agent.rotateCard((card) => ({ ...card, skills: [skill("translate", "Puts a text into another language")] }));
const stuck = await step(report);
assert.ok("next" in stuck);
assert.deepEqual(
  [stuck.next, stuck.why.name, stuck.why.reason],
  ["replan", "CardDriftError", "skill-withdrawn"],
);
assert.equal(sent(), 2);
console.log(stuck.next, "because", stuck.why.message);

await client.close();
