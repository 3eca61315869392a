import { expect, test } from "vitest";
import { answer, createScriptedAgent, createTestClock } from "../../src/testing.ts";
import { post, rpc, text } from "./rpc.ts";

test("one-shot scripts come first and in order, then the standing one, then the truth", async () => {
  const agent = createScriptedAgent();
  const stop = agent.on("GetTask", answer.error(-32603, "standing"));
  agent.once("GetTask", answer.error(-32603, "first"), answer.error(-32603, "second"));
  const said = [];
  for (let at = 0; at < 3; at++) said.push((await rpc(agent, "GetTask", { id: "x" })).error.message);
  stop();
  said.push((await rpc(agent, "GetTask", { id: "x" })).error.message);
  expect(said).toEqual(["first", "second", "standing", "Task not found: x"]);
});

test("a script for calls answers every operation that has none of its own", async () => {
  const agent = createScriptedAgent();
  agent.on("call", answer.http(502, "bad gateway"));
  agent.on("GetTask", answer.honest());
  const send = await post(agent, "SendMessage", text("a"));
  const get = await post(agent, "GetTask", { id: "x" });
  agent.off("call");
  const again = await post(agent, "SendMessage", text("a"));
  expect([send.status, get.status, again.status]).toEqual([502, 200, 200]);
});

test("a handler sees the request and the tasks", async () => {
  const agent = createScriptedAgent();
  await rpc(agent, "SendMessage", text("a"));
  agent.on("CancelTask", ({ params, tasks, nth }) => {
    const task = tasks.get(params.id);
    return answer.result({ ...task, metadata: { nth } });
  });
  const { result } = await rpc(agent, "CancelTask", { id: "task-1" });
  expect([result.status.state, result.metadata]).toEqual(["TASK_STATE_COMPLETED", { nth: 1 }]);
});

test("errors carry the reason of their code, other data, or none", async () => {
  const agent = createScriptedAgent();
  agent.once("GetTask", answer.error(-32005, "a"), answer.error(-32001, "b", { x: 1 }));
  agent.once("GetTask", answer.error(-32001, "c", null, { httpStatus: 404 }));
  const first = await rpc(agent, "GetTask", { id: "x" });
  const second = await rpc(agent, "GetTask", { id: "x" });
  const third = await post(agent, "GetTask", { id: "x" });
  expect([first.error.data[0].reason, second.error.data, third.status, await third.json()]).toEqual([
    "CONTENT_TYPE_NOT_SUPPORTED",
    { x: 1 },
    404,
    { jsonrpc: "2.0", id: 1, error: { code: -32001, message: "c" } },
  ]);
});

test("a body can be anything, also a result under a foreign id", async () => {
  const agent = createScriptedAgent();
  agent.once("GetTask", answer.json({ jsonrpc: "2.0", id: "other", result: {} }, { status: 202 }));
  const response = await post(agent, "GetTask", { id: "x" });
  expect([response.status, await response.json()]).toEqual([
    202,
    { jsonrpc: "2.0", id: "other", result: {} },
  ]);
});

test("a direct message answers in the way that was asked for", async () => {
  const agent = createScriptedAgent();
  agent.on("call", answer.message("hi"));
  const sent = await rpc(agent, "SendMessage", text("a"));
  const streamed = await (await post(agent, "SendStreamingMessage", text("a"))).text();
  expect(sent.result).toEqual({
    message: { messageId: "agent-message-1", role: "ROLE_AGENT", parts: [{ text: "hi" }] },
  });
  expect(streamed).toMatch(/^data: .*"messageId":"agent-message-2".*\n\n$/);
});

test("silence lasts until the caller gives up, and no timer is open", async () => {
  const clock = createTestClock();
  const agent = createScriptedAgent({ clock });
  agent.once("GetTask", answer.silence());
  const caller = new AbortController();
  const pending = post(agent, "GetTask", { id: "x" }, { signal: caller.signal });
  const settled = pending.catch((reason: unknown) => reason);
  await clock.advance(3_600_000);
  const before = [agent.openRequestCount, agent.transcript[0]?.outcome, clock.pendingCount];
  const reason = { my: "reason" };
  caller.abort(reason);
  expect(await settled).toBe(reason);
  expect([before, agent.openRequestCount, agent.transcript[0]?.outcome]).toEqual([
    [1, "open", 0],
    0,
    "aborted",
  ]);
});

