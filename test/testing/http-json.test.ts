import { afterEach, expect, test } from "vitest";
import {
  type AgentListener,
  answer,
  createScriptedAgent,
  createTestClock,
  event,
  frame,
  type ScriptedAgentOptions,
  step,
} from "../../src/testing.ts";
import { ask, bareEvents, rest } from "./rest.ts";
import { gist, rpc, text } from "./rpc.ts";

// The HTTP+JSON binding by the text of the spec (section 11, and the bindings of a2a.proto).

let listener: AgentListener | undefined;
afterEach(() => listener?.close());

async function listening(options: ScriptedAgentOptions = {}) {
  const agent = createScriptedAgent({ clock: createTestClock(), ...options });
  listener = await agent.listen();
  return { agent, origin: listener.url, base: `${listener.url}/rest` };
}
const held = [step.working(), step.hold(), step.completed()];
const info = (reason: string) => ({
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason,
  domain: "a2a-protocol.org",
});

test("a send is answered with the bare result in the media type of the binding (11.1, 11.4)", async () => {
  const { base } = await listening();
  const sent = await rest(base, "POST", "/message:send", { body: text("a") });
  expect(sent).toMatchObject({
    status: 200,
    type: "application/a2a+json",
    body: { task: { id: "task-1", status: { state: "TASK_STATE_COMPLETED" } } },
  });
});

test.each(["application/json", "application/a2a+json; charset=utf-8", "text/plain"])(
  "a body of %s is read, or refused where it is no JSON by its name",
  async (type) => {
    const { agent, base } = await listening();
    const { status } = await rest(base, "POST", "/message:send", {
      body: text("a"),
      headers: { "content-type": type },
    });
    const isJson = type !== "text/plain";
    expect([status, agent.acceptedMessageIds.length]).toEqual(isJson ? [200, 1] : [415, 0]);
  },
);

test("every operation has its route, and the transcript names it with all its parameters (11.3, 5.3)", async () => {
  const { agent, base } = await listening();
  agent.on("call", answer.result({}));
  const body = { a: 1 };
  await rest(base, "POST", "/message:send", { body });
  await rest(base, "POST", "/message:stream", { body });
  await rest(base, "GET", "/tasks/t1?historyLength=0");
  await rest(
    base,
    "GET",
    "/tasks?pageSize=2&includeArtifacts=true&contextId=7&statusTimestampAfter=2026-01-01",
  );
  await rest(base, "POST", "/tasks/t1:cancel", { body: { metadata: body } });
  await rest(base, "POST", "/tasks/t1:cancel");
  await rest(base, "POST", "/tasks/t1:subscribe");
  await rest(base, "GET", "/tasks/t1:subscribe");
  await rest(base, "POST", "/tasks/t1/pushNotificationConfigs", { body });
  await rest(base, "GET", "/tasks/t1/pushNotificationConfigs?pageSize=3&pageToken=x");
  await rest(base, "GET", "/tasks/t1/pushNotificationConfigs/c1");
  await rest(base, "DELETE", "/tasks/t1/pushNotificationConfigs/c1");
  await rest(base, "GET", "/extendedAgentCard");
  expect(agent.calls().map(({ operation, params }) => [operation, params])).toEqual([
    ["SendMessage", body],
    ["SendStreamingMessage", body],
    ["GetTask", { id: "t1", historyLength: 0 }],
    [
      "ListTasks",
      { pageSize: 2, includeArtifacts: true, contextId: "7", statusTimestampAfter: "2026-01-01" },
    ],
    ["CancelTask", { id: "t1", metadata: body }],
    ["CancelTask", { id: "t1" }],
    ["SubscribeToTask", { id: "t1" }],
    ["SubscribeToTask", { id: "t1" }],
    ["CreateTaskPushNotificationConfig", { taskId: "t1", ...body }],
    ["ListTaskPushNotificationConfigs", { taskId: "t1", pageSize: 3, pageToken: "x" }],
    ["GetTaskPushNotificationConfig", { taskId: "t1", id: "c1" }],
    ["DeleteTaskPushNotificationConfig", { taskId: "t1", id: "c1" }],
    ["GetExtendedAgentCard", {}],
  ]);
});

