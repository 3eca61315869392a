import { createHttpJsonBinding, createJsonRpcBinding, type StreamResponse } from "a2a-lease";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type RealAgent, startRealAgent } from "../../examples/support/real-agent.ts";
import { systemClock } from "../../src/util/clock.ts";
import { createHttp } from "../../src/wire/http.ts";
import { defaultLimits } from "../../src/wire/limits.ts";
import { callsOf, plan, report, rotateAsInTheIncident, summary, taskOf, useRealAgent } from "./real-agent.ts";

const inShort = (event: StreamResponse) =>
  "statusUpdate" in event ? event.statusUpdate.status.state : Object.keys(event)[0];

async function collect(events: AsyncIterable<StreamResponse>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const event of events) found.push(inShort(event));
  return found;
}

describe.each([
  ["JSONRPC", { rpcCode: -32001 }],
  ["HTTP+JSON", { httpStatus: 404 }],
] as const)("the official server over %s", (binding, missing) => {
  const fixture = useRealAgent();
  const connect = (more = {}) => fixture.connect({ requires: plan, preferredBindings: [binding], ...more });

  test("is called at the interface of that binding, and answers with a task", async () => {
    const client = await connect();
    expect(client.pin.interface.protocolBinding).toBe(binding);
    const task = taskOf(await client.sendMessage(report, { blocking: true }));
    expect(task.state).toBe("TASK_STATE_COMPLETED");
    expect(task.artifacts.map(({ parts }) => parts)).toEqual([summary]);
    expect(await client.getTask({ id: task.id, historyLength: 1 })).toBe(task);
    expect(task.task?.history?.map(({ role }) => role)).toEqual(["ROLE_USER"]);
    expect(task.deviations).toEqual([]);
    expect(callsOf(fixture.agent)).toEqual(
      binding === "JSONRPC" ? ["SendMessage", "GetTask"] : ["/rest/message:send", `/rest/tasks/${task.id}`],
    );
  });

  test("streams a message, and a subscription, and confirms a cancellation", async () => {
    const client = await connect();
    expect(await collect(await client.sendStreamingMessage(report))).toEqual([
      "task",
      "TASK_STATE_WORKING",
      "artifactUpdate",
      "artifactUpdate",
      "TASK_STATE_COMPLETED",
    ]);
    fixture.agent.hold();
    const task = taskOf(await client.sendMessage(report));
    const events = collect(await task.subscribe());
    expect(await task.cancel()).toBe(task);
    expect((await events).at(-1)).toBe("TASK_STATE_CANCELED");
  });

  test("asks, takes the answer, and is delegated to", async () => {
    const client = await connect();
    fixture.agent.ask("Which part?");
    const outcome = await client.delegate(report);
    expect(outcome.status).toBe("input-required");
    if (outcome.status !== "input-required") return;
    expect((await outcome.reply("All of it.")).status).toBe("completed");
  });

  test("says of an unknown and of a finished task what each error says", async () => {
    const client = await connect();
    const id = "nobody:has/seen it";
    const notFound = { name: "TaskNotFoundError", reason: "TASK_NOT_FOUND", ...missing };
    await expect(client.getTask({ id })).rejects.toMatchObject(notFound);
    await expect(client.subscribeToTask({ id })).rejects.toMatchObject(notFound);
    await expect(client.cancelTask({ id })).rejects.toMatchObject(notFound);
    const task = taskOf(await client.sendMessage(report, { blocking: true }));
    await expect(task.subscribe()).rejects.toMatchObject({ name: "UnsupportedOperationError" });
    await expect(task.cancel()).rejects.toMatchObject({ name: "TaskNotCancelableError" });
  });

  test("is not called with a message once its card has changed", async () => {
    const client = await connect();
    fixture.agent.rotateCard(rotateAsInTheIncident);
    await expect(client.sendMessage(report)).rejects.toMatchObject({ name: "CardDriftError" });
    expect(callsOf(fixture.agent)).toEqual([]);
  });
});

describe.each(["JSONRPC", "HTTP+JSON"] as const)(
  "the operations of the binding %s at the official server",
  (name) => {
    let agent: RealAgent;
    beforeEach(async () => {
      vi.spyOn(console, "error").mockImplementation(() => {});
      agent = await startRealAgent({
        card: {
          capabilities: { streaming: true, pushNotifications: true, extensions: [], extendedAgentCard: true },
        },
      });
    });
    afterEach(async () => {
      await agent.close();
      vi.restoreAllMocks();
    });

    test("list tasks, keep push configurations, and read the extended card or say that there is none", async () => {
      const options = {
        http: createHttp({ fetch: (url, init) => fetch(url, init), clock: systemClock }),
        clock: systemClock,
        limits: defaultLimits,
      };
      const binding = name === "JSONRPC" ? createJsonRpcBinding(options) : createHttpJsonBinding(options);
      const target = agent.card.supportedInterfaces.find((item) => item.protocolBinding === name);
      const call = {
        interface: { url: target?.url ?? "", protocolBinding: name, protocolVersion: "1.0" },
        headers: {},
        signal: new AbortController().signal,
        timeouts: { firstByteMs: 5000, idleMs: 5000, firstEventMs: 5000 },
      };
      const message = { messageId: "m1", role: "ROLE_USER", parts: [{ text: report }] } as const;
      const { value: sent } = await binding.call("SendMessage", { message }, call);
      if (!("task" in sent)) throw new TypeError("found no task");
      const { id: taskId, contextId = "" } = sent.task;

      const { value: all } = await binding.call("ListTasks", {}, call);
      expect(all.tasks.map(({ id }) => id)).toEqual([taskId]);
      const filter = {
        contextId,
        status: "TASK_STATE_COMPLETED",
        pageSize: 1,
        historyLength: 0,
        includeArtifacts: true,
      } as const;
      const { value: page } = await binding.call("ListTasks", filter, call);
      expect(page).toMatchObject({
        tasks: [{ id: taskId, artifacts: [{}] }],
        pageSize: 1,
        totalSize: 1,
        nextPageToken: "",
      });
      const { value: none } = await binding.call("ListTasks", { contextId: "another" }, call);
      expect(none.tasks).toEqual([]);

      const config = { id: "p/1", taskId, url: "https://me.example/hook", token: "tok" };
      const of = { taskId, id: "p/1" };
      const created = await binding.call("CreateTaskPushNotificationConfig", config, call);
      expect(created.value).toMatchObject(config);
      expect((await binding.call("GetTaskPushNotificationConfig", of, call)).value).toMatchObject(config);
      const { value: listed } = await binding.call("ListTaskPushNotificationConfigs", { taskId }, call);
      expect(listed.configs.map(({ id }) => id)).toEqual(["p/1"]);
      expect(await binding.call("DeleteTaskPushNotificationConfig", of, call)).toEqual({
        value: null,
        deviations: [],
      });
      expect((await binding.call("ListTaskPushNotificationConfigs", { taskId }, call)).value.configs).toEqual(
        [],
      );

      await expect(binding.call("GetExtendedAgentCard", {}, call)).rejects.toMatchObject({
        name: "ExtendedAgentCardNotConfiguredError",
      });
    });
  },
);
