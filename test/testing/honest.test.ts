import { expect, test } from "vitest";
import { createScriptedAgent, createTestCard, createTestClock, step } from "../../src/testing.ts";
import { gist, post, reader, results, rpc, text } from "./rpc.ts";

const startMs = 1_767_225_600_000;
const timestamp = "2026-01-01T00:00:00.000Z";
const newAgent = () => createScriptedAgent({ clock: createTestClock({ startMs }) });
const errorInfo = (reason: string) => [
  { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "a2a-protocol.org" },
];

test("a blocking send is answered with the finished task, which echoes the parts", async () => {
  const agent = newAgent();
  const parts = [{ text: "héllo" }, { raw: "AAEC", mediaType: "application/octet-stream" }, { data: null }];
  const answered = await rpc(agent, "SendMessage", text("", { parts }), { id: "r-1" });
  expect(answered).toEqual({
    jsonrpc: "2.0",
    id: "r-1",
    result: {
      task: {
        id: "task-1",
        contextId: "context-1",
        status: { state: "TASK_STATE_COMPLETED", timestamp },
        artifacts: [{ artifactId: "artifact-1", parts }],
        history: [{ messageId: "m1", role: "ROLE_USER", parts, taskId: "task-1", contextId: "context-1" }],
      },
    },
  });
});

test("a send that returns immediately is answered with the submitted task, and the work goes on", async () => {
  const agent = newAgent();
  const sent = await rpc(agent, "SendMessage", text("a", {}, { returnImmediately: true }));
  const later = await rpc(agent, "GetTask", { id: "task-1" });
  expect([sent.result.task.status.state, later.result.status.state]).toEqual([
    "TASK_STATE_SUBMITTED",
    "TASK_STATE_COMPLETED",
  ]);
});

test("a streaming send begins with the task, brings every update and ends with the task", async () => {
  const agent = newAgent();
  const response = await post(agent, "SendStreamingMessage", text("a"));
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect((await results(response)).map(gist)).toEqual([
    "task SUBMITTED",
    "status WORKING",
    "artifact",
    "status COMPLETED",
  ]);
});

test("every subscriber gets the same updates in the same order", async () => {
  const agent = newAgent();
  agent.plan([step.working(), step.hold(), step.artifact("a", "one"), step.completed()]);
  await rpc(agent, "SendMessage", text("a", {}, { returnImmediately: true }));
  const both = [
    await post(agent, "SubscribeToTask", { id: "task-1" }),
    await post(agent, "SubscribeToTask", { id: "task-1" }),
  ];
  agent.step("task-1");
  const seen = await Promise.all(both.map(async (response) => (await results(response)).map(gist)));
  expect(seen).toEqual(Array(2).fill(["task WORKING", "artifact", "status COMPLETED"]));
});

test.each([
  ["subscribing to a finished task", "SubscribeToTask", { id: "task-1" }, -32004, "UNSUPPORTED_OPERATION"],
  [
    "a message to a finished task",
    "SendMessage",
    text("b", { taskId: "task-1" }),
    -32004,
    "UNSUPPORTED_OPERATION",
  ],
  ["cancelling a finished task", "CancelTask", { id: "task-1" }, -32002, "TASK_NOT_CANCELABLE"],
  ["an unknown task", "GetTask", { id: "nope" }, -32001, "TASK_NOT_FOUND"],
  ["a message to an unknown task", "SendMessage", text("b", { taskId: "nope" }), -32001, "TASK_NOT_FOUND"],
  ["a push operation", "CreateTaskPushNotificationConfig", {}, -32003, "PUSH_NOTIFICATION_NOT_SUPPORTED"],
  ["the extended card", "GetExtendedAgentCard", {}, -32004, "UNSUPPORTED_OPERATION"],
  ["a message without an id", "SendMessage", { message: {} }, -32602, "INVALID_PARAMS"],
])("%s is refused with the error of the spec", async (_case, method, params, code, reason) => {
  const agent = newAgent();
  await rpc(agent, "SendMessage", text("a"));
  const { error, id } = await rpc(agent, method, params);
  expect([id, error.code, error.data]).toEqual([1, code, errorInfo(reason)]);
});

test("an unknown method is -32601, and what is no JSON-RPC is -32700 or -32600 with a null id", async () => {
  const agent = newAgent();
  const raw = async (body: string) =>
    (await agent.fetch(`${agent.url}/rpc`, { method: "POST", body })).json();
  expect((await rpc(agent, "message/send", {})).error.code).toBe(-32601);
  expect([await raw("{"), await raw("[]")]).toMatchObject([
    { id: null, error: { code: -32700 } },
    { id: null, error: { code: -32600 } },
  ]);
});

