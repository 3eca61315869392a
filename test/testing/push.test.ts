import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type AgentListener,
  createLoopbackReceiver,
  createScriptedAgent,
  createTestCard,
  createTestClock,
  type LoopbackReceiver,
  type PushAttempt,
  type ScriptedAgentOptions,
  step,
} from "../../src/testing.ts";
import { rest } from "./rest.ts";
import { gist, rpc, text } from "./rpc.ts";

// Push notifications by 3.1.7 to 3.1.10, 4.3 and 13.2, over real sockets.

let listener: AgentListener | undefined;
let hook: LoopbackReceiver;
beforeEach(async () => {
  hook = await createLoopbackReceiver();
});
afterEach(async () => {
  await listener?.close();
  await hook.close();
});

const capabilities = { streaming: true, pushNotifications: true, extendedAgentCard: true };
const held = [step.working(), step.hold(), step.artifact("a", "x"), step.completed()];

async function listening(options: ScriptedAgentOptions = {}) {
  const clock = createTestClock();
  const agent = createScriptedAgent({ clock, card: (card) => ({ ...card, capabilities }), ...options });
  listener = await agent.listen();
  const { url } = listener;
  const call = async (method: string, params: object) =>
    rpc(agent, method, params, { fetch, url: `${url}/rpc` });
  /** Starts a task that holds while it works, and registers the webhook for it. */
  const start = async (config: object = {}) => {
    agent.planNext(held);
    const sent = await call("SendMessage", text("a", {}, { returnImmediately: true }));
    const taskId = sent.result.task.id;
    const { result } = await call("CreateTaskPushNotificationConfig", { taskId, url: hook.url, ...config });
    return { taskId, config: result };
  };
  return { agent, clock, call, start, base: `${url}/rest` };
}

const gists = () => hook.received.map(({ body }) => gist(JSON.parse(body)));

test("each event of the task is posted as a stream would bring it, in order (4.3.3)", async () => {
  const { agent, start } = await listening();
  const { taskId, config } = await start({
    token: "t-1",
    authentication: { scheme: "Bearer", credentials: "c-1" },
  });
  agent.step(taskId);
  await agent.pushesSettled();
  expect(gists()).toEqual(["artifact", "status COMPLETED"]);
  expect(hook.received[1]).toMatchObject({
    method: "POST",
    path: "/",
    headers: {
      "content-type": "application/a2a+json",
      "x-a2a-notification-token": "t-1",
      authorization: "Bearer c-1",
    },
  });
  expect(JSON.parse(hook.received[1]?.body ?? "")).toEqual({
    statusUpdate: {
      taskId,
      contextId: "context-1",
      status: { state: "TASK_STATE_COMPLETED", timestamp: "2026-01-01T00:00:00.000Z" },
    },
  });
  expect(agent.pushes.map(({ nth, configId, status, outcome }) => [nth, configId, status, outcome])).toEqual([
    [1, config.id, 200, "delivered"],
    [2, config.id, 200, "delivered"],
  ]);
});

test("a configuration inside a send brings the task first and then all that follows (3.2.2)", async () => {
  const { agent, base } = await listening();
  const sent = await rest(base, "POST", "/message:send", {
    body: text("a", {}, { taskPushNotificationConfig: { url: `${hook.url}/inline?x=1` } }),
  });
  await agent.pushesSettled();
  expect(gists()).toEqual(["task SUBMITTED", "status WORKING", "artifact", "status COMPLETED"]);
  expect([hook.received[0]?.path, hook.received[0]?.headers.authorization]).toEqual([
    "/inline?x=1",
    undefined,
  ]);
  const listed = await rest(base, "GET", `/tasks/${sent.body.task.id}/pushNotificationConfigs`);
  expect(listed.body.configs).toEqual([
    { url: `${hook.url}/inline?x=1`, id: "push-config-1", taskId: sent.body.task.id },
  ]);
});

