import {
  CancelNotConfirmedError,
  InvalidParamsError,
  LifecycleMismatchError,
  TaskForgottenError,
  type TaskHandle,
  TaskNotFoundError,
  type TaskOutcome,
  TaskTerminalError,
  TimeoutError,
  toToolResult,
} from "a2a-lease";
import { answer, createTestCard, event, frame, type ScriptedAgent, step } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { all, kindsOf, setUp, taskOf } from "../flow/lifecycle-setup.ts";

const noStreams = { card: createTestCard({ capabilities: {} }) };
const wireTask = (state: unknown, more: object = {}) => ({
  id: "t1",
  contextId: "c1",
  status: { state },
  ...more,
});
const put = (agent: ScriptedAgent, state: string, more: object = {}) =>
  agent.tasks.put(wireTask(state, more) as never);
const text = (parts: readonly object[] | undefined) =>
  (parts ?? []).map((part) => ("text" in part ? part.text : "?")).join("");

describe("D20: what a stream begins with is not its answer", () => {
  const items = [
    event.task("TASK_STATE_SUBMITTED"),
    event.artifact("a", "one"),
    event.artifact("b", "two"),
    event.status("TASK_STATE_COMPLETED"),
  ];
  const artifacts = [
    { artifactId: "a", parts: [{ text: "one" }] },
    { artifactId: "b", parts: [{ text: "two" }] },
  ];
  test.each([
    ["event by event", {}],
    ["slowly", { everyMs: 5_000 }],
    ["in one write", { chunkBytes: Number.POSITIVE_INFINITY }],
    ["byte by byte", { chunkBytes: 1 }],
  ])("all artifacts are there at the end, sent %s", async (_how, how) => {
    const { agent, connect, inTime } = setUp();
    put(agent, "TASK_STATE_COMPLETED", { artifacts });
    agent.on("SendStreamingMessage", answer.stream(items, how));
    const client = await connect();

    const stream = await client.sendStreamingMessage("hello");
    expect(await inTime(all(stream))).toHaveLength(4);
    expect(stream.task).toMatchObject({ state: "TASK_STATE_COMPLETED", artifacts });
  });

  test("all of it written at once after thirty silent seconds is the same", async () => {
    const { agent, connect, inTime } = setUp();
    put(agent, "TASK_STATE_COMPLETED", { artifacts });
    const late = answer.stream([frame.delay(29_000), ...items], { chunkBytes: Number.POSITIVE_INFINITY });
    agent.on("SendStreamingMessage", late);
    const outcome = await inTime((await connect()).delegate("hello"));

    expect(outcome).toMatchObject({ status: "completed", text: "one\ntwo", artifacts });
  });

  test("a task that has an artifact and works on is not done", async () => {
    const { agent, clock, connect } = setUp(noStreams);
    agent.planNext([step.artifact("a", "one"), step.hold(), step.artifact("b", "two"), step.completed()]);
    const task = taskOf(await (await connect()).sendMessage("hello"));
    const waiting = task.result();
    await clock.advance(10_000);
    expect(task.artifacts).toHaveLength(1);
    agent.step(task.id);
    await clock.advance(10_000);

    expect(await waiting).toMatchObject({ status: "completed", text: "one\ntwo" });
  });
});

