import { expect, test } from "vitest";
import { createScriptedAgent, createTestClock, step } from "../../src/testing.ts";
import { gist, post, reader, results, rpc, text } from "./rpc.ts";

const now = { returnImmediately: true };

test("a plan holds where it says so, until the test lets it go on", async () => {
  const agent = createScriptedAgent();
  agent.plan([step.working("thinking"), step.hold(), step.completed("done")]);
  const stream = reader(await post(agent, "SendStreamingMessage", text("a")));
  expect(await stream.next()).toBe("task SUBMITTED");
  expect(await stream.next()).toBe("status WORKING");
  expect(agent.tasks.get("task-1")?.status.state).toBe("TASK_STATE_WORKING");
  agent.step("task-1");
  expect(await stream.next()).toBe("status COMPLETED");
});

test("a plan waits on the clock, and a step cuts the wait short", async () => {
  const clock = createTestClock();
  const agent = createScriptedAgent({ clock });
  agent.plan([step.working(), step.wait(1000), step.artifact("a", "x"), step.wait(1000), step.completed()]);
  await rpc(agent, "SendMessage", text("a", {}, now));
  await clock.advance(1000);
  expect([agent.tasks.get("task-1")?.artifacts?.length, clock.pendingCount]).toEqual([1, 1]);
  agent.step("task-1");
  expect([agent.tasks.get("task-1")?.status.state, clock.pendingCount]).toEqual(["TASK_STATE_COMPLETED", 0]);
});

test("a blocking send waits for the question, and the answer takes the plan on", async () => {
  const agent = createScriptedAgent();
  agent.plan([
    step.working(),
    step.inputRequired("Which region?"),
    step.artifact("a", "EU!"),
    step.completed(),
  ]);
  const asked = (await rpc(agent, "SendMessage", text("a"))).result.task;
  const done = (await rpc(agent, "SendMessage", text("EU", { messageId: "m2", taskId: asked.id }))).result
    .task;
  expect(asked.status).toMatchObject({
    state: "TASK_STATE_INPUT_REQUIRED",
    message: { role: "ROLE_AGENT", parts: [{ text: "Which region?" }], taskId: "task-1" },
  });
  expect([done.status.state, done.artifacts]).toEqual([
    "TASK_STATE_COMPLETED",
    [{ artifactId: "a", parts: [{ text: "EU!" }] }],
  ]);
  expect(done.history.map(({ parts }: { parts: unknown }) => parts)).toEqual([
    [{ text: "a" }],
    [{ text: "Which region?" }],
    [{ text: "EU" }],
  ]);
});

test("a question that the plan ends with is followed by the echo", async () => {
  const agent = createScriptedAgent({ plan: [step.inputRequired("Which?")] });
  await rpc(agent, "SendMessage", text("a"));
  const sent = await rpc(agent, "SendMessage", text("b", { taskId: "task-1" }, now));
  expect(sent.result.task.status.state).toBe("TASK_STATE_WORKING");
  expect(agent.tasks.get("task-1")).toMatchObject({
    status: { state: "TASK_STATE_COMPLETED" },
    artifacts: [{ parts: [{ text: "b" }] }],
  });
});

test("a message to a task that holds is kept and does not move it", async () => {
  const agent = createScriptedAgent({ plan: [step.working(), step.hold(), step.completed()] });
  await rpc(agent, "SendMessage", text("a", {}, now));
  const sent = await rpc(agent, "SendMessage", text("b", { messageId: "m2", taskId: "task-1" }, now));
  expect([sent.result.task.status.state, sent.result.task.history.length]).toEqual(["TASK_STATE_WORKING", 2]);
});

test("steps can be done at once beside the plan, and streams stay open over a question", async () => {
  const agent = createScriptedAgent({ plan: [step.hold()] });
  const response = await post(agent, "SendStreamingMessage", text("a"));
  agent.step("task-1", step.working(), step.authRequired("Log in"));
  expect(agent.openStreamCount).toBe(1);
  agent.step("task-1", step.completed());
  expect((await results(response)).map(gist)).toEqual([
    "task SUBMITTED",
    "status WORKING",
    "status AUTH_REQUIRED",
    "status COMPLETED",
  ]);
});

test("streams end with a question where the agent is set so", async () => {
  const agent = createScriptedAgent({ endStreamsOnQuestion: true, plan: [step.inputRequired("Which?")] });
  const response = await post(agent, "SendStreamingMessage", text("a"));
  expect((await results(response)).map(gist)).toEqual(["task SUBMITTED", "status INPUT_REQUIRED"]);
});

test("artifacts are appended to, or replaced, as the steps say", async () => {
  const agent = createScriptedAgent();
  agent.plan([
    step.artifact("a", "1"),
    step.artifact("a", "2", { append: true, lastChunk: true }),
    step.artifact("b", "old"),
    step.artifact("b", "new"),
    step.completed(),
  ]);
  const response = await post(agent, "SendStreamingMessage", text("x"));
  const [, , second] = (await results(response)) as { artifactUpdate: unknown }[];
  expect(second?.artifactUpdate).toEqual({
    taskId: "task-1",
    contextId: "context-1",
    artifact: { artifactId: "a", parts: [{ text: "2" }] },
    append: true,
    lastChunk: true,
  });
  expect(agent.tasks.get("task-1")?.artifacts).toEqual([
    { artifactId: "a", parts: [{ text: "1" }, { text: "2" }] },
    { artifactId: "b", parts: [{ text: "new" }] },
  ]);
});

test("a plan for the next task is used once, and a plan can look at the message", async () => {
  const agent = createScriptedAgent({
    plan: ({ parts }) => [step.artifact("a", parts), step.failed("no")],
  });
  agent.planNext([step.rejected("not today")]);
  const first = (await rpc(agent, "SendMessage", text("a"))).result.task;
  const second = (await rpc(agent, "SendMessage", text("b"))).result.task;
  expect([first.status.state, second.status.state, second.artifacts[0].parts]).toEqual([
    "TASK_STATE_REJECTED",
    "TASK_STATE_FAILED",
    [{ text: "b" }],
  ]);
});

test("a state of no spec, a status without a time and a life after the end can be scripted", async () => {
  const agent = createScriptedAgent();
  agent.plan([step.completed(), step.status("TASK_STATE_PAUSED", { timestamp: false })]);
  await rpc(agent, "SendMessage", text("a"));
  expect(agent.tasks.get("task-1")?.status).toEqual({ state: "TASK_STATE_PAUSED" });
});

test("a task can be put in place and forgotten behind the client's back", async () => {
  const agent = createScriptedAgent();
  agent.tasks.put({ id: "t9", contextId: "c9", status: { state: "TASK_STATE_WORKING" } });
  const found = await rpc(agent, "GetTask", { id: "t9" });
  agent.tasks.forget("t9");
  const lost = await rpc(agent, "GetTask", { id: "t9" });
  expect([found.result.status, lost.error.code]).toEqual([{ state: "TASK_STATE_WORKING" }, -32001]);
});

test.each([
  ["all", ["ROLE_USER", "ROLE_AGENT"]],
  ["caller", ["ROLE_USER"]],
  ["none", undefined],
] as const)("a history of %s keeps just that", async (history, roles) => {
  const agent = createScriptedAgent({ history, plan: [step.working("thinking"), step.completed()] });
  const { result } = await rpc(agent, "SendMessage", text("a"));
  expect(result.task.history?.map(({ role }: { role: string }) => role)).toEqual(roles);
});