test("an answer to a question can bring a configuration too", async () => {
  const { agent, call } = await listening({ plan: [step.inputRequired("?"), step.completed()] });
  await call("SendMessage", text("a"));
  const taskPushNotificationConfig = { url: hook.url };
  await call("SendMessage", text("b", { taskId: "task-1" }, { taskPushNotificationConfig }));
  await agent.pushesSettled();
  expect(gists()).toEqual(["status WORKING", "status COMPLETED"]);
});

test("configurations are created, read, replaced, listed and deleted over HTTP+JSON (3.1.7 to 3.1.10)", async () => {
  const { start, base } = await listening();
  const { taskId } = await start();
  const path = `/tasks/${taskId}/pushNotificationConfigs`;
  const mine = { id: "mine/1", url: hook.url, token: "t", authentication: { scheme: "Bearer" } };
  const created = await rest(base, "POST", path, { body: mine });
  const again = await rest(base, "POST", path, { body: { ...mine, token: "u" } });
  const got = await rest(base, "GET", `${path}/mine%2F1`);
  expect([created.status, created.body]).toEqual([200, { ...mine, taskId }]);
  expect([again.body.token, got.body]).toEqual(["u", again.body]);
  const first = await rest(base, "GET", `${path}?pageSize=1`);
  const second = await rest(
    base,
    "GET",
    `${path}?pageSize=1&pageToken=${encodeURIComponent(first.body.nextPageToken)}`,
  );
  expect([first.body.configs[0].id, second.body.configs[0].id]).toEqual(["push-config-1", "mine/1"]);
  expect(second.body.nextPageToken).toBe("");
  const deleted = [
    await rest(base, "DELETE", `${path}/mine%2F1`),
    await rest(base, "DELETE", `${path}/mine%2F1`),
  ];
  expect(deleted.map(({ status, body }) => [status, body])).toEqual([
    [200, {}],
    [200, {}],
  ]);
  expect((await rest(base, "GET", `${path}/mine%2F1`)).body.error.details[0].reason).toBe("TASK_NOT_FOUND");
});

test.each([
  ["no-content", 204, undefined, null],
  ["empty", 200, undefined, null],
  ["object", 200, {}, {}],
] as const)("a deletion is answered with %s", async (deleteAnswer, status, body, result) => {
  const { call, start, base } = await listening({ deleteAnswer });
  const { taskId } = await start();
  const over = await rest(base, "DELETE", `/tasks/${taskId}/pushNotificationConfigs/x`);
  const rpcOver = await call("DeleteTaskPushNotificationConfig", { taskId, id: "x" });
  expect([over.status, over.body, rpcOver.result]).toEqual([status, body, result]);
});

test("nothing is sent after a deletion, also not what was about to be sent once more", async () => {
  const { agent, call, start } = await listening();
  const { taskId, config } = await start();
  hook.handle(async () => {
    await call("DeleteTaskPushNotificationConfig", { taskId, id: config.id });
    return new Response(null, { status: 503 });
  });
  agent.step(taskId);
  await agent.pushesSettled();
  expect(agent.pushes.map(({ status, outcome }) => [status, outcome])).toEqual([[503, "refused"]]);
});

test.each([
  [{}, -32602, "INVALID_PARAMS"],
  [{ url: "nowhere" }, -32602, "INVALID_PARAMS"],
  [{ url: "https://a.example", authentication: {} }, -32602, "INVALID_PARAMS"],
  [{ url: "https://a.example", taskId: "nope" }, -32001, "TASK_NOT_FOUND"],
])("creating %j is refused", async (config, code, reason) => {
  const { call, start } = await listening();
  const { taskId } = await start();
  const { error } = await call("CreateTaskPushNotificationConfig", { taskId, ...config });
  expect([error.code, error.data[0].reason]).toEqual([code, reason]);
});