test.each(["", "0.3", "1", "1.0.0", "1.1"])("the version header %j is not supported", async (version) => {
  const { error } = await rpc(newAgent(), "GetTask", { id: "x" }, { headers: { "a2a-version": version } });
  expect(error).toEqual({
    code: -32009,
    message: `The requested A2A protocol version '${version || "0.3"}' is not supported. Supported versions: 1.0`,
    data: errorInfo("VERSION_NOT_SUPPORTED"),
  });
});

test("a card without streaming makes the streaming operations unsupported", async () => {
  const agent = createScriptedAgent({ card: createTestCard({ capabilities: {} }) });
  const { error } = await rpc(agent, "SendStreamingMessage", text("a"));
  expect([error.code, agent.acceptedMessageIds]).toEqual([-32004, []]);
});

test("cancelling ends the task and its streams", async () => {
  const agent = newAgent();
  agent.plan([step.working(), step.hold(), step.completed()]);
  const stream = await post(agent, "SendStreamingMessage", text("a"));
  const canceled = await rpc(agent, "CancelTask", { id: "task-1" });
  expect(canceled.result.status.state).toBe("TASK_STATE_CANCELED");
  expect((await results(stream)).map(gist)).toEqual(["task SUBMITTED", "status WORKING", "status CANCELED"]);
  expect(() => agent.step("task-1")).toThrow(/^taskId: nothing is left/);
});

test("tasks are listed newest change first, in pages, without artifacts unless they are asked for", async () => {
  const agent = newAgent();
  for (const contextId of ["c1", "c2", "c1"]) await rpc(agent, "SendMessage", text("a", { contextId }));
  const first = (await rpc(agent, "ListTasks", { pageSize: 2, historyLength: 0 })).result;
  const second = (await rpc(agent, "ListTasks", { pageSize: 2, pageToken: first.nextPageToken })).result;
  const ofC2 = (await rpc(agent, "ListTasks", { contextId: "c2", includeArtifacts: true })).result;
  expect(first).toEqual({
    tasks: [
      { id: "task-3", contextId: "c1", status: { state: "TASK_STATE_COMPLETED", timestamp } },
      { id: "task-2", contextId: "c2", status: { state: "TASK_STATE_COMPLETED", timestamp } },
    ],
    nextPageToken: expect.stringMatching(/./),
    pageSize: 2,
    totalSize: 3,
  });
  expect([second.tasks[0].id, second.nextPageToken]).toEqual(["task-1", ""]);
  expect(ofC2.tasks[0].artifacts).toEqual([{ artifactId: "artifact-1", parts: [{ text: "a" }] }]);
});

test("a wrong or missing token is answered with 401 and a challenge, and takes no message", async () => {
  const agent = createScriptedAgent({ bearer: "secret" });
  const none = await post(agent, "SendMessage", text("a"));
  const wrong = await post(agent, "SendMessage", text("a"), { headers: { authorization: "Bearer x" } });
  const right = await post(agent, "SendMessage", text("a"), { headers: { authorization: "Bearer secret" } });
  expect(
    [none, wrong].map((response) => [response.status, response.headers.get("www-authenticate")]),
  ).toEqual([
    [401, 'Bearer realm="agent"'],
    [401, 'Bearer realm="agent", error="invalid_token"'],
  ]);
  expect([right.status, agent.acceptedMessageIds]).toEqual([200, ["m1"]]);
});

test("other paths are 404 and other methods are 405", async () => {
  const agent = newAgent();
  const away = await post(agent, "GetTask", { id: "x" }, { url: `${agent.url}/other` });
  const put = await agent.fetch(`${agent.url}/rpc`, { method: "PUT", body: "{}" });
  expect([away.status, put.status]).toEqual([404, 405]);
});

test("leaving a stream closes it and leaves the task alone", async () => {
  const agent = newAgent();
  agent.plan([step.working(), step.hold(), step.completed()]);
  const stream = reader(await post(agent, "SendStreamingMessage", text("a")));
  await stream.next();
  const open = agent.openStreamCount;
  await stream.cancel();
  expect([open, agent.openStreamCount]).toEqual([1, 0]);
  expect(agent.step("task-1").status.state).toBe("TASK_STATE_COMPLETED");
});