test("a tenant leads the path of every route, and ids are unescaped once (a2a.proto)", async () => {
  const { agent, base } = await listening();
  agent.on("call", answer.result({}));
  const odd = encodeURIComponent("a/b:cancel?%");
  await rest(base, "POST", "/acme%2Feu/message:send", { body: { tenant: "other" } });
  await rest(base, "GET", "/acme/tasks");
  await rest(base, "GET", `/acme/tasks/${odd}`);
  await rest(base, "POST", `/tasks/${odd}:cancel`);
  await rest(base, "GET", "/tasks/tasks/pushNotificationConfigs/tasks");
  await rest(base, "GET", "/acme/extendedAgentCard");
  expect(agent.calls().map(({ operation, params }) => [operation, params])).toEqual([
    ["SendMessage", { tenant: "acme/eu" }],
    ["ListTasks", { tenant: "acme" }],
    ["GetTask", { tenant: "acme", id: "a/b:cancel?%" }],
    ["CancelTask", { id: "a/b:cancel?%" }],
    ["GetTaskPushNotificationConfig", { taskId: "tasks", id: "tasks" }],
    ["GetExtendedAgentCard", { tenant: "acme" }],
  ]);
});

test.each([
  ["GET", "/nothing", 404, null],
  ["GET", "/tasks/a/b", 404, null],
  ["GET", "/tasks/%E0%A4%A", 404, null],
  ["PUT", "/tasks/a", 405, "GET"],
  ["GET", "/tasks/a:cancel", 405, "POST"],
  ["DELETE", "/tasks/a/pushNotificationConfigs", 405, "POST, GET"],
  ["PUT", "/tasks/a:subscribe", 405, "GET, POST"],
])("%s %s is answered with %i", async (method, path, status, allow) => {
  const { base } = await listening();
  const response = await ask(base, method, path);
  expect([response.status, response.headers.get("allow")]).toEqual([status, allow]);
});

test.each([
  ["GET", "POST", 405],
  ["POST", "GET", 404],
] as const)("an agent that subscribes by %s alone refuses %s with %i", async (taken, refused, status) => {
  const { base } = await listening({
    plan: held,
    subscribeMethods: [taken],
    refusedMethodStatus: status,
  });
  await rest(base, "POST", "/message:send", {
    body: text("a", {}, { returnImmediately: true }),
  });
  const no = await ask(base, refused, "/tasks/task-1:subscribe");
  const yes = await ask(base, taken, "/tasks/task-1:subscribe");
  expect([no.status, yes.status, no.headers.get("allow")]).toEqual([
    status,
    200,
    status === 405 ? taken : null,
  ]);
  await yes.body?.cancel();
});

test("streams bring bare events (11.7)", async () => {
  const { agent, base } = await listening({ plan: held });
  const sent = await ask(base, "POST", "/message:stream", { body: text("a") });
  const subscribed = await ask(base, "POST", "/tasks/task-1:subscribe");
  agent.step("task-1");
  expect(sent.headers.get("content-type")).toBe("text/event-stream");
  expect((await bareEvents(sent)).map(gist)).toEqual([
    "task SUBMITTED",
    "status WORKING",
    "status COMPLETED",
  ]);
  expect((await bareEvents(subscribed)).map(gist)).toEqual(["task WORKING", "status COMPLETED"]);
});

