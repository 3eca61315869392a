import { expect, test } from "vitest";
import { createScriptedAgent, createTestClock, step } from "../../src/testing.ts";
import { rpc, text } from "./rpc.ts";

// ListTasks by 3.1.4 and the messages of a2a.proto.

const clock = createTestClock();
const startMs = clock.now();

/** An agent with one finished task a second, `task-1` the oldest. */
function withTasks(count: number) {
  const agent = createScriptedAgent({ clock });
  for (let at = 1; at <= count; at++) put(agent, at);
  return agent;
}

function put(agent: ReturnType<typeof createScriptedAgent>, at: number) {
  agent.tasks.put({
    id: `task-${at}`,
    contextId: at % 2 === 0 ? "even" : "odd",
    status: { state: "TASK_STATE_WORKING", timestamp: new Date(startMs + at * 1000).toISOString() },
    history: ["m1", "m2"].map((messageId) => ({ messageId, role: "ROLE_USER", parts: [{ text: "a" }] })),
  });
}

const list = async (agent: ReturnType<typeof createScriptedAgent>, params: object) =>
  (await rpc(agent, "ListTasks", params)).result;
const ids = (page: { tasks: { id: string }[] }) => page.tasks.map(({ id }) => id);

test("a page has 50 tasks unless it is asked for another size, and the last one has an empty token", async () => {
  const agent = withTasks(51);
  const first = await list(agent, {});
  const last = await list(agent, { pageToken: first.nextPageToken });
  expect([first.tasks.length, first.pageSize, first.totalSize]).toEqual([50, 50, 51]);
  expect([ids(last), last.nextPageToken, last.totalSize]).toEqual([["task-1"], "", 51]);
  expect((await list(agent, { pageSize: 100 })).nextPageToken).toBe("");
});

test("the newest status comes first, and of two with one time the one that changed last", async () => {
  const agent = withTasks(3);
  put(agent, 1);
  const moved = { ...agent.tasks.get("task-1"), id: "late" };
  agent.tasks.put({
    ...moved,
    status: { state: "TASK_STATE_WORKING", timestamp: new Date(startMs + 2000).toISOString() },
  });
  expect(ids(await list(agent, {}))).toEqual(["task-3", "late", "task-2", "task-1"]);
});

test("tasks that come in between neither repeat nor hide others on the next page", async () => {
  const agent = withTasks(5);
  const first = await list(agent, { pageSize: 2 });
  put(agent, 6);
  agent.tasks.forget("task-4");
  const second = await list(agent, { pageSize: 2, pageToken: first.nextPageToken });
  const third = await list(agent, { pageSize: 2, pageToken: second.nextPageToken });
  expect([first, second, third].map(ids)).toEqual([["task-5", "task-4"], ["task-3", "task-2"], ["task-1"]]);
  expect(third.nextPageToken).toBe("");
});

test("filters are put together, and a time is taken as it is or newer", async () => {
  const agent = withTasks(4);
  await rpc(agent, "CancelTask", { id: "task-2" });
  const statusTimestampAfter = new Date(startMs + 3000).toISOString();
  expect(ids(await list(agent, { contextId: "odd" }))).toEqual(["task-3", "task-1"]);
  expect(ids(await list(agent, { status: "TASK_STATE_CANCELED" }))).toEqual(["task-2"]);
  expect(ids(await list(agent, { status: "TASK_STATE_UNSPECIFIED" })).length).toBe(4);
  expect(ids(await list(agent, { statusTimestampAfter }))).toEqual(["task-4", "task-3"]);
  const both = await list(agent, { statusTimestampAfter, contextId: "even", status: "TASK_STATE_WORKING" });
  expect([ids(both), both.totalSize]).toEqual([["task-4"], 1]);
});

test.each([
  [{}, ["m1", "m2"]],
  [{ historyLength: 0 }, undefined],
  [{ historyLength: 1 }, ["m2"]],
  [{ historyLength: 9 }, ["m1", "m2"]],
])("with %j the history is %j (3.2.4)", async (params, expected) => {
  const { tasks } = await list(withTasks(1), params);
  expect(tasks[0].history?.map(({ messageId }: { messageId: string }) => messageId)).toEqual(expected);
});

test("artifacts are left out whole unless they are asked for, and then also none are told", async () => {
  const agent = createScriptedAgent({ clock, plan: [step.artifact("a", "x"), step.completed()] });
  await rpc(agent, "SendMessage", text("a"));
  agent.plan([step.completed()]);
  await rpc(agent, "SendMessage", text("b"));
  const without = await list(agent, { includeArtifacts: false });
  const having = await list(agent, { includeArtifacts: true });
  expect(without.tasks.map((task: object) => "artifacts" in task)).toEqual([false, false]);
  expect(having.tasks.map(({ artifacts }: { artifacts: unknown[] }) => artifacts.length)).toEqual([0, 1]);
});

test.each([
  { pageSize: 0 },
  { pageSize: 101 },
  { pageSize: 1.5 },
  { pageSize: "ten" },
  { pageToken: "2" },
  { pageToken: "YWZ0ZXI=" },
  { historyLength: -5 },
  { historyLength: "all" },
  { status: "TASK_STATE_RUNNING" },
  { statusTimestampAfter: "yesterday" },
  { includeArtifacts: "yes" },
])("%j is refused", async (params) => {
  const { error } = await rpc(withTasks(1), "ListTasks", params);
  expect(error.code).toBe(-32602);
});
