import {
  type A2AClient,
  type ClientOptions,
  createClient,
  type TaskHandle,
  type TaskUpdate,
} from "a2a-lease";
import {
  type AgentListener,
  answer,
  createScriptedAgent,
  createTestClock,
  type Reply,
  type ScriptedAgent,
  step,
  type TestClock,
} from "a2a-lease/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { all, kindsOf, taskOf } from "./lifecycle-setup.ts";
import { report, useRealAgent } from "./real-agent.ts";

describe("over real HTTP", () => {
  let clock: TestClock;
  let agent: ScriptedAgent;
  let listener: AgentListener;
  let clients: A2AClient[];

  beforeEach(async () => {
    clock = createTestClock();
    agent = createScriptedAgent({ clock });
    listener = await agent.listen();
    clients = [];
  });

  afterEach(async () => {
    for (const client of clients) await client.close();
    await vi.waitUntil(() => listener.openSocketCount === 0);
    expect({ requests: agent.openRequestCount, timers: clock.pendingCount }).toEqual({
      requests: 0,
      timers: 0,
    });
    await listener.close();
  });

  async function connect(options: ClientOptions = {}): Promise<A2AClient> {
    const client = await createClient(listener.url, { clock, random: () => 0.5, ...options });
    clients.push(client);
    return client;
  }

  /** A reply that leaves when the test says so. */
  function held(make: () => Reply): { readonly reply: () => Promise<Reply>; readonly release: () => void } {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    return {
      async reply() {
        // What is told is what was true when the request came.
        const told = make();
        await released;
        return told;
      },
      release: () => release(),
    };
  }

  const now = (task: TaskHandle) => () => answer.result(agent.tasks.get(task.id));
  const seen = (task: TaskHandle, state: string) => vi.waitUntil(() => task.state === `TASK_STATE_${state}`);
  const text = (task: TaskHandle) =>
    task.artifacts
      .map(({ parts }) => parts.map((part) => ("text" in part ? part.text : "?")).join(""))
      .join("|");

  describe.each([
    ["dated", true],
    ["undated", false],
  ])("with an agent whose statuses are %s", (_how, timestamps) => {
    beforeEach(() => agent.configure({ timestamps }));
    /** What such an agent is known for, and nothing else. */
    const expected = timestamps ? [] : ["timestamp-present"];
    const kinds = (task: TaskHandle | undefined) => [...new Set(kindsOf(task))];
    const tick = () => clock.advance(1_000);

    test("an answer that newer events have overtaken takes nothing back", async () => {
      agent.planNext([
        step.working("one"),
        step.artifact("a", "1"),
        step.hold(),
        step.artifact("a", "2", { append: true }),
        step.inputRequired("Which region?"),
      ]);
      const task = taskOf(await (await connect()).sendMessage("hello"));
      await tick();
      const events = all(await task.subscribe());
      await seen(task, "WORKING");
      const slow = held(now(task));
      agent.once("GetTask", slow.reply);
      const reading = task.get();
      await vi.waitUntil(() => agent.calls("GetTask").length === 1);
      agent.step(task.id);
      await seen(task, "INPUT_REQUIRED");
      slow.release();
      await reading;

      expect(task.state).toBe("TASK_STATE_INPUT_REQUIRED");
      expect(text(task)).toBe("12");
      expect(kinds(task)).toEqual(expected);
      await events;
    });

    test("an answer that the end has overtaken does not bring the task back to life", async () => {
      agent.planNext([step.working(), step.artifact("a", "1"), step.hold(), step.completed()]);
      const task = taskOf(await (await connect()).sendMessage("hello"));
      await tick();
      const events = all(await task.subscribe());
      await seen(task, "WORKING");
      const slow = held(now(task));
      agent.once("GetTask", slow.reply);
      const reading = task.get();
      await vi.waitUntil(() => agent.calls("GetTask").length === 1);
      agent.step(task.id);
      await seen(task, "COMPLETED");
      slow.release();

      expect(await reading).toBe(task);
      expect([task.state, text(task)]).toEqual(["TASK_STATE_COMPLETED", "1"]);
      expect(kinds(task)).toEqual(expected);
      expect(await events).toHaveLength(2);
    });

    test("an end that an overtaken answer brings is not lost", async () => {
      agent.planNext([step.working(), step.hold(), step.artifact("a", "42"), step.completed()]);
      const task = taskOf(await (await connect()).sendMessage("hello"));
      await tick();
      agent.step(task.id);
      const slow = held(now(task));
      agent.once(
        "GetTask",
        slow.reply,
        answer.result({ ...agent.tasks.get(task.id), status: { state: "TASK_STATE_WORKING" } }),
      );
      const first = task.get();
      await vi.waitUntil(() => agent.calls("GetTask").length === 1);
      await task.get();
      expect(task.state).toBe("TASK_STATE_WORKING");
      slow.release();
      await first;

      expect([task.state, text(task)]).toEqual(["TASK_STATE_COMPLETED", "42"]);
    });

    test("the answer to a send that a stream has overtaken breaks nothing", async () => {
      agent.planNext([
        step.inputRequired("Which region?"),
        step.working("on it"),
        step.artifact("a", "EU"),
        step.completed(),
      ]);
      const task = await taskOf(await (await connect()).sendMessage("hello")).get();
      await tick();
      const waiting = task.result({ until: "terminal" });
      await vi.waitUntil(() => agent.openStreamCount === 1);
      const early = held(() => {
        const working = { ...agent.tasks.get(task.id), status: { state: "TASK_STATE_WORKING" } };
        agent.step(task.id);
        return answer.result({ task: working });
      });
      agent.once("SendMessage", early.reply);
      const sending = task.sendMessage("EU");
      await seen(task, "COMPLETED");
      early.release();

      expect(await sending).toEqual({ task });
      expect(await waiting).toMatchObject({ status: "completed", text: "EU" });
      expect(kinds(task)).toEqual(expected);
    });

    test("a piece that comes after the whole of a finished task is not doubled", async () => {
      agent.planNext([step.working(), step.artifact("a", "1"), step.hold()]);
      const task = taskOf(await (await connect()).sendMessage("hello"));
      await tick();
      const events = (await task.subscribe())[Symbol.asyncIterator]();
      await events.next();
      const parts = [{ text: "1" }, { text: "2" }];
      const status = { ...agent.tasks.get(task.id)?.status, state: "TASK_STATE_FAILED" };
      agent.once(
        "GetTask",
        answer.result({ ...agent.tasks.get(task.id), status, artifacts: [{ artifactId: "a", parts }] }),
      );
      await task.get();
      const failed = step.status("TASK_STATE_FAILED", { timestamp: status.timestamp ?? false });
      agent.step(task.id, step.artifact("a", "2", { append: true }), failed);
      for (let item = await events.next(); !item.done; item = await events.next());

      expect([task.state, text(task)]).toEqual(["TASK_STATE_FAILED", "12"]);
    });

    test("a follower is told the end that only a read has seen, when its stream breaks off", async () => {
      agent.planNext([step.working(), step.hold()]);
      const task = taskOf(await (await connect()).sendMessage("hello"));
      await tick();
      const following = all(task.follow());
      await seen(task, "WORKING");
      const status = { ...agent.tasks.get(task.id)?.status, state: "TASK_STATE_FAILED" };
      agent.once("GetTask", answer.result({ ...agent.tasks.get(task.id), status }));
      await task.get();
      agent.endStreams("close");

      expect((await following).map(({ kind }) => kind)).toEqual(["snapshot", "status"]);
    });

    test("a follower that is behind another reader is told every piece once", async () => {
      agent.planNext([step.working(), step.artifact("a", "1"), step.hold()]);
      const task = taskOf(await (await connect()).sendMessage("hello"));
      await tick();
      const before = agent.tasks.get(task.id);
      const fast = (await task.subscribe())[Symbol.asyncIterator]();
      await fast.next();
      agent.step(task.id, step.artifact("a", "2", { append: true }));
      await fast.next();
      const place = { taskId: task.id, contextId: task.contextId };
      const piece = { artifact: { artifactId: "a", parts: [{ text: "2" }] }, append: true };
      const failed = { ...before?.status, state: "TASK_STATE_FAILED" };
      agent.once(
        "SubscribeToTask",
        answer.stream([
          { task: before },
          { artifactUpdate: { ...place, ...piece } },
          { statusUpdate: { ...place, status: failed } },
        ]),
      );
      const updates = await all(task.follow());
      await fast.return?.();

      expect(updates.map(({ kind }) => kind)).toEqual(["snapshot", "artifact", "status"]);
      expect(text(task)).toBe("12");
    });

    test("a piece that a stream brings is not doubled by a read that was ahead of it", async () => {
      agent.planNext([
        step.working(),
        step.artifact("a", "1"),
        step.hold(),
        step.artifact("a", "2", { append: true }),
        step.failed(),
      ]);
      const task = taskOf(await (await connect()).sendMessage("hello"));
      await tick();
      const events = (await task.subscribe())[Symbol.asyncIterator]();
      await events.next();
      agent.step(task.id, step.artifact("b", "x"));
      await events.next();
      agent.tasks.get(task.id);
      // The agent has the next piece already, and its stream is a moment behind.
      const ahead = agent.tasks.get(task.id);
      const artifacts = [
        { artifactId: "a", parts: [{ text: "1" }, { text: "2" }] },
        { artifactId: "b", parts: [{ text: "x" }] },
      ];
      agent.once("GetTask", answer.result({ ...ahead, artifacts }));
      await task.get();
      agent.step(task.id);
      for (let item = await events.next(); !item.done; item = await events.next());

      expect([task.state, text(task)]).toEqual(["TASK_STATE_FAILED", "12|x"]);
      expect(kinds(task)).toEqual(expected);
    });

    test("several readers of one task are each told all of it, once", async () => {
      agent.planNext([
        step.working("one"),
        step.artifact("a", "1"),
        step.hold(),
        step.artifact("a", "2", { append: true }),
        step.working("two"),
        step.artifact("a", "3", { append: true, lastChunk: true }),
        step.completed(),
      ]);
      const task = taskOf(await (await connect()).sendMessage("hello"));
      await tick();
      const shown = ({ kind }: TaskUpdate) => kind;
      const readers = [all(task.follow()), all(task.follow())];
      const other = await (await connect()).task(task.id);
      const raw = [all(await other.subscribe())];
      const outcome = task.result();
      await vi.waitUntil(() => agent.openStreamCount === 2);
      agent.step(task.id);
      const told = await Promise.all(readers);
      const events = await Promise.all(raw);

      for (const updates of told) {
        expect(updates.map(shown)).toEqual(["snapshot", "artifact", "status", "artifact", "status"]);
      }
      for (const items of events) {
        expect(items.map((item) => Object.keys(item)[0])).toEqual([
          "task",
          "artifactUpdate",
          "statusUpdate",
          "artifactUpdate",
          "statusUpdate",
        ]);
      }
      expect(await outcome).toMatchObject({ status: "completed", text: "123" });
      expect(text(task)).toBe("123");
      expect(kinds(task)).toEqual(expected);
    });

    test("duplicate snapshots and events are told once", async () => {
      agent.planNext([step.working("one"), step.hold(), step.completed("bye")]);
      const task = taskOf(await (await connect()).sendMessage("hello"));
      await tick();
      agent.once("SubscribeToTask", () => {
        const before = agent.tasks.get(task.id);
        const place = { taskId: task.id, contextId: task.contextId };
        agent.step(task.id);
        const after = agent.tasks.get(task.id);
        const update = { statusUpdate: { ...place, status: before?.status } };
        const items = [
          { task: before },
          { task: before },
          update,
          update,
          { task: before },
          { task: after },
          { task: after },
        ];
        return answer.stream(items);
      });
      const events = await all(await task.subscribe());
      const told = await all(task.follow());
      await task.get();

      expect(events.map((item) => ("task" in item ? item.task.status.state : "another"))).toEqual([
        "TASK_STATE_WORKING",
        "TASK_STATE_COMPLETED",
      ]);
      expect(told.map(({ kind }) => kind)).toEqual(["snapshot"]);
      expect(kinds(task)).toEqual(expected);
    });
  });

  test("a replica that lags shows older dates, and never takes anything back", async () => {
    agent.planNext([
      step.working("one"),
      step.wait(1_000),
      step.working("two"),
      step.wait(1_000),
      step.completed("bye"),
    ]);
    const client = await connect();
    const task = taskOf(await client.sendMessage("hello"));
    const states = [agent.tasks.get(task.id)];
    for (const _ of [1, 2]) {
      await clock.advance(1_000);
      states.push(agent.tasks.get(task.id));
    }
    const submitted = {
      ...states[0],
      status: { state: "TASK_STATE_SUBMITTED", timestamp: "2025-12-31T00:00:00.000Z" },
    };
    await task.get();
    expect(task.state).toBe("TASK_STATE_COMPLETED");
    for (const old of [states[0], states[1], submitted, states[1], states[2], states[0]]) {
      agent.once("GetTask", answer.result(old));
      await task.get();
      expect(task.state).toBe("TASK_STATE_COMPLETED");
    }

    expect(await task.result()).toMatchObject({ status: "completed", message: { parts: [{ text: "bye" }] } });
    expect(task.deviations).toEqual([]);
  });

  test("replicas that take turns never hide the question that the task asks", async () => {
    agent.planNext([step.working(), step.wait(1_000), step.inputRequired("Which region?")]);
    const task = taskOf(await (await connect()).sendMessage("hello"));
    const old = agent.tasks.get(task.id);
    const older = { ...old, status: { state: "TASK_STATE_WORKING", timestamp: "2025-12-31T00:00:00.000Z" } };
    await clock.advance(1_000);
    for (const shown of [old, undefined, older, undefined, old, older, undefined, undefined]) {
      if (shown) agent.once("GetTask", answer.result(shown));
      await task.get();
      if (!shown) expect(task.state).toBe("TASK_STATE_INPUT_REQUIRED");
    }

    expect(await task.result()).toMatchObject({ status: "input-required" });
    expect(kindsOf(task).filter((kind) => kind !== "timestamp-monotonic")).toEqual([]);
  });

  test("an agent that dates its answers by the moment of reading asks one question, however often it is read", async () => {
    agent.planNext([step.inputRequired("Which region?")]);
    const task = taskOf(await (await connect()).sendMessage("hello"));
    for (let round = 0; round < 6; round++) {
      await clock.advance(1_000);
      const timestamp = new Date(clock.now()).toISOString();
      const shown = agent.tasks.get(task.id);
      agent.once("GetTask", answer.result({ ...shown, status: { ...shown?.status, timestamp } }));
      await task.get();
    }

    expect([task.state, kindsOf(task)]).toEqual(["TASK_STATE_INPUT_REQUIRED", []]);
  });

  test("a stream that is silent for longer than it may be is followed on, for as long as the task works", async () => {
    agent.planNext([step.working(), step.hold(), step.artifact("a", "42"), step.completed()]);
    const task = taskOf(await (await connect({ timeouts: { idleMs: 10_000 } })).sendMessage("hello"));
    const following = all(task.follow());
    for (let round = 0; round < 40; round++) {
      await vi.waitUntil(() => agent.openStreamCount <= 1);
      await clock.advance(10_000);
    }
    agent.step(task.id);
    let isDone = false;
    following.then(() => {
      isDone = true;
    });
    await vi.waitUntil(async () => {
      await clock.advance(5_000);
      return isDone;
    });

    expect((await following).at(-1)).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" } });
    expect(text(task)).toBe("42");
  });
});

