import { StreamStalledError, type TaskHandle, type TaskUpdate, TimeoutError } from "a2a-lease";
import { answer, createTestCard, event, frame } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { all } from "../flow/lifecycle-setup.ts";
import { useLoopback } from "./streams-setup.ts";

const at = useLoopback();
const working = event.task("TASK_STATE_WORKING");
const silent = answer.stream([working], { end: "silence" });
const states = (items: readonly TaskUpdate[]) => items.map(({ task }) => task.status.state);
const put = (state: string) => at.agent.tasks.put({ id: "t1", contextId: "c1", status: { state } } as never);
/** Times of the calls of one operation, in milliseconds since the first. */
const times = (operation: "SubscribeToTask" | "GetTask") => {
  const calls = at.agent.calls(operation).map((entry) => entry.at);
  return calls.map((ms) => ms - (calls[0] ?? 0));
};

describe("D12, D25: a stream that is silent", () => {
  const silences = [
    ["that never began", answer.stream([], { end: "silence" })],
    [
      "that has only comments",
      answer.stream(
        Array.from({ length: 40 }, () => frame.comment()),
        { everyMs: 10_000, end: "silence" },
      ),
    ],
    ["that has begun", silent],
  ] as const;
  describe.each(silences)("%s", (_what, reply) => {
    test("of a task that is over ends, with that task as its last event", async () => {
      at.agent.on("SubscribeToTask", reply);
      const task = await at.known();
      const reading = all(await task.subscribe());
      await at.clock.advance(1_000);
      put("TASK_STATE_COMPLETED");
      const events = await at.inTime(reading, 10_000);

      expect(events.at(-1)).toMatchObject({ task: { status: { state: "TASK_STATE_COMPLETED" } } });
      expect(at.agent.calls("GetTask")).toHaveLength(1);
      await at.streamCount(0);
    });

    test("of a task that is over ends what follows and waits", async () => {
      at.agent.on("SubscribeToTask", reply);
      const task = await at.known();
      const following = all(task.follow());
      const outcome = task.result();
      await at.clock.advance(1_000);
      put("TASK_STATE_COMPLETED");

      expect(states(await at.inTime(following, 10_000)).at(-1)).toBe("TASK_STATE_COMPLETED");
      expect(await outcome).toMatchObject({ status: "completed" });
      expect(at.agent.calls("SubscribeToTask")).toHaveLength(1);
    });
  });

  test("is read on while the task works, and is a typed error after three silences in a row", async () => {
    at.agent.on("SubscribeToTask", silent);
    const task = await at.known();
    const error = await caught(at.inTime(all(await task.subscribe()), 10_000), StreamStalledError);

    expect(error).toMatchObject({ budget: "idle", budgetMs: 180_000, taskId: "t1" });
    expect(at.agent.calls("GetTask")).toHaveLength(3);
    expect(at.agent.calls("SubscribeToTask")).toHaveLength(1);
  });

  test("and comes to life again has never been gone", async () => {
    const late = [
      working,
      frame.delay(100_000),
      frame.comment(),
      frame.delay(110_000),
      event.status("TASK_STATE_COMPLETED"),
    ];
    at.agent.on("SubscribeToTask", answer.stream(late));
    const task = await at.known();
    const events = await at.inTime(all(await task.subscribe()), 10_000);

    expect(events).toHaveLength(2);
    expect(at.agent.calls("SubscribeToTask")).toHaveLength(1);
  });

  test("and half open is given up for another one", async () => {
    at.agent.once("SubscribeToTask", silent);
    at.agent.once("SubscribeToTask", () => {
      put("TASK_STATE_COMPLETED");
      return answer.stream([working, event.status("TASK_STATE_COMPLETED")]);
    });
    const task = await at.known();
    const following = at.inTime(all(task.follow()), 10_000);
    await at.clock.advance(1_000);
    expect(states(await following)).toEqual(
      ["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"].map(() => expect.any(String)),
    );
    expect(at.agent.calls("SubscribeToTask")).toHaveLength(2);
    expect(at.agent.calls("GetTask").length).toBeGreaterThanOrEqual(3);
  });

  test("is alive by any byte: a comment every 15 s for 5 min is no silence", async () => {
    const beats = Array.from({ length: 20 }, () => [frame.delay(15_000), frame.comment()]).flat();
    at.agent.on("SubscribeToTask", answer.stream([working, ...beats, event.status("TASK_STATE_COMPLETED")]));
    const task = await at.known();

    expect(await at.inTime(all(await task.subscribe()), 5_000)).toHaveLength(2);
    expect(at.agent.calls("GetTask")).toEqual([]);
  });

  test("of a task that another card answers for ends in the drift", async () => {
    at.agent.on("SubscribeToTask", silent);
    const task = await at.known("TASK_STATE_WORKING", { fullCheckEveryMs: Number.POSITIVE_INFINITY });
    const reading = all(await task.subscribe());
    at.agent.rotateCard((card) => ({ ...card, description: "another" }));

    await expect(at.inTime(reading, 10_000)).rejects.toMatchObject({ name: "CardDriftError" });
  });
});