describe("D21: pieces of artifacts", () => {
  const append = (content: string, more = {}) => event.artifact("a", content, { append: true, ...more });
  const streamed = async (items: readonly object[], lifecycle: "enforce" | "observe") => {
    const { agent, connect } = setUp();
    agent.on("SendStreamingMessage", answer.stream([event.task("TASK_STATE_WORKING"), ...items]));
    const stream = await (await connect({ lifecycle })).sendStreamingMessage("hello");
    const error = await caught(all(stream));
    return { error, task: stream.task };
  };

  test("an append to an artifact that nobody has seen begins it, and is a deviation", async () => {
    const { error, task } = await streamed([append("one"), append("two", { lastChunk: true })], "enforce");
    expect(error).toMatchObject({ name: "StreamInterruptedError" });
    expect(task?.artifacts).toEqual([{ artifactId: "a", parts: [{ text: "one" }, { text: "two" }] }]);
    expect(kindsOf(task)).toContain("append-to-unknown-artifact");
  });

  test("an append after the last piece breaks artifact-order, and only where that is observed it is taken", async () => {
    const items = [append("one"), append("two", { lastChunk: true }), append("three")];
    const strict = await streamed(items, "enforce");
    const lenient = await streamed(items, "observe");

    expect(strict.error).toMatchObject({ name: "LifecycleMismatchError", rule: "artifact-order" });
    expect(text(strict.task?.artifacts[0]?.parts)).toBe("onetwo");
    expect(text(lenient.task?.artifacts[0]?.parts)).toBe("onetwothree");
    expect(kindsOf(lenient.task)).toEqual(expect.arrayContaining(["artifact-order"]));
  });

  test("a piece that is not appended begins the artifact anew, also after the last one", async () => {
    const { task } = await streamed(
      [event.artifact("a", "old", { lastChunk: true }), event.artifact("a", "new"), append("er")],
      "enforce",
    );
    expect(text(task?.artifacts[0]?.parts)).toBe("newer");
    expect(kindsOf(task)).not.toContain("artifact-order");
  });

  test("parts stay parts, whatever they hold", async () => {
    const raw = { raw: "AAEC", mediaType: "application/octet-stream", filename: "x.bin" };
    const { task } = await streamed(
      [event.artifact("a", [{ text: "" }, raw]), append([{ data: null }] as never)],
      "enforce",
    );
    expect(task?.artifacts[0]?.parts).toEqual([{ text: "" }, raw, { data: null }]);
  });
});

describe("D24: leaving a stream", () => {
  const leave: Readonly<Record<string, (task: TaskHandle) => Promise<unknown>>> = {
    "by leaving the loop": async (task) => {
      for await (const _ of await task.subscribe()) return;
    },
    "by closing it": async (task) => (await task.subscribe()).close(),
    "by an abort": async (task) => {
      const controller = new AbortController();
      for await (const _ of task.follow({ signal: controller.signal }))
        controller.abort(new RangeError("mine"));
    },
    "by a deadline": (task) => task.result({ deadlineMs: 0 }),
  };
  test.each(Object.entries(leave))("%s cancels nothing, and what was seen is kept", async (_how, go) => {
    const { agent, clock, connect, expectQuiet } = setUp();
    agent.planNext([step.working("half way"), step.hold()]);
    const task = await taskOf(await (await connect()).sendMessage("hello")).get();
    const leaving = go(task).catch(() => {});
    await clock.advance(1);
    await leaving;
    await expectQuiet();

    expect(agent.calls("CancelTask")).toEqual([]);
    expect(task).toMatchObject({ state: "TASK_STATE_WORKING", contextId: "context-1" });
    await task.cancel();
    expect(task.state).toBe("TASK_STATE_CANCELED");
  });

  test.each(["COMPLETED", "FAILED", "CANCELED", "REJECTED"])(
    "a task that was seen %s and goes back to work without a date has broken terminal-is-final",
    async (end) => {
      const { agent, connect } = setUp();
      const items = [event.task("TASK_STATE_WORKING"), event.status(`TASK_STATE_${end}`, { text: "bye" })];
      agent.on("SendStreamingMessage", answer.stream(items));
      put(agent, "TASK_STATE_WORKING");
      const stream = await (await connect()).sendStreamingMessage("hello");
      await all(stream);
      const task = stream.task as TaskHandle;

      for (const look of [() => task.get(), () => task.get()]) {
        const error = await caught(look(), LifecycleMismatchError);
        expect(error.rule).toBe("terminal-is-final");
        expect(error.observations.map(({ state }) => state).slice(-2)).toEqual([
          `TASK_STATE_${end}`,
          "TASK_STATE_WORKING",
        ]);
      }
      expect(task).toMatchObject({
        state: `TASK_STATE_${end}`,
        task: { status: { message: { parts: [{ text: "bye" }] } } },
      });
    },
  );

  test("a completion that the task itself takes back is not believed", async () => {
    const { agent, connect, inTime } = setUp();
    agent.on(
      "SendStreamingMessage",
      answer.stream([event.task("TASK_STATE_WORKING"), event.status("TASK_STATE_COMPLETED")]),
    );
    put(agent, "TASK_STATE_WORKING");
    const client = await connect();

    expect(await caught(inTime(client.delegate("hello")))).toMatchObject({ rule: "terminal-is-final" });
  });

  test("a question that was seen and is answered by work that goes on breaks nothing", async () => {
    const { agent, connect } = setUp();
    const items = [
      event.task("TASK_STATE_WORKING"),
      event.status("TASK_STATE_INPUT_REQUIRED", { text: "Which?" }),
    ];
    agent.on("SendStreamingMessage", answer.stream(items, { end: "silence" }));
    put(agent, "TASK_STATE_WORKING");
    const stream = await (await connect()).sendStreamingMessage("hello");
    await all(stream);

    expect((await stream.task?.get())?.state).toBe("TASK_STATE_WORKING");
  });
});