test("without the capability every operation and every inline configuration is refused (3.3.4)", async () => {
  const { agent, call } = await listening({ card: createTestCard() });
  const inline = text("a", {}, { taskPushNotificationConfig: { url: hook.url } });
  const asked = [
    await call("CreateTaskPushNotificationConfig", { taskId: "x", url: hook.url }),
    await call("GetTaskPushNotificationConfig", { taskId: "x", id: "x" }),
    await call("ListTaskPushNotificationConfigs", { taskId: "x" }),
    await call("DeleteTaskPushNotificationConfig", { taskId: "x", id: "x" }),
    await call("SendMessage", inline),
    await call("SendMessage", text("a", {}, { taskPushNotificationConfig: { url: 1 } })),
  ];
  expect(asked.map(({ error }) => error.code)).toEqual(Array(6).fill(-32003));
  expect([agent.acceptedMessageIds, agent.tasks.list()]).toEqual([[], []]);
});

test("what is refused or fails is sent once more, and then let go of, and the next one still goes", async () => {
  const { agent, start } = await listening();
  const { taskId } = await start();
  const answers = [500, 302, 200];
  hook.handle(() => new Response(null, { status: answers.shift() ?? 200 }));
  agent.step(taskId);
  await agent.pushesSettled();
  expect(agent.pushes.map(({ nth, attempt, outcome }) => [nth, attempt, outcome])).toEqual([
    [1, 1, "refused"],
    [1, 2, "refused"],
    [2, 1, "delivered"],
  ]);
});

test("a webhook that nobody listens at fails, and one that never answers fails when its time is over", async () => {
  const { agent, clock, start } = await listening({ pushes: { retries: 0, timeoutMs: 20_000 } });
  const gone = await createLoopbackReceiver();
  await gone.close();
  const { taskId } = await start({ url: gone.url });
  agent.step(taskId, step.working());
  await agent.pushesSettled();
  hook.handle(() => new Promise(() => {}));
  const silent = await start();
  agent.step(silent.taskId, step.working());
  await clock.advance(19_999);
  const before = agent.pushes.map(({ outcome }) => outcome);
  await clock.advance(1);
  await agent.pushesSettled();
  expect([before, agent.pushes.map(({ outcome }) => outcome)]).toEqual([
    ["failed", "open"],
    ["failed", "failed"],
  ]);
  expect(agent.pushes[1]?.error).toMatchObject({ name: "TimeoutError" });
});

const sent = (pushes: readonly PushAttempt[]) =>
  pushes.map(({ body, headers }) => [gist(JSON.parse(body)), headers["x-a2a-notification-token"]]);

test.each([
  ["twice", { copies: 2 }, ["artifact", "artifact", "status COMPLETED", "status COMPLETED"], "t"],
  ["in reverse", { reverse: 9 }, ["status COMPLETED", "artifact"], "t"],
  ["with a wrong token", { token: "wrong" }, ["artifact", "status COMPLETED"], "wrong"],
  ["without a token", { token: null }, ["artifact", "status COMPLETED"], undefined],
  ["never", { copies: 0 }, [], "t"],
] as const)("notifications can be sent %s", async (_how, pushes, gisted, token) => {
  const { agent, start } = await listening({ pushes });
  const { taskId } = await start({ token: "t" });
  agent.step(taskId);
  await agent.pushesSettled();
  expect(sent(agent.pushes)).toEqual(gisted.map((each) => [each, token]));
  expect(gists()).toEqual(gisted);
});

test("the older payload is the bare task as it is after the event", async () => {
  const { agent, start } = await listening({ pushes: { payload: "task" } });
  const { taskId } = await start();
  agent.step(taskId);
  await agent.pushesSettled();
  const bodies = hook.received.map(({ body }) => JSON.parse(body));
  expect(bodies.map(({ id, status }) => [id, status.state])).toEqual([
    [taskId, "TASK_STATE_WORKING"],
    [taskId, "TASK_STATE_COMPLETED"],
  ]);
  expect(hook.received[0]?.headers["content-type"]).toBe("application/json");
});