describe("the server of the official SDK", () => {
  const fixture = useRealAgent();

  test("earns its trust by a probe, streaming included, and keeps it through work of every kind", async () => {
    const { agent } = fixture;
    const client = await fixture.connect();

    const probed = await client.probe({ message: report });

    expect(probed.checks.filter(({ outcome }) => outcome === "failed")).toEqual([]);
    expect(probed).toMatchObject({ promoted: true, obstacles: [], capabilities: ["streaming"] });
    expect(client.trust.level).toBe("lifecycle-trusted");

    agent.ask("Which part?");
    const asked = await client.delegate(report);
    if (asked.status !== "input-required") expect.fail(asked.status);
    expect(await asked.reply("All of it.")).toMatchObject({ status: "completed" });
    const task = taskOf(await client.sendMessage(report));
    const [told] = await Promise.all([all(task.follow()), task.result()]);
    expect(told.at(-1)?.task.status.state).toBe("TASK_STATE_COMPLETED");
    agent.hold();
    const stopped = taskOf(await client.sendMessage(report));
    await stopped.cancel();
    expect(client.trust.level).toBe("lifecycle-trusted");
    expect([...kindsOf(task), ...kindsOf(stopped)]).toEqual([]);
  });

  test("earns it without streaming too, and then not for streams", async () => {
    const client = await fixture.connect({ trust: "required" });
    await client.probe({ message: report, capabilities: [] });

    await expect(client.sendMessage(report)).resolves.toHaveProperty("task");
    await expect(client.sendStreamingMessage(report)).rejects.toMatchObject({
      name: "LifecycleNotTrustedError",
    });
  });
});
