import {
  CardDriftError,
  type DelegateOutcome,
  StreamReplacedError,
  type TaskHandle,
  type TaskUpdate,
} from "a2a-lease";
import { answer, event, step } from "a2a-lease/testing";
import { describe, expect, test, vi } from "vitest";
import { caught } from "../flow/caught.ts";
import { all, taskOf } from "../flow/lifecycle-setup.ts";
import { useLoopback } from "./streams-setup.ts";

const at = useLoopback();
const kinds = (items: readonly object[]) => items.map((item) => Object.keys(item)[0]);
const updates = (items: readonly TaskUpdate[]) => items.map(({ kind }) => kind);
const working = event.task("TASK_STATE_WORKING");

/** Collects while it goes on. */
function collect<T>(items: AsyncIterable<T>): { readonly seen: T[]; readonly done: Promise<void> } {
  const seen: T[] = [];
  const done = (async () => {
    for await (const item of items) seen.push(item);
  })();
  done.catch(() => {});
  return { seen, done };
}

describe("D16: a handle has one connection", () => {
  test("a second raw stream closes the first, which says so and is neither cut nor settled", async () => {
    const task = await at.working();
    const first = collect(await task.subscribe());
    await vi.waitUntil(() => first.seen.length > 0);
    const second = collect(await task.subscribe());
    const error = await caught(first.done, StreamReplacedError);
    await at.streamCount(1);
    at.agent.step(task.id);
    await second.done;

    expect(error).toMatchObject({ taskId: task.id, eventCount: 1, retry: "never" });
    expect(kinds(second.seen)).toEqual(["task", "artifactUpdate", "statusUpdate"]);
    expect(task.artifacts[0]?.parts).toEqual([{ text: "1" }, { text: "2" }]);
  });

  test("a stream that was never read says so as well", async () => {
    const task = await at.working();
    const unread = await task.subscribe();
    const result = task.result();
    await vi.waitUntil(() => at.agent.calls("SubscribeToTask").length === 2);
    await at.streamCount(1);
    at.agent.step(task.id);

    expect(await result).toMatchObject({ status: "completed" });
    await caught(all(unread), StreamReplacedError);
  });

  test("all who follow share it, and each is told all of it once", async () => {
    const task = await at.working();
    const early = [collect(task.follow()), collect(task.follow())];
    const outcome = task.result();
    await vi.waitUntil(() => early.every(({ seen }) => seen.length > 0));
    const late = collect(task.follow());
    await vi.waitUntil(() => late.seen.length > 0);
    expect(at.agent.openStreamCount).toBe(1);
    at.agent.step(task.id);
    await Promise.all([...early, late].map(({ done }) => done));

    for (const { seen } of [...early, late])
      expect(updates(seen)).toEqual(["snapshot", "artifact", "status"]);
    expect(await outcome).toMatchObject({ status: "completed", text: "12" });
    expect(at.agent.calls("SubscribeToTask")).toHaveLength(1);
    await at.streamCount(0);
  });

  test("waiting for the outcome inside of the loop that follows comes to an end", async () => {
    const task = await at.working();
    const seen: string[] = [];
    const run = (async () => {
      for await (const { kind } of task.follow()) {
        seen.push(kind);
        if (kind === "snapshot") seen.push((await task.result()).status);
      }
    })();
    await at.streamCount(1);
    at.agent.step(task.id);
    await run;

    expect(seen).toEqual(["snapshot", "completed", "artifact", "status"]);
  });

  test("a reader who falls far behind another is told, after a gap, all that it missed", async () => {
    const pieces = Array.from({ length: 3_000 }, (_, index) =>
      event.artifact("a", `${index} `, { append: index > 0 }),
    );
    const items = [working, ...pieces, event.status("TASK_STATE_COMPLETED")];
    at.agent.on("SubscribeToTask", answer.stream(items, { chunkBytes: 65_536 }));
    const task = await at.known();
    const artifacts = [{ artifactId: "a", parts: pieces.map((_, index) => ({ text: `${index} ` })) }];
    at.agent.tasks.put({ id: "t1", contextId: "c1", status: { state: "TASK_STATE_COMPLETED" }, artifacts });
    const slow = task.follow()[Symbol.asyncIterator]();
    const first = await slow.next();
    expect(await task.result()).toMatchObject({ status: "completed" });
    const told: TaskUpdate[] = [];
    for (let item = first; !item.done; item = await slow.next()) told.push(item.value);
    const texts = told.flatMap((update) => (update.kind === "artifact" ? update.artifact.parts : []));

    expect(texts).toEqual(artifacts[0]?.parts);
    expect(updates(told)).toContain("gap");
    expect(told.length).toBeLessThan(1_500);
    expect(told.at(-1)).toMatchObject({ kind: "status", status: { state: "TASK_STATE_COMPLETED" } });
  });

  test("who gives up leaves the others their stream", async () => {
    const task = await at.working();
    const controller = new AbortController();
    const leaving = collect(task.follow({ signal: controller.signal }));
    await vi.waitUntil(() => leaving.seen.length > 0);
    const staying = collect(task.follow());
    await vi.waitUntil(() => staying.seen.length > 0);
    controller.abort(new RangeError("enough"));
    await caught(leaving.done, RangeError);
    at.agent.step(task.id);
    await staying.done;

    expect(updates(staying.seen)).toEqual(["snapshot", "artifact", "status"]);
    expect(at.agent.calls("SubscribeToTask")).toHaveLength(1);
  });

  test("who follows hears what a raw stream brings that took the connection, and takes it back after it", async () => {
    at.agent.planNext([
      step.working("1"),
      step.hold(),
      step.working("2"),
      step.hold(),
      step.working("3"),
      step.completed(),
    ]);
    const task = taskOf(await (await at.connect()).sendMessage("hello"));
    const following = collect(task.follow());
    await vi.waitUntil(() => following.seen.length > 0);
    const raw = await task.subscribe();
    const reading = collect(raw);
    await vi.waitUntil(() => reading.seen.length > 0);
    await at.streamCount(1);
    at.agent.step(task.id);
    await vi.waitUntil(() => following.seen.length > 1);
    raw.close();
    await vi.waitUntil(() => at.agent.calls("SubscribeToTask").length === 3);
    at.agent.step(task.id);
    await following.done;

    const said = following.seen.flatMap(({ kind, task: { status } }) =>
      kind === "status" ? [status.state] : [],
    );
    expect(updates(following.seen)).toEqual(["snapshot", "status", "status", "status"]);
    expect(said).toHaveLength(3);
    expect(kinds(reading.seen)).toEqual(["task", "statusUpdate"]);
  });

  test("a raw stream that nobody reads keeps nobody from the end", async () => {
    const task = await at.working();
    const following = collect(task.follow());
    await vi.waitUntil(() => following.seen.length > 0);
    const unread = await task.subscribe();
    await at.streamCount(1);
    at.agent.step(task.id);
    await at.inTime(following.done, 5_000);

    expect(following.seen.at(-1)?.task.status.state).toBe("TASK_STATE_COMPLETED");
    unread.close();
  });

  test("the next turn of a task closes the stream of the one before, and tells each event once", async () => {
    const date = { timestamp: "2026-01-01T00:00:01Z" };
    at.agent.on("SubscribeToTask", answer.stream([event.task("TASK_STATE_WORKING")], { end: "silence" }));
    const turn = [
      event.task("TASK_STATE_WORKING"),
      event.status("TASK_STATE_WORKING", { ...date, text: "on it" }),
    ];
    at.agent.on("SendStreamingMessage", answer.stream([...turn, event.status("TASK_STATE_COMPLETED")]));
    const client = await at.connect();
    at.agent.tasks.put({ id: "t1", contextId: "c1", status: { state: "TASK_STATE_WORKING" } } as never);
    const task = await client.task("t1");
    const older = collect(await task.subscribe());
    await vi.waitUntil(() => older.seen.length > 0);
    const message = { taskId: "t1", parts: [{ text: "and then?" }] };
    const newer = await client.sendStreamingMessage(message);

    await caught(older.done, StreamReplacedError);
    await at.streamCount(0);
    expect(kinds(await all(newer))).toEqual(["task", "statusUpdate", "statusUpdate"]);
    expect(kinds(older.seen)).toEqual(["task"]);
  });
});

