import { createClient, LifecycleMismatchError, LifecycleNotTrustedError, type TaskHandle } from "a2a-lease";
import { answer, createScriptedAgent, createTestCard, createTestClock, event, step } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "./caught.ts";

function setUp(options: Parameters<typeof createScriptedAgent>[0] = {}) {
  const clock = createTestClock();
  const agent = createScriptedAgent({ clock, ...options });
  const connect = (more = {}) =>
    createClient(agent.url, { fetch: agent.fetch, clock, random: Math.random, ...more });
  /** Waits for something while the clock moves on. */
  async function inTime<T>(waiting: Promise<T>): Promise<T> {
    let isDone = false;
    waiting.then(
      () => {
        isDone = true;
      },
      () => {
        isDone = true;
      },
    );
    for (let round = 0; round < 300 && !isDone; round++) await clock.advance(500);
    return waiting;
  }
  return { clock, agent, connect, inTime };
}

const claiming = createTestCard({
  capabilities: { streaming: true, stateTransitionHistory: true } as never,
});

describe("a probe", () => {
  test("earns an honest agent its trust, with every check told", async () => {
    const { agent, clock, connect, inTime } = setUp();
    const client = await connect();
    expect(client.trust).toEqual({ level: "card-trusted", record: undefined });
    const steps: string[] = [];

    const report = await inTime(
      client.probe({ message: "ping", onProgress: ({ step: name }) => steps.push(name) }),
    );

    expect(report).toMatchObject({
      passed: true,
      promoted: true,
      obstacles: [],
      capabilities: ["streaming"],
    });
    expect(report.checks.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual([
      "known-state passed",
      "terminal-is-final passed",
      "single-terminal passed",
      "timestamp-present passed",
      "timestamp-monotonic passed",
      "history-progress not-run",
      "progress passed",
      "identity passed",
      "reaches-terminal passed",
      "history-grows not-run",
      "answered passed",
      "streaming-emits passed",
      "stream-shape passed",
      "artifact-order passed",
      "unknown-task passed",
      "push-calls-back not-run",
    ]);
    expect(client.trust).toMatchObject({ level: "lifecycle-trusted", record: { digest: client.pin.digest } });
    expect(steps.slice(0, 2)).toEqual(["send", "stream"]);
    expect(String(report)).toContain("unknown-task         ok      TaskNotFoundError");
    expect(JSON.parse(JSON.stringify(report))).toMatchObject({ passed: true });
    expect(agent.acceptedMessageIds).toHaveLength(1);
    expect(clock.pendingCount).toBe(0);
    expect(agent.openRequestCount).toBe(0);
  });

  test("is survived by a new card, and lost with a new address", async () => {
    const { agent, connect, inTime } = setUp({ rpcPath: ["/rpc", "/b"] });
    const client = await connect();
    await inTime(client.probe({ message: "ping" }));
    agent.rotateCard((card) => ({ ...card, description: "another" }));
    await client.renegotiate();
    expect(client.trust.level).toBe("lifecycle-trusted");
    const moved = [{ url: "https://agent.example/b", protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
    agent.rotateCard((card) => ({ ...card, supportedInterfaces: moved }));
    await client.renegotiate();

    expect(client.trust.level).toBe("card-trusted");
  });

  test("of an interface at another origin earns nothing until the caller allows the origin", async () => {
    const at = (url: string) => ({ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" });
    const { agent, clock, inTime } = setUp({
      card: createTestCard({ supportedInterfaces: [at("https://rpc.example/rpc")] }),
    });
    const fetch: typeof agent.fetch = (input, init) =>
      agent.fetch(String(input).replace("https://rpc.example", agent.url), init);
    const strict = await createClient(agent.url, { fetch, clock });
    const lenient = await createClient(agent.url, { fetch, clock, allowedOrigins: ["https://rpc.example"] });

    const refused = await inTime(strict.probe({ message: "ping" }));
    await inTime(lenient.probe({ message: "ping" }));

    expect(refused).toMatchObject({ passed: true, promoted: false });
    expect(refused.obstacles).toEqual([expect.stringContaining("rpc.example")]);
    expect(lenient.trust.record).toMatchObject({ level: "lifecycle-trusted", originWaived: true });
  });

  test("is what sends wait for where trust is required", async () => {
    const { agent, connect, inTime } = setUp();
    const client = await connect({ trust: "required" });
    agent.clearTranscript();
    expect(await caught(client.sendMessage("hello"))).toBeInstanceOf(LifecycleNotTrustedError);
    expect(agent.transcript).toEqual([]);

    await inTime(client.probe({ message: "ping", capabilities: [] }));

    await expect(client.sendMessage("hello")).resolves.toHaveProperty("task");
    expect(await caught(client.sendStreamingMessage("hello"))).toMatchObject({
      name: "LifecycleNotTrustedError",
      message: expect.stringContaining("streaming"),
    });
  });

  test("that takes too long ends, and earns nothing", async () => {
    const { agent, connect, inTime } = setUp();
    agent.plan([step.working(), step.hold()]);
    const client = await connect();

    expect(await caught(inTime(client.probe({ message: "ping", deadlineMs: 10_000 })))).toMatchObject({
      name: "TimeoutError",
      budget: "deadline",
    });
    expect(client.trust.level).toBe("card-trusted");
  });
});

describe("an agent that claims push, dates nothing at the end and ends twice", () => {
  const ending = { timestamp: false } as const;

  test("is told once, with a deviation, while nothing was earned", async () => {
    const { agent, connect } = setUp();
    agent.planNext([
      step.working(),
      step.status("TASK_STATE_COMPLETED", ending),
      step.status("TASK_STATE_COMPLETED", ending),
    ]);
    const client = await connect();
    const ends: unknown[] = [];
    const stream = await client.sendStreamingMessage("hello");
    for await (const item of stream) {
      if ("statusUpdate" in item && item.statusUpdate.status.state === "TASK_STATE_COMPLETED")
        ends.push(item);
    }
    await stream.task?.get();

    expect(ends).toHaveLength(1);
    expect(stream.task?.deviations).toEqual([
      { kind: "timestamp-present", message: expect.stringContaining("without a timestamp") },
    ]);
  });

  test("is refused its promotion by a probe, with the evidence", async () => {
    const { agent, connect, inTime } = setUp();
    agent.plan([
      step.working(),
      step.status("TASK_STATE_COMPLETED", ending),
      step.status("TASK_STATE_COMPLETED", ending),
    ]);
    const client = await connect();

    const report = await inTime(client.probe({ message: "ping" }));

    expect(report).toMatchObject({ passed: false, promoted: false });
    const failed = report.checks.filter(({ outcome }) => outcome === "failed");
    expect(failed.map(({ name }) => name)).toEqual(["timestamp-present"]);
    expect(failed[0]?.evidence.at(-1)).toMatchObject({ state: "TASK_STATE_COMPLETED" });
    expect(client.trust).toMatchObject({
      level: "card-trusted",
      record: { history: [{ level: "card-trusted" }] },
    });
  });

  test("that had earned trust and starts it loses the trust at once, and only a fresh probe gives it back", async () => {
    const { agent, connect, inTime } = setUp();
    const client = await connect();
    await inTime(client.probe({ message: "ping" }));
    agent.planNext([step.working(), step.status("TASK_STATE_COMPLETED", ending)]);
    const reply = await client.sendMessage("hello");
    if (!("task" in reply)) expect.fail("no task");

    const error = await caught(reply.task.get(), LifecycleMismatchError);

    expect(error).toMatchObject({ rule: "timestamp-present", card: { digest: client.pin.digest } });
    expect(client.trust.level).toBe("card-trusted");
    expect(client.trust.record?.history.map(({ level }) => level)).toEqual([
      "lifecycle-trusted",
      "card-trusted",
    ]);
    await inTime(client.probe({ message: "ping" }));
    expect(client.trust.level).toBe("lifecycle-trusted");
  });
});

describe("an agent that claims history and asks the same thing again and again", () => {
  const ask = (round: number) => ({
    id: "t1",
    contextId: "c1",
    status: {
      state: round % 2 === 1 ? "TASK_STATE_INPUT_REQUIRED" : "TASK_STATE_WORKING",
      timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, round)).toISOString(),
      ...(round % 2 === 1
        ? { message: { messageId: `m-${round}`, role: "ROLE_AGENT", parts: [{ text: "Which region?" }] } }
        : {}),
    },
    history: [{ messageId: "h-1", role: "ROLE_USER", parts: [{ text: "hello" }] }],
  });

  async function poll(
    connected: Awaited<ReturnType<typeof createClient>>,
    agent: ReturnType<typeof createScriptedAgent>,
  ) {
    let round = 0;
    agent.on("GetTask", () => {
      round += 1;
      return answer.result(ask(round));
    });
    const task = await connected.getTask({ id: "t1" });
    for (;;) {
      const error = await task.get().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (error) return { error, round };
      if (round > 20) expect.fail("nothing was noticed");
    }
  }

  test("breaks progress at the third idle round while nothing was earned", async () => {
    const { agent, connect } = setUp({ card: claiming });
    const { error, round } = await poll(await connect(), agent);

    expect(error).toMatchObject({ name: "LifecycleMismatchError", rule: "progress" });
    expect(round).toBe(5);
  });

  test("breaks history-progress at the first round once it was trusted", async () => {
    const { agent, clock, connect, inTime } = setUp({ card: claiming });
    const client = await connect();
    // History is looked at in whole reads only: one while the task works, one after it has said something.
    agent.planNext([step.working(), step.wait(700), step.message("half way"), step.completed()]);
    const report = await inTime(client.probe({ message: "ping", capabilities: ["history"] }));
    expect(report.obstacles).toEqual([]);
    expect(report.capabilities).toEqual(["history"]);
    await clock.advance(0);

    const { error, round } = await poll(client, agent);

    expect(error).toMatchObject({ name: "LifecycleMismatchError", rule: "history-progress" });
    expect(round).toBe(2);
    expect(client.trust.level).toBe("card-trusted");
  });

  test("a second question that is another one breaks nothing", async () => {
    const { agent, connect } = setUp();
    const first = event.status("TASK_STATE_INPUT_REQUIRED", { text: "Which region?" });
    void first;
    agent.planNext([
      step.inputRequired("Which region?"),
      step.inputRequired("Which year?"),
      step.completed(),
    ]);
    const client = await connect();
    const outcome = await client.delegate("hello");
    if (outcome.status !== "input-required") expect.fail(outcome.status);
    const second = await outcome.reply("EU");
    if (second.status !== "input-required") expect.fail(second.status);

    expect((await second.reply("2026")).status).toBe("completed");
  });
});

test("a probe that is answered with a task which was over before fails, also under a card URL with a secret", async () => {
  const cardPath = "/card.json?token=s3cr3t0123456789abcdef";
  const { agent, clock, inTime } = setUp({ cardPath });
  agent.planNext([step.completed("done")]);
  const client = await createClient(`${agent.url}${cardPath}`, { fetch: agent.fetch, clock });
  const { task } = (await client.sendMessage("hello")) as { task: TaskHandle };
  await inTime(task.result());
  agent.on("SendMessage", answer.result({ task: task.task }));
  agent.on("SendStreamingMessage", answer.stream([{ task: task.task }]));

  const report = await inTime(client.probe({ message: "ping" }));

  expect(report.checks).toContainEqual(expect.objectContaining({ name: "answered", outcome: "failed" }));
  expect(report.promoted).toBe(false);
});
