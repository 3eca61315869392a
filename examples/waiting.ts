/** Four ways to wait for a piece of work: in one call, as a tool, step by step, and for a task that is found again. */
import assert from "node:assert/strict";
import { createClient } from "a2a-lease";
import { startRealAgent } from "./support/real-agent.ts";

await using agent = await startRealAgent({ paceMs: 100 });
const client = await createClient(agent.url, { requires: { skills: ["summarize"] } });
const report = "The river rose two metres. The bridge was closed. Nobody was hurt.";

// #region delegate
import type { DelegateOutcome } from "a2a-lease";

/** Has a text summarized; whoever waits for it can read along. */
async function summarize(text: string): Promise<string> {
  const outcome = await client.delegate(text, {
    onUpdate: ({ kind, task }) => console.log(kind, task.id, task.status.state),
  });
  return settle(outcome);
}

async function settle(outcome: DelegateOutcome): Promise<string> {
  switch (outcome.status) {
    case "completed":
    case "answered": // with a message, in place of a task
      return outcome.text;
    case "input-required":
      return settle(await outcome.reply("The whole report."));
    case "auth-required":
    case "failed":
    case "canceled":
    case "rejected":
      throw new Error(`${outcome.status}: ${JSON.stringify(outcome.message?.parts)}`);
  }
}
// #endregion delegate

agent.ask("Which part of it?");
assert.match(await summarize(report), /The whole report\.$/);

// #region tool
import { type ToolResult, toToolResult } from "a2a-lease";

/** A tool for a model: whatever happens, an outcome or an error, is plain data with a next step. */
function summarizeTool({ text }: { text: string }): Promise<ToolResult> {
  return client.delegate(text).then(toToolResult, toToolResult);
}
// #endregion tool

assert.deepEqual(await summarizeTool({ text: report }), {
  status: "completed",
  text: "The river rose two metres. Nobody was hurt.",
  nextStep: "use-result",
});

// #region follow
const reply = await client.sendMessage(report);
if ("task" in reply) {
  for await (const update of reply.task.follow()) {
    // What the task had when the sequence began comes with the snapshot, and is not told again.
    if (update.kind === "snapshot") console.log(update.task.status.state, update.task.artifacts ?? []);
    if (update.kind === "status") console.log(update.status.state);
    if (update.kind === "artifact") console.log(update.artifact.name, update.artifact.parts);
    if (update.kind === "gap") console.log("the connection was lost; what was missed comes now");
  }
  const result = await reply.task.result();
  if (result.status === "completed" && !result.isEmpty) console.log(result.text);
}
// #endregion follow

assert.ok("task" in reply);
assert.equal(reply.task.state, "TASK_STATE_COMPLETED");

const taskId = reply.task.id;

// #region again
const task = await client.task(taskId);
const later = await task.result();
// #endregion again

assert.equal(task, reply.task);
assert.equal(later.status, "completed");

await client.close();
