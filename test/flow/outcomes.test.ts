import {
  type ClientOptions,
  createClient,
  type TaskHandle,
  type TaskUpdate,
  TimeoutError,
  toToolResult,
} from "a2a-lease";
import {
  answer,
  createTestCard,
  createTestClock,
  event,
  type ScriptedAgentOptions,
  step,
} from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "./caught.ts";
import { agentOver, bothBindings } from "./over.ts";

describe.each(bothBindings)("over %s,", (binding) => {
  function setUp(options: ScriptedAgentOptions = {}) {
    const clock = createTestClock();
    const agent = agentOver(binding, { clock, ...options });
    const connect = (more: ClientOptions = {}) =>
      createClient(agent.url, { fetch: agent.fetch, clock, random: () => 0.5, ...more });
    const expectQuiet = async () => {
      await clock.advance(0);
      expect(clock.pendingCount).toBe(0);
      expect(agent.openRequestCount).toBe(0);
    };
    return { clock, agent, connect, expectQuiet };
  }

  const noStreams = { card: createTestCard({ capabilities: {} }) };

  async function start(client: Awaited<ReturnType<typeof createClient>>): Promise<TaskHandle> {
    const reply = await client.sendMessage("hello");
    if (!("task" in reply)) expect.fail("no task");
    return reply.task;
  }

  const shown = (update: TaskUpdate) => {
    if (update.kind === "status") return update.status.state.replace("TASK_STATE_", "");
    if (update.kind !== "artifact" && update.kind !== "artifact-replaced") return update.kind;
    const text = update.artifact.parts.map((part) => ("text" in part ? part.text : "?")).join("");
    return `${update.kind} ${update.artifact.artifactId}=${text}`;
  };

  describe("what a task comes to", () => {
    test.each([
      ["completed", [step.artifact("a", "42"), step.completed()]],
      ["failed", [step.failed("out of memory")]],
      ["canceled", [step.canceled()]],
      ["rejected", [step.rejected("not my business")]],
      ["input-required", [step.inputRequired("Which region?")]],
      ["auth-required", [step.authRequired("Sign in")]],
    ] as const)("is %s, by stream and by poll alike", async (status, steps) => {
      for (const options of [{}, noStreams]) {
        const { agent, connect, expectQuiet } = setUp(options);
        agent.planNext([step.working("thinking…"), ...steps]);
        const task = await start(await connect());

        const outcome = await task.result();

        expect(outcome.status).toBe(status);
        expect(outcome.task.id).toBe(task.id);
        await expectQuiet();
      }
    });

    test("is told with its words: text and what the text leaves out, never a progress line", async () => {
      const { agent, connect } = setUp();
      agent.planNext([
        step.working("thinking…"),
        step.artifact("a", [{ text: "4" }, { text: "2" }, { data: { n: 42 } }]),
        step.artifact("b", "done"),
        step.completed(),
      ]);
      const outcome = await (await start(await connect())).result();

      expect(outcome).toMatchObject({
        status: "completed",
        text: "42\ndone",
        skipped: [{ data: { n: 42 } }],
        isEmpty: false,
      });
      expect(toToolResult(outcome)).toEqual({
        status: "completed",
        text: "42\ndone",
        parts: [{ data: { n: 42 } }],
        nextStep: "use-result",
      });
    });

    test("a refusal without a word is a refusal, and not an empty answer", async () => {
      const { agent, connect } = setUp();
      agent.planNext([step.rejected()]);
      const outcome = await (await start(await connect())).result();

      expect(outcome.status).toBe("rejected");
      expect(outcome).not.toHaveProperty("text");
      expect(toToolResult(outcome)).toEqual({ status: "rejected", nextStep: "replan" });
    });

    test("a completion with nothing in it is marked", async () => {
      const { agent, connect } = setUp();
      agent.planNext([step.completed()]);
      const task = await start(await connect());
      const outcome = await task.result();

      expect(outcome).toMatchObject({ status: "completed", isEmpty: true });
      expect(task.deviations.map(({ kind }) => kind)).toContain("completed-empty");
    });

    test("a question carries its whole prompt, and its answer leads on", async () => {
      const { agent, connect, expectQuiet } = setUp();
      agent.planNext([
        step.inputRequired("Which region?"),
        step.inputRequired("Which year?"),
        step.artifact("a", "EU"),
        step.completed(),
      ]);
      const first = await (await start(await connect())).result();
      if (first.status !== "input-required") expect.fail(first.status);
      expect(first.prompt?.parts).toEqual([{ text: "Which region?" }]);

      const second = await first.reply("EU");
      if (second.status !== "input-required") expect.fail(second.status);
      expect(second.prompt?.parts).toEqual([{ text: "Which year?" }]);
      const last = await second.reply("2026");

      expect(last).toMatchObject({ status: "completed", text: "EU" });
      await expectQuiet();
    });

    test("can be waited for through every question, to the end", async () => {
      const { agent, clock, connect, expectQuiet } = setUp();
      agent.planNext([step.authRequired("Sign in"), step.hold(), step.completed()]);
      const task = await start(await connect());
      const waiting = task.result({ until: "terminal" });
      await clock.advance(10);
      agent.step(task.id);
      agent.step(task.id);

      expect(await waiting).toMatchObject({ status: "completed" });
      await expectQuiet();
    });

    test("waits no longer than its deadline, and leaves the task alone", async () => {
      const { agent, clock, connect, expectQuiet } = setUp();
      agent.planNext([step.working(), step.hold()]);
      const task = await start(await connect());
      const waiting = caught(task.result({ deadlineMs: 5_000 }), TimeoutError);
      await clock.advance(5_000);

      expect(await waiting).toMatchObject({ budget: "deadline", budgetMs: 5_000 });
      expect(agent.calls("CancelTask")).toEqual([]);
      await expectQuiet();
    });

    test("says for how long a task stood still, and how it was looked at", async () => {
      const { agent, clock, connect, expectQuiet } = setUp(noStreams);
      agent.planNext([step.working(), step.hold()]);
      const task = await start(await connect());
      const waiting = caught(task.result({ noProgressMs: 60_000 }), TimeoutError);
      await clock.advance(61_000);

      expect(await waiting).toMatchObject({
        budget: "no-progress",
        standstill: { unchangedMs: 60_000, observedBy: "poll", state: "TASK_STATE_WORKING" },
      });
      expect(task.deviations.map(({ kind }) => kind)).toContain("no-progress");
      await expectQuiet();
    });
  });

  describe("delegating", () => {
    test("is one call from message to outcome, with every step told", async () => {
      const { agent, connect, expectQuiet } = setUp();
      agent.planNext([
        step.working(),
        step.artifact("a", "par"),
        step.artifact("a", "tial", { append: true }),
        step.completed(),
      ]);
      const client = await connect();
      const updates: string[] = [];

      const outcome = await client.delegate("hello", { onUpdate: (update) => updates.push(shown(update)) });

      expect(outcome).toMatchObject({ status: "completed", text: "partial" });
      expect(updates).toEqual(["snapshot", "WORKING", "artifact a=par", "artifact a=tial", "COMPLETED"]);
      expect(agent.acceptedMessageIds).toHaveLength(1);
      await expectQuiet();
    });

    test.each([[{}], [noStreams]])("resolves to a message where the agent needs no task", async (options) => {
      const { agent, connect, expectQuiet } = setUp(options);
      agent.on("SendMessage", answer.message("just so"));
      agent.on("SendStreamingMessage", answer.message("just so"));
      const outcome = await (await connect()).delegate("hello");

      expect(outcome).toMatchObject({ status: "answered", text: "just so" });
      expect(toToolResult(outcome)).toMatchObject({ status: "answered", nextStep: "use-result" });
      await expectQuiet();
    });

    test("leads on from a question", async () => {
      const { agent, connect } = setUp();
      agent.planNext([step.inputRequired("Which region?"), step.artifact("a", "EU"), step.completed()]);
      const outcome = await (await connect()).delegate("hello");
      if (outcome.status !== "input-required") expect.fail(outcome.status);

      expect(await outcome.reply("EU")).toMatchObject({ status: "completed", text: "EU" });
    });

    test("what was thrown in place of an outcome is told as an error with a next step", async () => {
      const { agent, connect } = setUp();
      const client = await connect();
      agent.rotateCard((card) => ({ ...card, description: "another" }));

      expect(toToolResult(await caught(client.delegate("hello")))).toMatchObject({
        status: "error",
        code: "CARD_DRIFT",
        nextStep: "renegotiate",
      });
      expect(toToolResult(new RangeError("mine"))).toEqual({
        status: "error",
        text: "mine",
        nextStep: "give-up",
      });
    });
  });

  describe("following", () => {
    async function follow(task: TaskHandle): Promise<string[]> {
      const seen: string[] = [];
      for await (const update of task.follow()) seen.push(shown(update));
      return seen;
    }

    test("goes on over a cut as if there had been none", async () => {
      const { agent, clock, connect, expectQuiet } = setUp();
      agent.planNext([
        step.working(),
        step.artifact("a", "1"),
        step.hold(),
        step.artifact("a", "2", { append: true }),
        step.hold(),
        step.completed(),
      ]);
      const task = await start(await connect());
      const following = follow(task);
      await clock.advance(0);
      agent.endStreams("cut");
      agent.step(task.id);
      await clock.advance(1_000);
      agent.step(task.id);

      expect(await following).toEqual(["snapshot", "gap", "artifact a=2", "COMPLETED"]);
      expect(task.artifacts[0]?.parts).toEqual([{ text: "1" }, { text: "2" }]);
      await expectQuiet();
    });

    test("tells nothing of a resumption that missed nothing", async () => {
      const { agent, clock, connect } = setUp();
      agent.once("SubscribeToTask", answer.stream([event.task("TASK_STATE_WORKING")], { end: "close" }));
      agent.once(
        "SubscribeToTask",
        answer.stream([event.task("TASK_STATE_WORKING"), event.status("TASK_STATE_COMPLETED")], {
          end: "close",
        }),
      );
      agent.tasks.put({ id: "t1", contextId: "c1", status: { state: "TASK_STATE_COMPLETED" } });
      const client = await connect();
      const resumed: unknown[] = [];
      client.on("stream-resumed", ({ taskId }) => resumed.push(taskId));
      agent.once(
        "GetTask",
        answer.result({ id: "t1", contextId: "c1", status: { state: "TASK_STATE_WORKING" } }),
      );
      const task = await client.getTask({ id: "t1" });
      const following = follow(task);
      await clock.advance(1_000);

      expect(await following).toEqual(["snapshot", "COMPLETED"]);
      expect(resumed).toEqual(["t1"]);
    });

    test("a task that ended while the connection was down ends with its final state and outputs", async () => {
      const { agent, clock, connect, expectQuiet } = setUp();
      agent.planNext([step.working(), step.hold(), step.artifact("a", "42"), step.completed()]);
      const task = await start(await connect());
      const following = follow(task);
      await clock.advance(0);
      agent.endStreams("close");
      agent.step(task.id);
      await clock.advance(1_000);

      expect(await following).toEqual(["snapshot", "gap", "artifact a=42", "COMPLETED"]);
      await expectQuiet();
    });

    test("polls where the card does not stream, in growing intervals", async () => {
      const { agent, clock, connect, expectQuiet } = setUp(noStreams);
      agent.planNext([step.working(), step.wait(20_000), step.artifact("a", "42"), step.completed()]);
      const task = await start(await connect());
      const following = follow(task);
      await clock.advance(60_000);

      expect(await following).toEqual(["snapshot", "artifact a=42", "COMPLETED"]);
      expect(agent.calls("GetTask").length).toBeLessThan(10);
      await expectQuiet();
    });

    test("gives up a connection that breaks again and again without any progress", async () => {
      const { agent, clock, connect, expectQuiet } = setUp();
      agent.planNext([step.working(), step.hold()]);
      const task = await start(await connect());
      await task.get();
      agent.on("SubscribeToTask", answer.reset());
      const following = caught(follow(task));
      await clock.advance(120_000);

      expect(await following).toMatchObject({ name: "ConnectionError" });
      // Five streams, each of which may be asked for three times, as far as the budget of repetitions goes.
      expect(agent.calls("SubscribeToTask")).toHaveLength(15);
      await expectQuiet();
    });

    test("checks the card before it goes on after a cut", async () => {
      const { agent, clock, connect, expectQuiet } = setUp();
      agent.planNext([step.working(), step.hold(), step.completed()]);
      const task = await start(await connect());
      const following = caught(follow(task));
      await clock.advance(0);
      agent.rotateCard((card) => ({ ...card, description: "another" }));
      agent.endStreams("cut");
      await clock.advance(1_000);

      expect(await following).toMatchObject({
        name: "CardDriftError",
        drift: { phase: { check: "alongside" } },
      });
      await expectQuiet();
    });

    test("leaving the loop closes the connection, not the task", async () => {
      const { agent, connect, expectQuiet } = setUp();
      agent.planNext([step.working(), step.hold()]);
      const task = await start(await connect());
      for await (const _ of task.follow()) break;

      expect(agent.calls("CancelTask")).toEqual([]);
      await expectQuiet();
    });
  });
});