describe("E1, E2: states that the spec does not have", () => {
  test.each([
    ["TASK_STATE_PAUSED", "TASK_STATE_PAUSED"],
    ["BOGUS_STATE", "BOGUS_STATE"],
    ["Completed", "Completed"],
    ["task_state_completed", "task_state_completed"],
    ["", ""],
    [9, "9"],
    [-1, "-1"],
    [3.5, "3.5"],
  ])("%j breaks known-state, keeps its own text and ends nothing", async (state, raw) => {
    const { agent, connect } = setUp();
    const client = await connect();
    agent.on("GetTask", answer.result(wireTask(state)));
    const error = await caught(client.getTask({ id: "t1" }), LifecycleMismatchError);

    expect(error).toMatchObject({ rule: "known-state", observations: [{ state: "unknown", raw }] });
    expect((await client.task("t1")).state).toBe("TASK_STATE_UNSPECIFIED");
  });

  test("where rules are only observed the task goes on, and its state is told as unknown", async () => {
    const { agent, clock, connect, expectQuiet } = setUp(noStreams);
    const client = await connect({ lifecycle: "observe" });
    agent.once(
      "GetTask",
      answer.result(wireTask("TASK_STATE_PAUSED")),
      answer.result(wireTask("TASK_STATE_PAUSED")),
    );
    put(agent, "TASK_STATE_COMPLETED", { artifacts: [{ artifactId: "a", parts: [{ text: "42" }] }] });
    const task = await client.getTask({ id: "t1" });
    expect(task.task?.status).toEqual({ state: "unknown", raw: "TASK_STATE_PAUSED" });
    const waiting = task.result();
    await clock.advance(10_000);

    expect(await waiting).toMatchObject({ status: "completed", text: "42" });
    expect(kindsOf(task)).toEqual(expect.arrayContaining(["known-state", "unknown-state"]));
    expect(JSON.stringify(agent.calls().map(({ params }) => params))).not.toContain("PAUSED");
    await expectQuiet();
  });

  test.each([
    ["completed", "TASK_STATE_COMPLETED"],
    ["working", "TASK_STATE_WORKING"],
    ["input-required", "TASK_STATE_INPUT_REQUIRED"],
    ["cancelled", "TASK_STATE_CANCELED"],
    [3, "TASK_STATE_COMPLETED"],
  ])("the older spelling %j is read as what it means, and is a deviation", async (wire, state) => {
    const { agent, connect } = setUp();
    agent.on("GetTask", answer.result(wireTask(wire)));
    const task = await (await connect()).getTask({ id: "t1" });

    expect(task).toMatchObject({ state, task: { status: { raw: String(wire) } } });
    expect(kindsOf(task)).toContain("legacy-state");
  });

  test.each([[undefined], [null], ["TASK_STATE_UNSPECIFIED"], ["unknown"]])(
    "no state, told as %j, is no end and no offence",
    async (state) => {
      const { agent, connect } = setUp();
      agent.on("GetTask", answer.result(wireTask(state)));
      expect((await (await connect()).getTask({ id: "t1" })).state).toBe("TASK_STATE_UNSPECIFIED");
    },
  );
});