test("a script can change, sign, drop and multiply what is sent, and its mistakes are seen", async () => {
  const { agent, start } = await listening();
  agent.configure({
    pushes: {
      edit: async (push) =>
        push.nth === 1
          ? []
          : { ...push, headers: { ...push.headers, authorization: `Signed ${push.body.length}` } },
    },
  });
  const { taskId } = await start({ authentication: { scheme: "Bearer", credentials: "c" } });
  agent.step(taskId);
  await agent.pushesSettled();
  expect(hook.received.map(({ headers, body }) => headers.authorization === `Signed ${body.length}`)).toEqual(
    [true],
  );
  agent.configure({
    pushes: {
      edit: () => {
        throw new RangeError("my mistake");
      },
    },
  });
  agent.step((await start()).taskId, step.working());
  await expect(agent.pushesSettled()).rejects.toThrow("my mistake");
  await agent.pushesSettled();
});

test("several webhooks of a task are served side by side, and one that hangs holds up no other", async () => {
  const { agent, call, start } = await listening();
  const { taskId } = await start();
  const other = await createLoopbackReceiver({ handler: () => new Promise(() => {}) });
  await call("CreateTaskPushNotificationConfig", { taskId, url: other.url });
  agent.step(taskId);
  await expect.poll(() => hook.received.length).toBe(2);
  await other.close();
  await agent.pushesSettled();
});

test("an injected fetch takes the notifications", async () => {
  const seen: Request[] = [];
  const { agent, start } = await listening({
    pushFetch: async (input, init) => {
      seen.push(new Request(input, init));
      return new Response(null, { status: 202 });
    },
  });
  agent.step((await start({ url: "https://caller.example/hook" })).taskId);
  await agent.pushesSettled();
  expect(seen.map(({ url }) => url)).toEqual(Array(2).fill("https://caller.example/hook"));
});

test("the agent forgets the configurations of a task that it forgets", async () => {
  const { agent, call, start } = await listening();
  const { taskId } = await start();
  const task = agent.tasks.get(taskId);
  if (!task) throw new TypeError("no task");
  agent.tasks.put(task);
  expect((await call("ListTaskPushNotificationConfigs", { taskId })).result.configs.length).toBe(1);
  agent.tasks.forget(taskId);
  agent.tasks.put(task);
  expect((await call("ListTaskPushNotificationConfigs", { taskId })).result).toEqual({
    configs: [],
    nextPageToken: "",
  });
});

test("the extended card is what it was told to be, moved to the port (3.1.11)", async () => {
  const extendedCard = createTestCard({ description: "more" });
  const { agent, call, base } = await listening({ extendedCard });
  const over = [
    (await rest(base, "GET", "/extendedAgentCard")).body,
    (await call("GetExtendedAgentCard", {})).result,
  ];
  const url = `${listener?.url}/rpc`;
  expect(over).toMatchObject(Array(2).fill({ description: "more", supportedInterfaces: [{ url }] }));
  agent.configure({ extendedCard: undefined });
  expect((await call("GetExtendedAgentCard", {})).error.code).toBe(-32007);
});

test.each([
  [{ copies: -1 }, "pushes.copies"],
  [{ reverse: 0 }, "pushes.reverse"],
  [{ retries: 0.5 }, "pushes.retries"],
  [{ timeoutMs: -1 }, "pushes.timeoutMs"],
  [{ payload: "other" as "task" }, "pushes.payload"],
  [{ colour: 1 } as object, "pushes.colour: is no option here"],
])("the settings %j are refused", (pushes, message) => {
  expect(() => createScriptedAgent({ pushes })).toThrow(message);
});

test("settings of pushes that are left out stay as they are", async () => {
  const { agent, start } = await listening({ pushes: { copies: 2 } });
  agent.configure({ pushes: { token: "x" } });
  const { taskId } = await start();
  agent.step(taskId, step.working());
  await agent.pushesSettled();
  expect(sent(agent.pushes)).toEqual(Array(2).fill(["status WORKING", "x"]));
});