test("D22: events that come all at once after a long time are told one by one", async () => {
  const items = [
    event.task("TASK_STATE_SUBMITTED"),
    event.artifact("a", "one"),
    event.artifact("b", "two"),
    event.status("TASK_STATE_COMPLETED"),
  ];
  const late = answer.stream([frame.delay(29_000), ...items], { chunkBytes: Number.POSITIVE_INFINITY });
  at.agent.on("SubscribeToTask", late);
  const task = await at.known();
  const updates = await at.inTime(all(task.follow()));

  expect(updates.map(({ kind }) => kind)).toEqual(["snapshot", "artifact", "artifact", "status"]);
  expect(at.agent.calls("GetTask")).toEqual([]);
});

describe("the wait before a new stream", () => {
  const gone = (task: TaskHandle) => caught(at.inTime(all(task.follow()), 100));

  test.each([
    ["retry: 7000", 7_000],
    ["retry: 0", 100],
    ["retry: 99999999999", 3_600_000],
  ])("is what the server said: %s", async (line, waitMs) => {
    at.agent.on("SubscribeToTask", answer.stream([frame.raw(`${line}\n\n`), working]));
    const task = await at.known();
    await task.get();
    const following = caught(all(task.follow()));
    await at.inTime(following, waitMs);

    expect(times("SubscribeToTask")).toEqual([0, 1, 2, 3, 4].map((round) => round * waitMs));
    expect(await following).toMatchObject({ name: "StreamInterruptedError" });
  });

  test("grows where it said nothing", async () => {
    at.agent.on("SubscribeToTask", answer.stream([working]));
    const task = await at.known();
    await task.get();
    await gone(task);

    expect(times("SubscribeToTask")).toEqual([0, 250, 750, 1_750, 3_750]);
  });

  test("is never shorter than a Retry-After", async () => {
    at.agent.once("SubscribeToTask", answer.http(503, "", { "retry-after": "20" }));
    at.agent.once("SubscribeToTask", answer.stream([working, event.status("TASK_STATE_COMPLETED")]));
    const task = await at.known();
    await at.inTime(all(task.follow()));

    expect(times("SubscribeToTask")).toEqual([0, 20_000]);
  });

  test("is never shorter than a Retry-After where it polls", async () => {
    at.agent.rotateCard(() => createTestCard({ capabilities: {} }));
    at.agent.once("GetTask", answer.http(429, "", { "retry-after": "45" }));
    const task = await at.known();
    const following = all(task.follow());
    put("TASK_STATE_COMPLETED");
    await at.inTime(following);

    expect(times("GetTask")).toEqual([0, 45_000]);
  });
});

describe("giving up", () => {
  test("comes after as many streams without progress as were allowed", async () => {
    at.agent.on("SubscribeToTask", answer.stream([working]));
    const task = await at.known();
    await task.get();
    await caught(at.inTime(all(task.follow({ maxAttempts: 3 }))));

    expect(at.agent.calls("SubscribeToTask")).toHaveLength(3);
  });

  test("never comes while there is progress", async () => {
    let round = 0;
    at.agent.on("SubscribeToTask", () => {
      round += 1;
      const pieces = Array.from({ length: round }, (_, index) => ({ text: `${index} ` }));
      const artifacts = [{ artifactId: "a", parts: pieces }];
      return answer.stream([
        event.task(round < 30 ? "TASK_STATE_WORKING" : "TASK_STATE_COMPLETED", { artifacts }),
      ]);
    });
    const task = await at.known();
    at.agent.tasks.put({
      id: "t1",
      contextId: "c1",
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [
        { artifactId: "a", parts: Array.from({ length: 30 }, (_, index) => ({ text: `${index} ` })) },
      ],
    });
    const updates = await at.inTime(all(task.follow({ maxAttempts: 2 })), 1_000);

    expect(at.agent.calls("SubscribeToTask")).toHaveLength(30);
    expect(updates.filter(({ kind }) => kind === "artifact")).toHaveLength(29);
  });

  test.each([
    ["timeoutMs", "total"],
    ["deadlineMs", "deadline"],
  ] as const)("comes when %s has passed, whatever came until then", async (option, budget) => {
    const beats = Array.from({ length: 100 }, (_, index) =>
      event.artifact("a", `${index} `, { append: index > 0 }),
    );
    at.agent.on("SubscribeToTask", answer.stream([working, ...beats], { everyMs: 1_000 }));
    const task = await at.known();
    const waits = [all(task.follow({ [option]: 10_500 })), task.result({ [option]: 10_500 })].map((wait) =>
      caught(wait, TimeoutError),
    );
    const errors = await at.inTime(Promise.all(waits));

    for (const error of errors) expect(error).toMatchObject({ budget, budgetMs: 10_500 });
    await at.streamCount(0);
    expect(at.agent.calls("CancelTask")).toEqual([]);
  });
});