describe("D14: a follow over two streams", () => {
  test("shows what changed and nothing that did not", async () => {
    at.agent.once("SubscribeToTask", answer.stream([working]));
    at.agent.once("SubscribeToTask", answer.stream([working, event.status("TASK_STATE_COMPLETED")]));
    const task = await at.known();
    at.agent.tasks.put({ id: "t1", contextId: "c1", status: { state: "TASK_STATE_COMPLETED" } });
    const seen = await at.inTime(all(task.follow()));

    expect(seen.map((update) => [update.kind, update.task.status.state])).toEqual([
      ["snapshot", expect.any(String)],
      ["status", "TASK_STATE_COMPLETED"],
    ]);
  });
});

describe("a lease that ends by another call", () => {
  const ways: Readonly<Record<string, (task: TaskHandle) => Promise<AsyncIterable<object>>>> = {
    "a raw stream": (task) => task.subscribe(),
    "a sequence of updates": async (task) => task.follow(),
  };
  test.each(Object.entries(ways))("ends %s at once, after what had come", async (_what, open) => {
    const task = await at.working({ fullCheckEveryMs: Number.POSITIVE_INFINITY });
    const reading = collect(await open(task));
    await vi.waitUntil(() => reading.seen.length > 0);
    at.agent.rotateCard((card) => ({ ...card, description: "another" }));
    const drift = await caught(task.get(), CardDriftError);
    const error = await caught(reading.done, CardDriftError);
    at.agent.step(task.id);
    await at.streamCount(0);

    expect(error).toBe(drift);
    expect(reading.seen).toHaveLength(1);
  });

  test("leaves a message whose first event is still awaited open, and not refused", async () => {
    at.agent.on("SendStreamingMessage", answer.acceptThen(answer.stream([], { end: "silence" })));
    const client = await at.connect();
    const reading = collect(await client.sendStreamingMessage("hello"));
    at.agent.rotateCard((card) => ({ ...card, description: "another" }));
    await caught(client.sendMessage("another"), CardDriftError);

    await caught(reading.done, CardDriftError);
    await at.streamCount(0);
  });
});

