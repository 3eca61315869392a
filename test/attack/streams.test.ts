import { answer, event, frame, step } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { setUp, taskOf, watch } from "./rig.ts";

async function collect(items: AsyncIterable<object>, into: string[]): Promise<void> {
  for await (const item of items) into.push(...Object.keys(item));
}

describe("a stream", () => {
  test("does not end without its last events because a read elsewhere saw the end of the task", async () => {
    const { agent, connect, clock } = setUp();
    agent.plan([step.working(), step.hold()]);
    const client = await connect();
    const task = taskOf(await client.sendMessage("x"));
    await task.get();
    const place = { taskId: task.id, contextId: task.contextId ?? "" };
    const timestamp = task.task?.status.timestamp ?? "";
    agent.once(
      "SubscribeToTask",
      answer.stream([
        event.task("TASK_STATE_WORKING", { ...place, timestamp }),
        frame.delay(1_000),
        event.artifact("a", "1", place),
        event.artifact("a", "2", { ...place, append: true, lastChunk: true }),
        event.status("TASK_STATE_COMPLETED", { ...place, timestamp: "2026-01-01T00:00:01Z" }),
      ]),
    );
    const seen: string[] = [];
    const reading = watch(collect(await task.subscribe(), seen));
    await clock.advance(10);
    agent.step(task.id, step.artifact("a", "12"), step.completed());
    await task.get();
    await clock.advance(1_000);

    // Either all of it, or an error that says that something is missing.
    expect(reading.outcome === "resolved" ? seen.length : 4).toBeGreaterThanOrEqual(3);
  });

  test("of a task does not pass on a message that names another task and context", async () => {
    const { agent, connect } = setUp();
    agent.plan([step.working(), step.hold()]);
    const client = await connect();
    const task = taskOf(await client.sendMessage("x"));
    const place = { taskId: task.id, contextId: task.contextId ?? "" };
    agent.once(
      "SubscribeToTask",
      answer.stream([
        event.task("TASK_STATE_WORKING", { ...place, timestamp: "2026-01-01T00:00:00Z" }),
        event.message("for somebody else", { taskId: "another", contextId: "elsewhere" }),
        event.status("TASK_STATE_COMPLETED", { ...place, timestamp: "2026-01-01T00:00:01Z" }),
      ]),
    );

    await expect(collect(await task.subscribe(), [])).rejects.toMatchObject({ rule: "identity" });
  });

  test("with an event after a lone message breaks stream-shape", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    const items = [event.message("all there is"), event.task("TASK_STATE_WORKING")];
    agent.once("SendStreamingMessage", answer.stream(items, { chunkBytes: Number.POSITIVE_INFINITY }));

    await expect(collect(await client.sendStreamingMessage("x"), [])).rejects.toMatchObject({
      rule: "stream-shape",
    });
  });

  test("lets its connection go when its iterator is returned before the first pull", async () => {
    const { agent, connect, clock } = setUp();
    agent.plan([step.working(), step.hold()]);
    const client = await connect();
    const stream = await taskOf(await client.sendMessage("x")).subscribe();

    await stream[Symbol.asyncIterator]().return?.();
    await clock.advance(0);
    const open = agent.openRequestCount;
    await client.close();

    expect(open).toBe(0);
  });
});

describe("following a task", () => {
  test("a second time over the same iterable does not look finished at once", async () => {
    const { agent, connect, clock } = setUp();
    agent.plan([step.working(), step.hold(), step.completed()]);
    const client = await connect();
    const task = taskOf(await client.sendMessage("x"));
    const following = task.follow();
    for await (const _ of following) break;

    const second = watch(collect(following, []));
    await clock.advance(0);
    const { outcome } = second;
    await client.close();

    expect(task.state).toBe("TASK_STATE_WORKING");
    // It fails, or it goes on following.
    expect(outcome).not.toBe("resolved");
  });
});

describe("delegating", () => {
  test("keeps its deadline while the stream has not begun", async () => {
    const { agent, connect, clock } = setUp();
    const client = await connect();
    agent.once("SendStreamingMessage", answer.silence());

    const waiting = watch(client.delegate("x", { deadlineMs: 1_000 }));
    await clock.advance(5_000);
    const { outcome } = waiting;
    await client.close();

    expect(outcome).toBeDefined();
  });

  test("keeps its deadline while the first event has not come", async () => {
    const { agent, connect, clock } = setUp();
    const client = await connect();
    agent.once("SendStreamingMessage", answer.stream([], { end: "silence" }));

    const waiting = watch(client.delegate("x", { deadlineMs: 1_000, noProgressMs: 500 }));
    await clock.advance(5_000);
    const { outcome } = waiting;
    await client.close();

    expect(outcome).toBeDefined();
  });
});
