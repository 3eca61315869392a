/** A webhook that is told of a long task: nobody polls, and nothing that is pushed is believed without the card. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createScriptedAgent, createTestCard, step } from "a2a-lease/testing";

const card = createTestCard({ capabilities: { pushNotifications: true } });
const agent = createScriptedAgent({
  card,
  plan: [
    step.working("Reading it."),
    step.hold(),
    step.artifact("summary", "It is short."),
    step.completed(),
  ],
});
const port = await agent.listen();
const { url: agentUrl } = port;
const over: Promise<string>[] = [];

// #region receiver
import { createClient, createMemoryLedger, isTerminalState } from "a2a-lease";
import { createWebhookReceiver, toNodeListener } from "a2a-lease/webhook";

// Clients and webhook share a ledger: it leads from the hash of a secret to the task.
const ledger = createMemoryLedger();
const client = await createClient(agentUrl, { ledger });

const receive = createWebhookReceiver({
  ledger,
  async onUpdate({ taskId, event, state }) {
    console.log(taskId, event, state ?? "");
    if (!state || !isTerminalState(state)) return;
    // The notification itself holds no content: the task is read under its lease.
    const task = await client.task(taskId);
    finish(task.result());
  },
  onError: (error) => console.error(error),
});

const server = createServer(toNodeListener(receive));
// #endregion receiver

function finish(result: Promise<{ readonly status: string }>): void {
  over.push(result.then(({ status }) => status));
}

await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const webhookUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a2a`;

// #region send
// Inside the message, so that no event is missed; a fresh secret is made for it. A public https URL needs no permission.
const reply = await client.sendMessage("Summarise this long report.", {
  pushNotificationConfig: { url: webhookUrl, allowInsecureUrl: true },
});
// #endregion send

assert.ok("task" in reply);
const { task } = reply;

// #region configs
const config = await task.pushConfigs.create({ url: webhookUrl, allowInsecureUrl: true });
for await (const { id, url } of await task.pushConfigs.list()) console.log(id, url);
if (config.id) await task.pushConfigs.delete(config.id);
// #endregion configs

// Somebody who knows no secret gets nowhere.
const body = JSON.stringify({ statusUpdate: { taskId: task.id, status: { state: "TASK_STATE_FAILED" } } });
const headers = { "content-type": "application/a2a+json", "x-a2a-notification-token": "a guess" };
assert.equal((await fetch(webhookUrl, { method: "POST", headers, body })).status, 401);

agent.step(task.id);
await agent.pushesSettled();
assert.deepEqual(await Promise.all(over), ["completed"]);
assert.deepEqual(task.artifacts[0]?.parts, [{ text: "It is short." }]);

await client.close();
server.close();
server.closeAllConnections();
await port.close();
