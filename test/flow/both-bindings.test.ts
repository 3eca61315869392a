import type { StreamResponse } from "a2a-lease";
import { createLoopbackReceiver } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "./caught.ts";
import { extraSkill, fourWays, meet, type SentCall } from "./four-ways.ts";
import { all, taskOf } from "./lifecycle-setup.ts";
import { report, summary } from "./real-agent.ts";

const inShort = (event: StreamResponse) =>
  "statusUpdate" in event ? event.statusUpdate.status.state : Object.keys(event)[0];

/** What was called: the JSON-RPC method, or the HTTP method and the path without the id of the task. */
const shown = ({ method, path, body }: SentCall, taskId: string): string => {
  const rpc = body as { jsonrpc?: string; method: string } | undefined;
  return rpc?.jsonrpc === undefined ? `${method} ${path.replace(taskId, "{id}")}` : rpc.method;
};

describe.each(fourWays)("the %s over %s", (kind, binding) => {
  test("has all eleven operations, each called by its own name", async () => {
    const hook = await createLoopbackReceiver();
    const agent = await meet(kind, binding, { claims: { pushNotifications: true, extendedAgentCard: true } });
    const client = await agent.connect();
    await all(await client.sendStreamingMessage(report));
    agent.hold();
    const task = taskOf(await client.sendMessage(report));
    const of = { taskId: task.id, id: "p/1" };
    await client.getTask({ id: task.id, historyLength: 1 });
    await client.listTasks({ pageSize: 5, contextId: task.contextId ?? "" });
    await client.createTaskPushNotificationConfig({ ...of, url: hook.url, allowInsecureUrl: true });
    await client.getTaskPushNotificationConfig(of);
    await client.listTaskPushNotificationConfigs({ taskId: task.id });
    await client.deleteTaskPushNotificationConfig(of);
    const subscription = await client.subscribeToTask({ id: task.id });
    const subscribed = all(subscription);
    await client.cancelTask({ id: task.id });
    await subscribed;
    await client.getExtendedAgentCard();
    await hook.close();

    const called = [...new Set(agent.sent.map((call) => shown(call, task.id)))];
    expect(called).toEqual(
      binding === "JSONRPC"
        ? [
            "SendStreamingMessage",
            "SendMessage",
            "GetTask",
            "ListTasks",
            "CreateTaskPushNotificationConfig",
            "GetTaskPushNotificationConfig",
            "ListTaskPushNotificationConfigs",
            "DeleteTaskPushNotificationConfig",
            "SubscribeToTask",
            "CancelTask",
            "GetExtendedAgentCard",
          ]
        : [
            "POST /rest/message:stream",
            "POST /rest/message:send",
            "GET /rest/tasks/{id}?historyLength=1",
            `GET /rest/tasks?contextId=${task.contextId}&pageSize=5`,
            "POST /rest/tasks/{id}/pushNotificationConfigs",
            "GET /rest/tasks/{id}/pushNotificationConfigs/p%2F1",
            "GET /rest/tasks/{id}/pushNotificationConfigs",
            "DELETE /rest/tasks/{id}/pushNotificationConfigs/p%2F1",
            "POST /rest/tasks/{id}:subscribe",
            "POST /rest/tasks/{id}:cancel",
            "GET /rest/extendedAgentCard",
          ],
    );
    expect(task.deviations).toEqual([]);
  });

  test("says on every request which version it is, and what kind of body and answer", async () => {
    const agent = await meet(kind, binding);
    const client = await agent.connect();
    await all(await client.sendStreamingMessage(report));
    await client.listTasks();

    const json = binding === "JSONRPC" ? "application/json" : "application/a2a+json";
    expect(agent.sent.map(({ headers }) => headers.get("a2a-version"))).toEqual(["1.0", "1.0"]);
    expect(agent.sent.map(({ headers }) => headers.get("content-type"))).toEqual(
      binding === "JSONRPC" ? [json, json] : [json, null],
    );
    expect(agent.sent[0]?.headers.get("accept")).toContain("text/event-stream");
  });

  test("answers a message with a task that completes, and is read and listed with what was asked for", async () => {
    const agent = await meet(kind, binding);
    const client = await agent.connect();
    const task = taskOf(await client.sendMessage(report, { blocking: true }));
    const outcome = await task.result();
    expect(outcome).toMatchObject({ status: "completed", text: summary.map(({ text }) => text).join("") });
    expect(task.artifacts.map(({ parts }) => parts)).toEqual([summary]);
    expect(await client.getTask({ id: task.id, historyLength: 0 })).toBe(task);

    const others = [await client.delegate(report), await client.delegate(report)];
    expect(others.map(({ status }) => status)).toEqual(["completed", "completed"]);
    const stranger = await agent.connect();
    const page = await stranger.listTasks({ pageSize: 2, status: "TASK_STATE_COMPLETED" });
    expect(page).toMatchObject({ pageSize: 2, totalSize: 3, failures: [], deviations: [] });
    expect((await all(page)).map(({ state }) => state)).toEqual(Array(3).fill("TASK_STATE_COMPLETED"));
    const [own] = (await stranger.listTasks({ contextId: task.contextId ?? "", includeArtifacts: true }))
      .tasks;
    expect(own?.artifacts.map(({ parts }) => parts)).toEqual([summary]);
    expect((await stranger.listTasks({ status: "TASK_STATE_WORKING" })).tasks).toEqual([]);
  });

  test("streams a message in order, and a subscription from the task as it stands to its end", async () => {
    const agent = await meet(kind, binding);
    const client = await agent.connect();
    expect((await all(await client.sendStreamingMessage(report))).map(inShort)).toEqual([
      "task",
      "TASK_STATE_WORKING",
      "artifactUpdate",
      "artifactUpdate",
      "TASK_STATE_COMPLETED",
    ]);

    agent.hold();
    const task = taskOf(await client.sendMessage(report));
    await task.get();
    const stream = await client.subscribeToTask({ id: task.id });
    const events = all(stream);
    agent.release(task.id);
    const seen = (await events).map(inShort);
    expect([seen[0], seen.at(-1)]).toEqual(["task", "TASK_STATE_COMPLETED"]);
    expect(stream.task).toBe(task);
    expect((await task.result()).status).toBe("completed");
    expect(task.artifacts.map(({ parts }) => parts)).toEqual([summary]);
  });

  test("asks, takes the answer in the same task, and completes", async () => {
    const agent = await meet(kind, binding);
    const client = await agent.connect();
    agent.ask("Which part?");
    const asked = await client.delegate(report);
    if (asked.status !== "input-required") expect.fail(asked.status);
    expect(asked.prompt?.parts).toMatchObject([{ text: "Which part?" }]);
    const answered = await asked.reply("All of it.");
    expect([answered.status, answered.task.id]).toEqual(["completed", asked.task.id]);
  });

  test("confirms a cancellation, also to who asks twice", async () => {
    const agent = await meet(kind, binding);
    const client = await agent.connect();
    agent.hold();
    const task = taskOf(await client.sendMessage(report));
    await client.cancelTask({ id: task.id });
    expect(task.state).toBe("TASK_STATE_CANCELED");
    expect((await task.cancel()).state).toBe("TASK_STATE_CANCELED");
  });

  test("keeps push configurations, has them called, and forgets them", async () => {
    const hook = await createLoopbackReceiver();
    const agent = await meet(kind, binding, { claims: { pushNotifications: true } });
    const client = await agent.connect();
    agent.hold();
    const task = taskOf(await client.sendMessage(report));
    const first = await task.pushConfigs.create({ url: hook.url, allowInsecureUrl: true });
    await task.pushConfigs.create({ url: hook.url, allowInsecureUrl: true, id: "p/1 ä" });
    expect(await task.pushConfigs.get("p/1 ä")).toMatchObject({ id: "p/1 ä", url: hook.url });
    await task.pushConfigs.delete("p/1 ä");
    await task.pushConfigs.delete("p/1 ä");
    expect((await all(await task.pushConfigs.list())).map(({ id }) => id)).toEqual([first.id]);
    agent.release(task.id);
    await task.result();
    await expect.poll(() => hook.received.length).toBeGreaterThan(0);
    // The official server sends what it was given as authentication, and no token beside it.
    for (const { headers } of hook.received) {
      const own = [headers["x-a2a-notification-token"], headers.authorization?.replace("Bearer ", "")];
      expect(new Set(own.filter((value) => value !== undefined))).toEqual(new Set([first.token]));
    }
    await hook.close();
  });

  test("gives its extended card, by which requirements are judged from then on", async () => {
    const agent = await meet(kind, binding, { claims: { extendedAgentCard: true } });
    const client = await agent.connect();
    const requires = { skills: [extraSkill] };
    await expect(client.sendMessage(report, { requires })).rejects.toMatchObject({
      name: "RequirementUnmetError",
    });
    const card = await client.getExtendedAgentCard();
    expect(card.skills.map(({ id }) => id)).toContain(extraSkill);
    await expect(client.sendMessage(report, { requires })).resolves.toHaveProperty("task");
  });

  test("is told the tenant of its interface on every request", async () => {
    const agent = await meet(kind, binding, { tenant: "acme" });
    const client = await agent.connect();
    agent.hold();
    const task = taskOf(await client.sendMessage(report));
    await task.get();
    await client.listTasks();
    const events = all(await task.subscribe());
    await task.cancel();
    await events;

    expect(task.state).toBe("TASK_STATE_CANCELED");
    for (const { path, body } of agent.sent) {
      const { tenant, params } = (body ?? {}) as { tenant?: string; params?: { tenant?: string } };
      if (binding === "JSONRPC") expect(params?.tenant).toBe("acme");
      else expect(path).toMatch(/^\/rest\/acme\//);
      if (binding === "HTTP+JSON" && body !== undefined) expect(tenant).toBe("acme");
    }
  });

  test("gets the ids of a caller as they are, whatever is in them", async () => {
    const agent = await meet(kind, binding);
    const client = await agent.connect();
    for (const id of ["nobody:has/seen it", "ü?&=#%2F", "a:cancel"]) {
      expect(await caught(client.getTask({ id }))).toMatchObject({
        name: "TaskNotFoundError",
        message: expect.stringContaining(id),
      });
    }
  });
});