describe("E5, E6, E7, E14, E22: what a task comes to", () => {
  const artifact = step.artifact("a", "partial");
  const ends = [
    ["failed", [step.failed()]],
    ["failed", [artifact, step.failed("out of memory")]],
    ["canceled", [step.canceled()]],
    ["canceled", [artifact, step.canceled()]],
    ["rejected", [step.rejected()]],
    ["rejected", [step.rejected("not my business")]],
    ["input-required", [artifact, step.inputRequired("Which region?")]],
    ["auth-required", [step.authRequired("Sign in")]],
  ] as const;
  test.each(ends)("%s is never a text, by whatever way it comes", async (status, steps) => {
    const ways: readonly ((agent: ReturnType<typeof setUp>) => Promise<TaskOutcome>)[] = [
      async ({ connect }) => (await (await connect()).delegate("hello")) as TaskOutcome,
      async ({ connect }) => taskOf(await (await connect()).sendMessage("hello")).result(),
      async ({ connect }) =>
        taskOf(await (await connect()).sendMessage("hello", { blocking: true })).result(),
    ];
    for (const options of [{}, noStreams]) {
      for (const way of ways) {
        const world = setUp(options);
        world.agent.plan(steps);
        const outcome = await way(world);

        expect(outcome.status).toBe(status);
        expect(outcome).not.toHaveProperty("text");
        expect(toToolResult(outcome)).toMatchObject({ status });
        expect(toToolResult(outcome).nextStep).not.toBe("use-result");
      }
    }
  });

  test("a question is told whole: every part, its id, and the context it is asked in", async () => {
    const { agent, connect } = setUp();
    const parts = [
      { text: "Which region?" },
      { data: { options: ["EU", "US"] } },
      { url: "https://maps.example/1" },
    ];
    agent.plan([step.inputRequired(parts)]);
    const outcome = await (await connect()).delegate("hello");
    if (outcome.status !== "input-required") expect.fail(outcome.status);

    expect(outcome.prompt).toMatchObject({
      role: "ROLE_AGENT",
      parts,
      taskId: "task-1",
      contextId: "context-1",
    });
    expect(outcome.message).toBe(outcome.prompt);
    expect(toToolResult(outcome)).toEqual({
      status: "input-required",
      text: "Which region?",
      parts: parts.slice(1),
      nextStep: "ask-user",
    });
  });

  test("a question without a word is a question", async () => {
    const { agent, connect } = setUp();
    agent.plan([step.inputRequired()]);
    const outcome = await (await connect()).delegate("hello");

    expect(outcome).toMatchObject({ status: "input-required", prompt: undefined });
    expect(toToolResult(outcome)).toEqual({ status: "input-required", nextStep: "ask-user" });
  });

  test("progress lines and messages on the way are told as such, and are no part of the result", async () => {
    for (const options of [{}, noStreams]) {
      const { agent, connect } = setUp(options);
      agent.plan([
        step.working("thinking…"),
        step.message("still there?"),
        step.artifact("a", "42"),
        step.completed("done"),
      ]);
      const told: string[] = [];
      const outcome = await (await connect()).delegate("hello", { onUpdate: ({ kind }) => told.push(kind) });

      expect(outcome).toMatchObject({ status: "completed", text: "42", isEmpty: false });
      expect(outcome.message?.parts).toEqual([{ text: "done" }]);
      if (options !== noStreams)
        expect(told).toEqual(["snapshot", "status", "message", "artifact", "status"]);
    }
  });

  test("an agent that says its answer with the completion, and has no artifact, has answered", async () => {
    const parts = [{ text: "forty-" }, { text: "two" }, { data: { n: 42 } }];
    for (const options of [{}, noStreams]) {
      const { agent, connect } = setUp(options);
      agent.plan([step.working("thinking…"), step.completed(parts)]);
      const outcome = await (await connect()).delegate("hello");

      const skipped = parts.slice(2);
      expect(outcome).toMatchObject({ status: "completed", text: "forty-two", skipped, isEmpty: false });
      expect(toToolResult(outcome)).toEqual({
        status: "completed",
        text: "forty-two",
        parts: skipped,
        nextStep: "use-result",
      });
    }
  });

  test("what it says beside an artifact without a text is no part of the output", async () => {
    const { agent, connect } = setUp();
    agent.plan([step.artifact("a", [{ data: { n: 42 } }]), step.completed("All done!")]);
    expect(await (await connect()).delegate("hello")).toMatchObject({
      text: "",
      skipped: [{ data: { n: 42 } }],
    });
  });

  test("a progress line before a completion without a word is no answer", async () => {
    for (const options of [{}, noStreams]) {
      const { agent, connect } = setUp(options);
      agent.plan([step.working("thinking…"), step.completed()]);
      const outcome = await (await connect()).delegate("hello");
      expect(outcome).toMatchObject({ status: "completed", text: "", isEmpty: true });
    }
  });

  test("a completion without an output is marked, by every way it can be read", async () => {
    for (const options of [{}, noStreams]) {
      const { agent, connect } = setUp(options);
      agent.plan([step.working(), step.completed()]);
      const task = taskOf(await (await connect()).sendMessage("hello", { blocking: true }));

      expect(await task.result()).toMatchObject({ status: "completed", text: "", isEmpty: true });
      expect(kindsOf(task)).toEqual(["completed-empty"]);
    }
  });

  test.each([
    ["only data", [{ data: { n: 42 } }]],
    ["only bytes", [{ raw: "AAEC", mediaType: "application/octet-stream" }]],
    ["an empty text", [{ text: "" }]],
  ])("a completed task whose artifact is %s is complete", async (_what, parts) => {
    for (const options of [{}, noStreams]) {
      const { agent, connect, expectQuiet } = setUp(options);
      agent.plan([step.working(), step.artifact("a", parts), step.completed()]);
      const outcome = await (await connect()).delegate("hello");

      expect(outcome).toMatchObject({ status: "completed", text: "", isEmpty: false });
      await expectQuiet();
    }
  });
});