test("a delay is on the agent's clock and is given up with the request", async () => {
  const clock = createTestClock();
  const agent = createScriptedAgent({ clock });
  agent.on("GetTask", answer.delay(130_000, answer.http(200, "late")));
  const late = post(agent, "GetTask", { id: "x" });
  await clock.advance(130_000);
  expect(await (await late).text()).toBe("late");
  const caller = new AbortController();
  const given = post(agent, "GetTask", { id: "x" }, { signal: caller.signal });
  await clock.advance(0);
  caller.abort();
  await expect(given).rejects.toThrow("aborted");
  expect(clock.pendingCount).toBe(0);
});

test("a reset takes nothing, and looks like one", async () => {
  const agent = createScriptedAgent();
  agent.once("SendMessage", answer.reset());
  const error = await post(agent, "SendMessage", text("a")).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TypeError);
  expect(error).toMatchObject({ message: "fetch failed", cause: { code: "ECONNRESET" } });
  expect([agent.acceptedMessageIds, agent.tasks.list()]).toEqual([[], []]);
});

test("a refused connection has its own code", async () => {
  const agent = createScriptedAgent();
  agent.once("SendMessage", answer.refuse());
  await expect(post(agent, "SendMessage", text("a"))).rejects.toMatchObject({
    cause: { code: "ECONNREFUSED" },
  });
  expect(agent.transcript[0]?.outcome).toBe("refused");
});

test("a lost reply is a task that was started all the same", async () => {
  const agent = createScriptedAgent();
  agent.once("SendMessage", answer.acceptThenReset(), answer.acceptThen(answer.http(504)));
  await expect(post(agent, "SendMessage", text("a"))).rejects.toThrow("fetch failed");
  const second = await post(agent, "SendMessage", text("a"));
  expect([second.status, agent.acceptedMessageIds, agent.tasks.list().map(({ id }) => id)]).toEqual([
    504,
    ["m1", "m1"],
    ["task-1", "task-2"],
  ]);
});

test("a late truth is about what happened when the call came in, and happened once", async () => {
  const clock = createTestClock({ startMs: 0 });
  const agent = createScriptedAgent({ clock });
  agent.once("SendMessage", answer.acceptThen(answer.delay(5000, answer.honest())));
  const pending = rpc(agent, "SendMessage", text("a"));
  await clock.advance(0);
  const early = agent.tasks.get("task-1")?.status.state;
  await clock.advance(5000);
  const { result } = await pending;
  expect([early, result.task.status, agent.acceptedMessageIds]).toEqual([
    "TASK_STATE_COMPLETED",
    { state: "TASK_STATE_COMPLETED", timestamp: "1970-01-01T00:00:00.000Z" },
    ["m1"],
  ]);
});

test("a call that is turned down is told so, even where its reply was to be lost", async () => {
  const agent = createScriptedAgent();
  agent.once("SendMessage", answer.acceptThenReset());
  const { error } = await rpc(agent, "SendMessage", text("a", { taskId: "nope" }));
  expect([error.code, agent.acceptedMessageIds]).toEqual([-32001, []]);
});

test("scripts that can't be are refused by name", async () => {
  const agent = createScriptedAgent();
  expect(() => agent.on("message/send" as "call", answer.reset())).toThrow(/^what must be/);
  expect(() => answer.http(99)).toThrow(/^status /);
  expect(() => answer.repeat(0, answer.reset())).toThrow(/^times /);
  expect(() => answer.delay(-1, answer.reset())).toThrow(/^delayMs /);
  expect(() => agent.step("nope")).toThrow(/^taskId /);
  expect(() => createScriptedAgent({ url: "https://agent.example/x" })).toThrow(/^url /);
  expect(() => createScriptedAgent({ rpcPath: "rpc" })).toThrow(/^rpcPath /);
  expect(() => agent.rotateCard({}, { before: "card", nth: 0 })).toThrow(/^nth /);
  agent.once("card", answer.result({}));
  await expect(agent.fetch(`${agent.url}/.well-known/agent-card.json`)).rejects.toThrow(
    "answer.result is no answer to a card read",
  );
});
