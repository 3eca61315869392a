import { expect, test } from "vitest";
import { answer, createScriptedAgent, createTestClock, event, frame, step } from "../../src/testing.ts";
import { frames, gist, post, reader, results, rpc, text } from "./rpc.ts";

async function chunksOf(response: Response): Promise<string[]> {
  const chunks: string[] = [];
  if (!response.body) return chunks;
  for await (const chunk of response.body) chunks.push(new TextDecoder().decode(chunk));
  return chunks;
}

test("a scripted stream sends its events in the envelope of the request and then ends", async () => {
  const agent = createScriptedAgent();
  const items = [
    event.task("TASK_STATE_WORKING"),
    event.artifact("a", "half"),
    event.status("TASK_STATE_COMPLETED"),
  ];
  agent.once("SubscribeToTask", answer.stream(items));
  const response = await post(agent, "SubscribeToTask", { id: "t1" }, { id: "r7" });
  const sent = frames(await response.text()).map((data) => JSON.parse(data));
  expect(sent).toEqual([
    {
      jsonrpc: "2.0",
      id: "r7",
      result: { task: { id: "t1", contextId: "c1", status: { state: "TASK_STATE_WORKING" } } },
    },
    {
      jsonrpc: "2.0",
      id: "r7",
      result: {
        artifactUpdate: {
          taskId: "t1",
          contextId: "c1",
          artifact: { artifactId: "a", parts: [{ text: "half" }] },
        },
      },
    },
    {
      jsonrpc: "2.0",
      id: "r7",
      result: { statusUpdate: { taskId: "t1", contextId: "c1", status: { state: "TASK_STATE_COMPLETED" } } },
    },
  ]);
});

test("raw frames, comments, foreign events and error frames go out as they are", async () => {
  const agent = createScriptedAgent();
  agent.once(
    "SubscribeToTask",
    answer.stream([
      frame.comment("hello"),
      frame.event("ping", "a\nb"),
      frame.raw("data: {bad\r\n\r\n"),
      frame.error(-32001, "gone", null),
    ]),
  );
  const response = await post(agent, "SubscribeToTask", { id: "t1" });
  expect(await response.text()).toBe(
    ":hello\n\n" +
      "event: ping\ndata: a\ndata: b\n\n" +
      "data: {bad\r\n\r\n" +
      'data: {"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"gone"}}\n\n',
  );
});

test("a cut comes after all that was sent before it", async () => {
  const agent = createScriptedAgent();
  agent.once(
    "SubscribeToTask",
    answer.stream([event.task("TASK_STATE_WORKING"), frame.comment()], { end: "cut" }),
  );
  const stream = (await post(agent, "SubscribeToTask", { id: "t1" })).body?.getReader();
  const first = await stream?.read();
  const second = await stream?.read();
  expect([first?.done, second?.done]).toEqual([false, false]);
  await expect(stream?.read()).rejects.toMatchObject({
    message: "terminated",
    cause: { code: "UND_ERR_SOCKET" },
  });
  expect(agent.openStreamCount).toBe(0);
});

test("a silent end keeps the stream open until the caller leaves", async () => {
  const agent = createScriptedAgent();
  const caller = new AbortController();
  agent.once("SubscribeToTask", answer.stream([event.task("TASK_STATE_WORKING")], { end: "silence" }));
  const response = await post(agent, "SubscribeToTask", { id: "t1" }, { signal: caller.signal });
  const stream = response.body?.getReader();
  await stream?.read();
  const next = stream?.read();
  const open = agent.openStreamCount;
  const reason = new RangeError("mine");
  caller.abort(reason);
  await expect(next).rejects.toBe(reason);
  expect([open, agent.openStreamCount, agent.openRequestCount]).toEqual([1, 0, 0]);
});

test("pieces come on the clock, and leaving takes the timer along", async () => {
  const clock = createTestClock();
  const agent = createScriptedAgent({ clock });
  const items = [event.task("TASK_STATE_WORKING"), frame.delay(15_000), frame.comment(), frame.delay(15_000)];
  agent.once("SubscribeToTask", answer.stream(items));
  const stream = (await post(agent, "SubscribeToTask", { id: "t1" })).body?.getReader();
  const seen: string[] = [];
  const pump = (async () => {
    for (let piece = await stream?.read(); piece?.value; piece = await stream?.read()) {
      seen.push(new TextDecoder().decode(piece.value));
    }
  })();
  await clock.advance(14_999);
  const before = seen.length;
  await clock.advance(1);
  const [after, pending] = [seen.length, clock.pendingCount];
  await stream?.cancel();
  await pump;
  expect([before, after, pending, clock.pendingCount]).toEqual([1, 2, 1, 0]);
});

test("chunks can be cut inside a character, or hold everything", async () => {
  const agent = createScriptedAgent();
  const items = [frame.raw("é"), frame.raw("ü!")];
  agent.once("SubscribeToTask", answer.stream(items, { chunkBytes: 1 }));
  agent.once("SubscribeToTask", answer.stream(items, { chunkBytes: Number.POSITIVE_INFINITY }));
  const small = await chunksOf(await post(agent, "SubscribeToTask", { id: "t1" }));
  const whole = await chunksOf(await post(agent, "SubscribeToTask", { id: "t1" }));
  expect([small.length, whole]).toEqual([5, ["éü!"]]);
});

test("an endless source is asked for no more than the reader takes", async () => {
  const agent = createScriptedAgent();
  let made = 0;
  function* endless() {
    for (;;) yield frame.comment(String(++made));
  }
  agent.once("SubscribeToTask", answer.stream(endless()));
  const stream = (await post(agent, "SubscribeToTask", { id: "t1" })).body?.getReader();
  for (let at = 0; at < 5; at++) await stream?.read();
  await stream?.cancel();
  expect(made).toBeLessThan(30);
});

test("a streaming call can be answered with JSON", async () => {
  const agent = createScriptedAgent();
  agent.once("SendStreamingMessage", answer.result(event.task("TASK_STATE_COMPLETED")), answer.http(200, ""));
  const response = await post(agent, "SendStreamingMessage", text("a"));
  expect([response.headers.get("content-type"), (await response.json()).result.task.id]).toEqual([
    "application/json",
    "t1",
  ]);
});

test("an honest stream can end early while its task lives on", async () => {
  const agent = createScriptedAgent({ plan: [step.working(), step.hold(), step.completed()] });
  agent.once("SendStreamingMessage", answer.honest({ endAfterEvents: 2, end: "close" }));
  const first = await results(await post(agent, "SendStreamingMessage", text("a")));
  const second = await post(agent, "SubscribeToTask", { id: "task-1" });
  agent.step("task-1");
  expect([first.map(gist), (await results(second)).map(gist)]).toEqual([
    ["task SUBMITTED", "status WORKING"],
    ["task WORKING", "status COMPLETED"],
  ]);
});

test("open streams can be cut from outside, and the task is still there", async () => {
  const agent = createScriptedAgent({ plan: [step.working(), step.hold(), step.completed()] });
  const stream = reader(await post(agent, "SendStreamingMessage", text("a")));
  await stream.next();
  await stream.next();
  agent.endStreams("cut");
  await expect(stream.next()).rejects.toThrow("terminated");
  const { result } = await rpc(agent, "GetTask", { id: "task-1" });
  expect([result.status.state, agent.openStreamCount]).toEqual(["TASK_STATE_WORKING", 0]);
});