describe("work that is delegated where streaming went", () => {
  const posture = { onDrift: "degrade", restartable: true } as const;
  const stop = () =>
    at.agent.rotateCard((card) => ({
      ...card,
      capabilities: { ...(card.capabilities as object), streaming: false },
    }));

  test("is polled for where the posture takes the card and nobody asked for a stream", async () => {
    const client = await at.connect({ posture });
    stop();
    const outcome: DelegateOutcome = await at.inTime(client.delegate("hello"));

    expect(outcome).toMatchObject({ status: "completed" });
    expect(at.agent.calls("SendStreamingMessage")).toEqual([]);
    expect(at.agent.acceptedMessageIds).toHaveLength(1);
  });

  test.each([
    ["somebody asked for a stream", { posture, requires: { streaming: true } }],
    ["no posture takes it", {}],
  ])("is not begun where %s", async (_why, options) => {
    const client = await at.connect(options);
    stop();
    await caught(client.delegate("hello"), CardDriftError);
    expect(at.agent.acceptedMessageIds).toEqual([]);
  });

  test("a streaming send of its own needs a stream", async () => {
    const client = await at.connect({ posture });
    stop();
    await caught(client.sendStreamingMessage("hello"), CardDriftError);
  });
});

test("delegated work and those who follow it share one stream", async () => {
  at.agent.planNext([step.working(), step.hold(), step.artifact("a", "42"), step.completed()]);
  const client = await at.connect();
  const told: TaskUpdate[] = [];
  const outcome = client.delegate("hello", { onUpdate: (update) => told.push(update) });
  await vi.waitUntil(() => told.length > 1);
  const task = await client.task(told[0]?.task.id ?? "");
  const following = collect(task.follow());
  await vi.waitUntil(() => following.seen.length > 0);
  expect(at.agent.openStreamCount).toBe(1);
  at.agent.step(task.id);
  await following.done;

  expect(await outcome).toMatchObject({ status: "completed", text: "42" });
  expect(updates(told)).toEqual(["snapshot", "status", "artifact", "status"]);
  expect(updates(following.seen)).toEqual(["snapshot", "artifact", "status"]);
  expect(at.agent.calls("SubscribeToTask")).toEqual([]);
});