describe("E8: writing to a finished task", () => {
  const codes = [-32600, -32602, -32004, -32000, -32050];
  const refusal = (code: number) => answer.error(code, "Task t1 is in a terminal state (completed)");
  const ways: Readonly<Record<string, (task: TaskHandle) => Promise<unknown>>> = {
    "a message": (task) => task.sendMessage("more"),
    "a blocking message": (task) => task.sendMessage("more", { blocking: true }),
  };

  /** A task that the client knows at work, and that has ended meanwhile. */
  async function outdated(code: number, end = "TASK_STATE_COMPLETED") {
    const world = setUp();
    const { agent, connect } = world;
    put(agent, "TASK_STATE_WORKING");
    const client = await connect();
    const task = await client.getTask({ id: "t1" });
    put(agent, end, { artifacts: [{ artifactId: "a", parts: [{ text: "42" }] }] });
    for (const operation of ["SendMessage", "SendStreamingMessage"] as const)
      agent.on(operation, refusal(code));
    agent.clearTranscript();
    return { ...world, client, task };
  }

  describe.each(codes)("refused with %i", (code) => {
    test.each(Object.entries(ways))(
      "%s is told as what it is, once the task was read again",
      async (_what, send) => {
        const { agent, task, expectQuiet } = await outdated(code);
        const error = await caught(send(task), TaskTerminalError);

        expect(error).toMatchObject({ taskId: "t1", state: "TASK_STATE_COMPLETED", nextStep: "replan" });
        expect(error.cause).toMatchObject({ rpcCode: code });
        expect(task).toMatchObject({ state: "TASK_STATE_COMPLETED", artifacts: [{ artifactId: "a" }] });
        expect(agent.calls().map(({ operation }) => operation)).toEqual(["SendMessage", "GetTask"]);
        expect(agent.cardReads().filter(({ forced }) => forced)).toEqual([]);
        await expectQuiet();
      },
    );

    test.each([
      ["as JSON", refusal(code)],
      ["as the first event", answer.stream([frame.error(code, "Task t1 is over")])],
    ])("a streaming message is told so too, refused %s", async (_how, reply) => {
      const { agent, client, task, expectQuiet } = await outdated(code);
      agent.on("SendStreamingMessage", reply);
      const reading = async () =>
        all(await client.sendStreamingMessage({ taskId: "t1", parts: [{ text: "more" }] }));

      expect(await caught(reading(), TaskTerminalError)).toMatchObject({ state: "TASK_STATE_COMPLETED" });
      expect(task.state).toBe("TASK_STATE_COMPLETED");
      expect(agent.calls().map(({ operation }) => operation)).toEqual(["SendStreamingMessage", "GetTask"]);
      await expectQuiet();
    });

    test("for a task that is not over is the refusal itself", async () => {
      const { agent, task, expectQuiet } = await outdated(code, "TASK_STATE_WORKING");
      const error = await caught(task.sendMessage("more"));

      expect(error).toMatchObject({ rpcCode: code });
      expect(error).not.toBeInstanceOf(TaskTerminalError);
      expect(agent.acceptedMessageIds).toEqual([]);
      expect(agent.calls("SendMessage")).toHaveLength(1);
      await expectQuiet();
    });
  });

  test.each(["FAILED", "CANCELED", "REJECTED"])("a task that ended as %s is over too", async (end) => {
    const { task } = await outdated(-32602, `TASK_STATE_${end}`);
    expect(await caught(task.sendMessage("more"))).toMatchObject({
      name: "TaskTerminalError",
      state: `TASK_STATE_${end}`,
    });
  });

  test("is refused here once it is known, and its context goes on in a new task", async () => {
    const { agent, task } = await outdated(-32600);
    await caught(task.sendMessage("more"));
    agent.off("SendMessage");
    agent.clearTranscript();
    await caught(task.sendMessage("more"), TaskTerminalError);
    expect(agent.transcript).toEqual([]);

    const next = taskOf(await task.continueInContext("more"));
    expect([next.contextId, next.id === task.id]).toEqual(["c1", false]);
  });

  test("a refusal of a task that can't be read is the refusal itself", async () => {
    const { agent, task } = await outdated(-32602);
    agent.on("GetTask", answer.http(500));
    expect(await caught(task.sendMessage("more"))).toBeInstanceOf(InvalidParamsError);
  });

  test("a task that the agent has forgotten is told as forgotten", async () => {
    for (const code of [-32001, -32602]) {
      const { agent, task } = await outdated(code);
      agent.tasks.forget("t1");
      expect(await caught(task.sendMessage("more"), TaskForgottenError)).toMatchObject({
        task: { status: { state: "TASK_STATE_WORKING" } },
      });
    }
  });

  test("an error that leaves the outcome unknown is never explained away", async () => {
    const { task } = await outdated(-32603);
    expect(await caught(task.sendMessage("more"))).toMatchObject({ name: "SendOutcomeUnknownError" });
  });

  test("another card is told before a refusal that the task does not explain", async () => {
    const { agent, task } = await outdated(-32602, "TASK_STATE_WORKING");
    agent.rotateCard((card) => ({ ...card, description: "another" }), { before: "card", nth: 2 });
    expect(await caught(task.sendMessage("more"))).toMatchObject({ name: "CardDriftError" });
  });

  test("an answer that was refused leaves the question open", async () => {
    for (const reply of [answer.http(429), answer.error(-32602, "no"), answer.refuse()]) {
      const { agent, connect, inTime } = setUp(noStreams);
      agent.planNext([step.inputRequired("Which region?")]);
      const client = await connect();
      const first = await client.delegate("hello");
      if (first.status !== "input-required") expect.fail(first.status);
      agent.on("SendMessage", reply);
      await inTime(caught(first.reply("EU")));
      agent.off("SendMessage");
      const task = await client.task("task-1");

      expect(await inTime(task.result({ deadlineMs: 60_000 }))).toMatchObject({ status: "input-required" });
      expect(await inTime(first.reply("EU"))).toMatchObject({ status: "completed" });
    }
  });

  test("an answer whose outcome is unknown is no open question", async () => {
    const { agent, connect, inTime } = setUp(noStreams);
    agent.planNext([step.inputRequired("Which region?"), step.completed()]);
    const client = await connect();
    const first = await client.delegate("hello");
    if (first.status !== "input-required") expect.fail(first.status);
    agent.once("SendMessage", answer.reset());
    await caught(first.reply({ messageId: "m-2", parts: [{ text: "EU" }] }));
    const task = await client.task("task-1");
    const waiting = task.result();
    agent.step(task.id);

    expect(await inTime(waiting)).toMatchObject({ status: "completed" });
  });
});