test.each([
  [-32001, 404, "NOT_FOUND", "TASK_NOT_FOUND"],
  [-32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE"],
  [-32003, 400, "FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED"],
  [-32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"],
  [-32005, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED"],
  [-32006, 500, "INTERNAL", "INVALID_AGENT_RESPONSE"],
  [-32007, 400, "FAILED_PRECONDITION", "EXTENDED_AGENT_CARD_NOT_CONFIGURED"],
  [-32008, 400, "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED"],
  [-32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED"],
])("error %i is %i %s with the reason %s (5.4, 11.6)", async (code, status, name, reason) => {
  const { agent, base } = await listening();
  agent.once("GetTask", answer.error(code, "no"));
  expect(await rest(base, "GET", "/tasks/t1")).toEqual({
    status,
    type: "application/a2a+json",
    body: { error: { code: status, status: name, message: "no", details: [info(reason)] } },
  });
});

test.each([
  ["an unknown task", "GET", "/tasks/nope", undefined, 404, "TASK_NOT_FOUND"],
  ["a finished task to cancel", "POST", "/tasks/task-1:cancel", undefined, 400, "TASK_NOT_CANCELABLE"],
  ["a finished task to follow", "GET", "/tasks/task-1:subscribe", undefined, 400, "UNSUPPORTED_OPERATION"],
  ["a message without an id", "POST", "/message:send", { message: {} }, 400, "INVALID_PARAMS"],
])("%s is refused over HTTP+JSON as over JSON-RPC", async (_case, method, path, body, status, reason) => {
  const { base } = await listening();
  await rest(base, "POST", "/message:send", { body: text("a") });
  const refused = await rest(base, method, path, body === undefined ? {} : { body });
  expect([refused.status, refused.body.error.details]).toEqual([status, [info(reason)]]);
});

test("what is no JSON, and a version that is not spoken, are told in the form of the binding (3.6.2)", async () => {
  const { base } = await listening();
  const broken = await rest(base, "POST", "/message:send", { body: "{" });
  const list = await rest(base, "POST", "/message:send", { body: "[]" });
  const old = await rest(base, "GET", "/tasks/a", { headers: { "a2a-version": "0.3" } });
  const asked = await rest(base, "GET", "/tasks/a?A2A-Version=1.0", { headers: { "a2a-version": "" } });
  expect([broken.body.error.status, list.body.error.status]).toEqual([
    "INVALID_ARGUMENT",
    "INVALID_ARGUMENT",
  ]);
  expect([old.status, old.body.error.details]).toEqual([400, [info("VERSION_NOT_SUPPORTED")]]);
  expect(asked.body.error.details).toEqual([info("TASK_NOT_FOUND")]);
});

test("scripts, faults and the accepted messages are the same over both bindings", async () => {
  const { agent, base, origin } = await listening();
  agent.once(
    "GetTask",
    answer.http(503),
    answer.error(-32603, "odd", null, { httpStatus: 429 }),
    answer.reset(),
  );
  const status503 = (await ask(base, "GET", "/tasks/a")).status;
  const odd = await rest(base, "GET", "/tasks/a");
  await expect(ask(base, "GET", "/tasks/a")).rejects.toMatchObject({ cause: { code: "ECONNRESET" } });
  agent.once("SendMessage", answer.acceptThenReset(), answer.message("hi"));
  await expect(ask(base, "POST", "/message:send", { body: text("a") })).rejects.toThrow("fetch failed");
  const direct = await rest(base, "POST", "/message:send", { body: text("a") });
  const over = { fetch, url: `${origin}/rpc` };
  expect((await rpc(agent, "GetTask", { id: "task-1" }, over)).result.status.state).toBe(
    "TASK_STATE_COMPLETED",
  );
  expect([status503, odd.status, odd.body.error]).toEqual([
    503,
    429,
    { code: 429, status: "INTERNAL", message: "odd" },
  ]);
  expect(direct.body.message.parts).toEqual([{ text: "hi" }]);
  expect([agent.acceptedMessageIds, agent.calls("GetTask").map(({ outcome }) => outcome)]).toEqual([
    ["m1", "m1"],
    ["answered", "answered", "reset", "answered"],
  ]);
});

test("scripted streams are written bare, an error frame in the form of the binding", async () => {
  const { agent, base } = await listening();
  agent.once(
    "SubscribeToTask",
    answer.stream([event.task("TASK_STATE_WORKING"), frame.error(-32603, "broken")]),
  );
  const events = await bareEvents(await ask(base, "GET", "/tasks/t1:subscribe"));
  expect(events[1]).toEqual({ error: { code: 500, status: "INTERNAL", message: "broken" } });
});

test("the default card lists the bindings that it is told to, moved to the port", async () => {
  const { origin, agent } = await listening({
    bindings: ["JSONRPC", "HTTP+JSON"],
    restPath: ["/v1", "/old"],
    card: (card) => ({ ...card, capabilities: { streaming: true, pushNotifications: true } }),
  });
  const card = await (await fetch(`${origin}/.well-known/agent-card.json`)).json();
  expect(card.supportedInterfaces).toEqual([
    { url: `${origin}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    { url: `${origin}/v1`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
  ]);
  expect(card.capabilities.pushNotifications).toBe(true);
  const old = await rest(`${origin}/old`, "GET", "/tasks");
  expect([old.status, agent.cardReads().length, agent.calls().length]).toEqual([200, 1, 1]);
  expect(() => createScriptedAgent({ bindings: ["GRPC" as "JSONRPC"] })).toThrow(/^bindings must be/);
});

test("the root can be the base path, and the in-process fetch reaches it too", async () => {
  const agent = createScriptedAgent({ restPath: "/", bindings: ["HTTP+JSON"] });
  const headers = { "a2a-version": "1.0" };
  const listed = await agent.fetch(`${agent.url}/tasks`, { headers });
  const card = await agent.fetch(`${agent.url}/.well-known/agent-card.json`);
  expect([listed.status, (await card.json()).supportedInterfaces[0].url]).toEqual([200, agent.url]);
  expect(agent.transcript.map(({ kind }) => kind)).toEqual(["call", "card"]);
});

test("a token is asked for on every route", async () => {
  const { base } = await listening({ bearer: "secret" });
  const none = await ask(base, "GET", "/tasks");
  const right = await ask(base, "GET", "/tasks", { headers: { authorization: "Bearer secret" } });
  expect([none.status, none.headers.get("www-authenticate"), right.status]).toEqual([
    401,
    'Bearer realm="agent"',
    200,
  ]);
});
