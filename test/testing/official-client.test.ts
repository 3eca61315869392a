import { ClientFactory } from "@a2a-js/sdk/client";
import { afterEach, expect, test } from "vitest";
import { type AgentListener, createLoopbackReceiver, createScriptedAgent, step } from "../../src/testing.ts";

let listener: AgentListener | undefined;
afterEach(() => listener?.close());

const send = (said: string) => ({
  tenant: "",
  message: {
    messageId: "m1",
    contextId: "",
    taskId: "",
    role: 1,
    parts: [
      { content: { $case: "text" as const, value: said }, metadata: undefined, filename: "", mediaType: "" },
    ],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  },
  configuration: undefined,
  metadata: undefined,
});

const bindings = ["JSONRPC", "HTTP+JSON"] as const;

test.each(bindings)(
  "the official client reads the card, sends, gets, streams and cancels over %s",
  async (binding) => {
    const agent = createScriptedAgent({ bindings: [binding] });
    listener = await agent.listen();
    const client = await new ClientFactory().createFromUrl(listener.url);
    const answered = await client.sendMessage(send("hello"));
    const read = await client.getTask({ tenant: "", id: "task-1" });
    agent.plan([step.working(), step.hold(), step.completed()]);
    const cases: string[] = [];
    for await (const { payload } of client.sendMessageStream(send("again"))) {
      cases.push(payload?.$case ?? "none");
      if (cases.length === 2) await client.cancelTask({ tenant: "", id: "task-2", metadata: undefined });
    }
    expect("id" in answered ? answered.id : undefined).toBe("task-1");
    expect(read.artifacts[0]?.parts[0]?.content).toEqual({ $case: "text", value: "hello" });
    expect(cases).toEqual(["task", "statusUpdate", "statusUpdate"]);
    expect(agent.tasks.get("task-2")?.status.state).toBe("TASK_STATE_CANCELED");
  },
);

test.each(bindings)(
  "the official client lists tasks, registers webhooks and follows over %s",
  async (binding) => {
    const hook = await createLoopbackReceiver();
    const agent = createScriptedAgent({
      bindings: [binding],
      card: (card) => ({ ...card, capabilities: { streaming: true, pushNotifications: true } }),
      plan: [step.working(), step.hold(), step.completed()],
    });
    listener = await agent.listen();
    const client = await new ClientFactory().createFromUrl(listener.url);
    const stream = client.sendMessageStream(send("hello"));
    await stream.next();
    await stream.return();
    const listed = await client.listTasks({
      ...{ tenant: "", contextId: "", status: 0, pageSize: 1, pageToken: "" },
      ...{ historyLength: 0, statusTimestampAfter: undefined, includeArtifacts: true },
    });
    const place = { tenant: "", taskId: "task-1", id: "a/b" };
    const authentication = { scheme: "Bearer", credentials: "c" };
    await client.createTaskPushNotificationConfig({ ...place, url: hook.url, token: "t", authentication });
    const got = await client.getTaskPushNotificationConfig(place);
    const configs = await client.listTaskPushNotificationConfig({ ...place, pageSize: 0, pageToken: "" });
    const cases: (string | undefined)[] = [];
    for await (const { payload } of client.resubscribeTask({ tenant: "", id: "task-1" })) {
      cases.push(payload?.$case);
      if (cases.length === 1) agent.step("task-1");
    }
    await agent.pushesSettled();
    await client.deleteTaskPushNotificationConfig(place);
    await client.deleteTaskPushNotificationConfig(place);
    expect([listed.totalSize, listed.tasks[0]?.history]).toEqual([1, []]);
    const base = binding === "JSONRPC" ? "/rpc" : "/rest/";
    expect(agent.calls().every(({ path }) => path.startsWith(base))).toBe(true);
    expect([got.token, configs.configs.length]).toEqual(["t", 1]);
    expect(cases).toEqual(["task", "statusUpdate"]);
    expect(hook.received.map(({ headers }) => headers.authorization)).toEqual(["Bearer c"]);
    await expect(client.getTaskPushNotificationConfig(place)).rejects.toThrow("not found");
    await hook.close();
  },
);