describe("E10: cancelling", () => {
  test.each([
    "TASK_STATE_WORKING",
    "TASK_STATE_INPUT_REQUIRED",
    "TASK_STATE_AUTH_REQUIRED",
    "TASK_STATE_SUBMITTED",
  ])("a yes that leaves the task in %s is not confirmed, and can be asked again", async (state) => {
    const { agent, connect, inTime, expectQuiet } = setUp();
    agent.planNext([step.working(), step.hold()]);
    const client = await connect({ cancelConfirmMs: 8_000 });
    const task = taskOf(await client.sendMessage("hello"));
    const lie = () => answer.result({ id: task.id, contextId: task.contextId, status: { state } });
    agent.on("CancelTask", lie);
    agent.on("GetTask", lie);

    expect(await caught(inTime(task.cancel()), CancelNotConfirmedError)).toMatchObject({
      state,
      retry: "safe",
    });
    expect(agent.calls("GetTask").length).toBeGreaterThanOrEqual(5);
    agent.off("CancelTask");
    agent.off("GetTask");
    await inTime(task.cancel());
    await task.cancel();
    expect(task.state).toBe("TASK_STATE_CANCELED");
    expect(agent.calls("CancelTask")).toHaveLength(2);
    await expectQuiet();
  });

  test.each(["COMPLETED", "FAILED", "REJECTED"])(
    "a task that is %s already says so, also twice",
    async (end) => {
      const { agent, connect } = setUp();
      agent.planNext([step.status(`TASK_STATE_${end}`, { timestamp: false })]);
      const task = taskOf(await (await connect()).sendMessage("hello"));
      await task.get();
      for (const _ of [1, 2]) {
        expect(await caught(task.cancel())).toMatchObject({
          name: "TaskNotCancelableError",
          task: { status: { state: `TASK_STATE_${end}` } },
        });
      }
      expect(task.state).toBe(`TASK_STATE_${end}`);
    },
  );

  test("an answer that a faster stream has overtaken breaks nothing", async () => {
    const { agent, clock, connect, inTime } = setUp();
    agent.planNext([step.working(), step.hold()]);
    agent.configure({ timestamps: false });
    const task = taskOf(await (await connect()).sendMessage("hello"));
    const events = all(await task.subscribe());
    agent.once("CancelTask", ({ params, tasks }) => {
      const before = tasks.get(params.id);
      agent.step(task.id, step.canceled());
      return answer.delay(1_000, answer.result(before));
    });
    const cancelling = task.cancel();
    await clock.advance(500);
    expect(task.state).toBe("TASK_STATE_CANCELED");

    expect(await inTime(cancelling)).toBe(task);
    await events;
  });
});

