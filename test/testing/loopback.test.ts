import { afterEach, expect, test, vi } from "vitest";
import {
  type AgentListener,
  answer,
  createScriptedAgent,
  event,
  type ScriptedAgentOptions,
  step,
} from "../../src/testing.ts";
import { gist, post, reader, results, rpc, text } from "./rpc.ts";

const path = "/.well-known/agent-card.json";
let listener: AgentListener | undefined;
afterEach(() => listener?.close());

async function listening(options: ScriptedAgentOptions = {}) {
  const agent = createScriptedAgent(options);
  const opened = await agent.listen();
  listener = opened;
  return { agent, listener: opened, over: { fetch, url: `${opened.url}/rpc` } };
}

test("the card points to the port, and calls go there", async () => {
  const { agent, listener, over } = await listening();
  const card = await (await fetch(listener.url + path)).json();
  const sent = await rpc(agent, "SendMessage", text("héllo"), {
    ...over,
    url: card.supportedInterfaces[0].url,
  });
  expect(card.supportedInterfaces[0].url).toBe(`${listener.url}/rpc`);
  expect(sent.result.task.artifacts).toEqual([{ artifactId: "artifact-1", parts: [{ text: "héllo" }] }]);
});

test("a conditional read of Node's fetch is answered with 304 when it asks past its own cache", async () => {
  const { listener } = await listening();
  const etag = (await fetch(listener.url + path)).headers.get("etag") ?? "";
  const headers = { "if-none-match": etag };
  const past = await fetch(listener.url + path, { headers, cache: "no-cache" });
  const plain = await fetch(listener.url + path, { headers });
  expect([past.status, plain.status]).toEqual([304, 200]);
});

test("updates reach an open stream as they happen", async () => {
  const { agent, over } = await listening({ plan: [step.working(), step.hold(), step.completed()] });
  const response = await post(agent, "SendStreamingMessage", text("a"), over);
  const count = agent.openStreamCount;
  agent.step("task-1");
  expect([(await results(response)).map(gist), count]).toEqual([
    ["task SUBMITTED", "status WORKING", "status COMPLETED"],
    1,
  ]);
});

test("a reset is a failed fetch, and a cut breaks a stream after what was sent", async () => {
  const { agent, over } = await listening();
  agent.once("SendMessage", answer.acceptThenReset());
  await expect(post(agent, "SendMessage", text("a"), over)).rejects.toMatchObject({
    cause: { code: "ECONNRESET" },
  });
  agent.once("SubscribeToTask", answer.stream([event.task("TASK_STATE_WORKING")], { end: "cut" }));
  const stream = reader(await post(agent, "SubscribeToTask", { id: "t1" }, over));
  expect(await stream.next()).toBe("task WORKING");
  await expect(stream.next()).rejects.toThrow("terminated");
  expect(agent.acceptedMessageIds).toEqual(["m1"]);
});

test("a caller that hangs up frees the stream and the socket", async () => {
  const { agent, listener, over } = await listening();
  agent.once("SubscribeToTask", answer.stream([event.task("TASK_STATE_WORKING")], { end: "silence" }));
  agent.once("GetTask", answer.silence());
  const caller = new AbortController();
  const stream = reader(
    await post(agent, "SubscribeToTask", { id: "t1" }, { ...over, signal: caller.signal }),
  );
  await stream.next();
  const silent = post(agent, "GetTask", { id: "x" }, { ...over, signal: caller.signal });
  await vi.waitUntil(() => agent.openRequestCount === 2);
  const sockets = listener.openSocketCount;
  caller.abort();
  await expect(silent).rejects.toThrow("aborted");
  await vi.waitUntil(() => agent.openRequestCount === 0 && listener.openSocketCount === 0);
  expect([sockets, agent.calls("GetTask")[0]?.outcome]).toEqual([2, "aborted"]);
});

test("a connection that only waits in the client's pool does not count as open", async () => {
  const { agent, listener, over } = await listening();
  await rpc(agent, "SendMessage", text("a"), over);
  await vi.waitUntil(() => listener.openSocketCount === 0);
});

test("closing destroys open connections, and nobody listens any more", async () => {
  const { agent, listener, over } = await listening();
  agent.once("GetTask", answer.silence());
  const pending = post(agent, "GetTask", { id: "x" }, over).catch((error: unknown) => error);
  await vi.waitUntil(() => agent.openRequestCount === 1);
  await listener.close();
  expect(await pending).toMatchObject({ message: "fetch failed" });
  await expect(rpc(agent, "GetTask", { id: "x" }, over)).rejects.toMatchObject({
    cause: { code: "ECONNREFUSED" },
  });
});

test("a script that fails says so instead of leaving the caller waiting", async () => {
  const { agent, over } = await listening();
  agent.once("GetTask", () => {
    throw new RangeError("my mistake");
  });
  const response = await post(agent, "GetTask", { id: "x" }, over);
  expect([response.status, await response.text()]).toEqual([
    500,
    "the script failed: RangeError: my mistake",
  ]);
});