describe("E12, K3: waiting", () => {
  test("for a task that works for ever says for how long it stood still, and how it was looked at", async () => {
    const { agent, connect, inTime, expectQuiet } = setUp(noStreams);
    const timestamp = "2026-01-01T00:00:00.000Z";
    agent.on(
      "GetTask",
      answer.result({ ...wireTask("x"), status: { state: "TASK_STATE_WORKING", timestamp } }),
    );
    const task = await (await connect()).getTask({ id: "t1" });
    agent.clearTranscript();
    const error = await caught(inTime(task.result({ noProgressMs: 180_000 })), TimeoutError);

    expect(agent.calls("GetTask").length).toBeGreaterThan(8);
    expect(error).toMatchObject({
      budget: "no-progress",
      standstill: { unchangedMs: 180_000, observedBy: "poll", state: "TASK_STATE_WORKING" },
    });
    expect(error.message).toContain("180000");
    expect(agent.calls("CancelTask")).toEqual([]);
    await expectQuiet();
  });

  test("is begun anew by every step that the task takes", async () => {
    const { agent, clock, connect } = setUp(noStreams);
    agent.planNext([
      step.working("1"),
      step.wait(50_000),
      step.working("2"),
      step.wait(50_000),
      step.completed(),
    ]);
    const task = taskOf(await (await connect()).sendMessage("hello"));
    const waiting = task.result({ noProgressMs: 80_000 });
    await clock.advance(200_000);

    expect(await waiting).toMatchObject({ status: "completed" });
  });

  test("E19: a blocking send that is answered too early is a deviation, and the wait goes on", async () => {
    const { agent, connect, inTime, expectQuiet } = setUp(noStreams);
    agent.on("SendMessage", answer.result({ task: wireTask("TASK_STATE_WORKING") }));
    agent.once(
      "GetTask",
      answer.result(wireTask("TASK_STATE_WORKING")),
      answer.result(wireTask("TASK_STATE_WORKING")),
      answer.result(wireTask("TASK_STATE_COMPLETED")),
    );
    const task = taskOf(await (await connect()).sendMessage("hello", { blocking: true }));
    expect(kindsOf(task)).toContain("blocking-returned-early");

    expect(await inTime(task.result())).toMatchObject({ status: "completed" });
    expect(agent.calls("GetTask")).toHaveLength(3);
    await expectQuiet();
  });

  test.each([
    ["a question", [step.inputRequired("Which region?")], { blocking: true }],
    ["an end", [step.completed()], { blocking: true }],
    ["work, where the send does not block", [step.working(), step.hold()], {}],
  ] as const)("E19: %s is no early answer", async (_what, steps, options) => {
    const { agent, connect } = setUp();
    agent.planNext(steps);
    const task = taskOf(await (await connect()).sendMessage("hello", options));
    expect(kindsOf(task)).toEqual([]);
  });

  test.each([
    ["a cut stream", {}, "completed"],
    ["no streams", noStreams, "completed"],
  ])("comes to the end over %s", async (_what, options, status) => {
    const { agent, clock, connect, expectQuiet } = setUp(options);
    agent.planNext([step.working(), step.hold(), step.artifact("a", "42"), step.completed()]);
    const task = taskOf(await (await connect()).sendMessage("hello"));
    const waiting = task.result();
    await clock.advance(2_000);
    agent.endStreams("close");
    agent.step(task.id);
    await clock.advance(20_000);

    expect(await waiting).toMatchObject({ status, text: "42" });
    await expectQuiet();
  });

  test("for a sign-in takes as long as it takes, also from an agent that ends its streams meanwhile", async () => {
    const { agent, clock, connect, expectQuiet } = setUp({ endStreamsOnQuestion: true });
    agent.on("SubscribeToTask", ({ tasks, params }) => {
      const isWaiting = tasks.get(params.id)?.status.state === "TASK_STATE_AUTH_REQUIRED";
      return isWaiting ? answer.honest({ endAfterEvents: 1, end: "close" }) : undefined;
    });
    agent.planNext([step.working(), step.authRequired("Sign in"), step.completed()]);
    const task = taskOf(await (await connect()).sendMessage("hello"));
    const following = all(task.follow());
    const waiting = task.result({ until: "terminal" });
    await clock.advance(600_000);
    agent.step(task.id);
    await clock.advance(60_000);

    expect(await waiting).toMatchObject({ status: "completed" });
    expect((await following).at(-1)).toMatchObject({
      kind: "status",
      status: { state: "TASK_STATE_COMPLETED" },
    });
    await expectQuiet();
  });
});

test("K3: a message as the whole answer to a live task is told, and the task is waited for all the same", async () => {
  const { agent, connect, inTime, expectQuiet } = setUp();
  agent.planNext([step.inputRequired("Which region?"), step.hold(), step.completed()]);
  const client = await connect();
  const first = await client.delegate("hello");
  agent.once("SendStreamingMessage", answer.acceptThen(answer.stream([event.message("noted")])));
  const stream = await client.sendStreamingMessage({ taskId: "task-1", parts: [{ text: "EU" }] });

  expect((await all(stream)).map((item) => Object.keys(item)[0])).toEqual(["message"]);
  expect(stream.task?.state).toBe("TASK_STATE_WORKING");
  agent.step("task-1");
  expect(await inTime((stream.task as TaskHandle).result())).toMatchObject({ status: "completed" });
  expect(first.status).toBe("input-required");
  await expectQuiet();
});

test("K3: work that is delegated to a live task is waited for, also when a message is the first answer", async () => {
  const { agent, connect, inTime, expectQuiet } = setUp();
  agent.planNext([step.inputRequired("Which region?"), step.wait(5_000), step.completed()]);
  const client = await connect();
  await client.delegate("hello");
  agent.once("SendStreamingMessage", answer.acceptThen(answer.stream([event.message("noted")])));

  const outcome = await inTime(client.delegate({ taskId: "task-1", parts: [{ text: "EU" }] }));

  expect(outcome).toMatchObject({ status: "completed", task: { id: "task-1" } });
  await expectQuiet();
});

describe("E21: a task that is not there", () => {
  const notFound = answer.error(-32001, "x");
  test.each([
    ["read", (task: TaskHandle) => task.get()],
    ["subscribed to", (task: TaskHandle) => task.subscribe()],
    ["cancelled", (task: TaskHandle) => task.cancel()],
    ["waited for", (task: TaskHandle) => task.result()],
    ["followed", (task: TaskHandle) => all(task.follow())],
    ["written to", (task: TaskHandle) => task.sendMessage("more")],
  ])("throws when it is %s, and never comes to nothing", async (_how, use) => {
    for (const options of [{}, noStreams]) {
      const { agent, connect } = setUp(options);
      const task = await (await connect()).task("t1");
      agent.on("call", notFound);
      if (options === noStreams && use.toString().includes("subscribe")) continue;
      expect(await caught(use(task))).toBeInstanceOf(TaskNotFoundError);

      const known = setUp(options);
      put(known.agent, "TASK_STATE_WORKING");
      const seen = await (await known.connect()).getTask({ id: "t1" });
      known.agent.tasks.forget("t1");
      expect(await caught(use(seen))).toBeInstanceOf(TaskForgottenError);
    }
  });
});
