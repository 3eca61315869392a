import { type A2AClient, LifecycleMismatchError, type LifecycleRule } from "a2a-lease";
import { answer, createTestCard, event, type ScriptedAgent } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { type WireRule, wireTraces } from "../lifecycle/wire-traces.ts";
import { caught } from "./caught.ts";
import { delegated, type Offence, offences } from "./lifecycle-offences.ts";
import { all, kindsOf, setUp } from "./lifecycle-setup.ts";

/** Valid, truthful about every feature, and with a signature on it. */
const card = createTestCard({
  capabilities: { streaming: true, stateTransitionHistory: true } as never,
  signatures: [{ protected: "eyJhbGciOiJFUzI1NiIsImtpZCI6ImsxIn0", signature: "c2lnbmF0dXJl" }],
} as never);

const rows = Object.entries(offences) as [LifecycleRule, Offence][];

/** An honest agent's probe, with a history that is seen to grow. */
const earn = async (
  agent: ScriptedAgent,
  client: A2AClient,
  inTime: <T>(waiting: Promise<T>) => Promise<T>,
) => {
  const { step } = await import("a2a-lease/testing");
  agent.planNext([step.working(), step.wait(700), step.message("half way"), step.completed()]);
  await inTime(client.probe({ message: "ping", capabilities: ["history"] }));
  expect(client.trust.level).toBe("lifecycle-trusted");
};

describe.each(rows)("a good card over an endpoint that breaks %s", (rule, offence) => {
  test("is discovered, and is refused its promotion with the evidence", async () => {
    const { agent, connect, inTime } = setUp({ card });
    const client = await connect();
    await offence.before?.(agent, client);
    offence.begin(agent);

    const report = await inTime(client.probe({ message: "ping", capabilities: ["streaming", "history"] }));

    const failed = report.checks.filter(({ outcome }) => outcome === "failed");
    expect(failed.map(({ name }) => name).sort()).toEqual([rule, ...(offence.alsoFails ?? [])].sort());
    expect(failed.find(({ name }) => name === rule)).toMatchObject({
      detail: expect.stringMatching(/^found .*, wanted /),
      evidence: expect.arrayContaining([expect.objectContaining({ taskId: expect.any(String) })]),
    });
    expect(report).toMatchObject({ passed: false, promoted: false });
    expect(report.obstacles.join()).toContain(rule);
    expect(client.trust.level).toBe("card-trusted");
    expect(client.card.name).toBe(card.name);
  });

  test("loses the trust that it had earned at once, with the reason, and its work is stopped", async () => {
    const { agent, connect, inTime, expectQuiet } = setUp({ card });
    const client = await connect();
    await earn(agent, client, inTime);
    await offence.before?.(agent, client);
    offence.begin(agent);
    agent.off("GetTask");

    const error = await caught(inTime((offence.work ?? delegated)(client, agent)), LifecycleMismatchError);

    expect(error).toMatchObject({
      rule,
      card: { digest: client.pin.digest, version: card.version },
      retry: "never",
      taskId: "t1",
    });
    expect(client.trust.level).toBe("card-trusted");
    expect(client.trust.record?.history.at(-1)).toMatchObject({
      level: "card-trusted",
      reason: expect.stringContaining(rule),
    });
    await expectQuiet();
  });

  test("is reported, and the work goes on, where rules are only observed", async () => {
    const { agent, connect, inTime, expectQuiet } = setUp({ card });
    const client = await connect({ lifecycle: "observe" });
    await earn(agent, client, inTime);
    await offence.before?.(agent, client);
    offence.begin(agent);
    agent.off("GetTask");
    const told: string[] = [];
    client.on("deviation", ({ deviation }) => told.push(deviation.kind));

    const outcome = await inTime((offence.work ?? delegated)(client, agent));

    expect(outcome).toMatchObject({ status: "completed", task: { id: "t1", contextId: "c1" } });
    expect(told).toContain(rule);
    expect(kindsOf(await client.task("t1"))).toContain(rule);
    expect(client.trust.level).toBe("card-trusted");
    await expectQuiet();
  });
});

describe.each(Object.entries(wireTraces) as [WireRule, (typeof wireTraces)[WireRule]][])(
  "the rule %s of a stream",
  (rule, { breaking, legal }) => {
    test.each(Object.entries(breaking))(
      "is broken by %s, which is delivered to nobody",
      async (_what, items) => {
        const { agent, connect, inTime } = setUp();
        agent.on("SendStreamingMessage", answer.stream(items));
        const client = await connect();
        const seen: unknown[] = [];
        const reading = async () => {
          for await (const item of await client.sendStreamingMessage("hello")) seen.push(item);
        };

        const error = await caught(inTime(reading()), LifecycleMismatchError);

        expect(error.rule).toBe(rule);
        expect(seen).toHaveLength(items.length - 1);
        expect(client.trust.level).toBe("card-trusted");
      },
    );

    test.each(Object.entries(breaking))("stops work that was delegated, by %s", async (_what, items) => {
      const { agent, connect, inTime } = setUp();
      agent.on("SendStreamingMessage", answer.stream(items));
      const client = await connect();

      expect(await caught(inTime(client.delegate("hello")))).toMatchObject({
        name: "LifecycleMismatchError",
        rule,
      });
    });

    test("is kept by a stream that only looks like breaking it", async () => {
      const { agent, connect, inTime } = setUp();
      agent.on("SendStreamingMessage", answer.stream(legal));
      const client = await connect();
      const stream = await client.sendStreamingMessage("hello");

      const events = await inTime(all(stream));

      // A task that is shown once more, with nothing new, is no news.
      const repeated = rule === "stream-shape" ? 1 : 0;
      expect(events).toHaveLength(legal.length - repeated);
      expect(kindsOf(stream.task)).toEqual([]);
    });
  },
);

test("a piece that is out of order is not in the artifact", async () => {
  const { agent, connect } = setUp();
  const items = wireTraces["artifact-order"].breaking["an append after the last piece"] ?? [];
  agent.on("SendStreamingMessage", answer.stream(items));
  const client = await connect();
  const stream = await client.sendStreamingMessage("hello");
  await caught(all(stream), LifecycleMismatchError);

  expect(stream.task?.artifacts).toEqual([{ artifactId: "a", parts: [{ text: "42" }] }]);
});

test("a message in place of a task is delivered at once, from an agent that keeps the stream open too", async () => {
  const { agent, connect, inTime, expectQuiet } = setUp();
  agent.on("SendStreamingMessage", answer.stream([event.message("just so")], { end: "silence" }));
  const client = await connect();
  const events = (await client.sendStreamingMessage("hello"))[Symbol.asyncIterator]();

  expect(await events.next()).toMatchObject({ value: { message: { parts: [{ text: "just so" }] } } });
  expect(await inTime(events.next())).toMatchObject({ done: true });
  expect(await inTime(client.delegate("hello"))).toMatchObject({ status: "answered", text: "just so" });
  await expectQuiet();
});

test("a stream that is closed in the middle of a reading leaves nothing behind", async () => {
  for (const first of [event.task("TASK_STATE_WORKING"), event.message("just so")]) {
    const { agent, connect, expectQuiet } = setUp();
    agent.on("SendStreamingMessage", answer.stream([first], { end: "silence" }));
    const stream = await (await connect()).sendStreamingMessage("hello");
    await stream[Symbol.asyncIterator]().next();
    stream.close();

    await expectQuiet();
  }
});

test("a caller who gives up after a message in place of a task leaves nothing behind", async () => {
  const { agent, connect, expectQuiet } = setUp();
  agent.on("SendStreamingMessage", answer.stream([event.message("just so")], { end: "silence" }));
  const client = await connect();
  const caller = new AbortController();
  const { signal } = caller;
  const events = (await client.sendStreamingMessage("hello", { signal }))[Symbol.asyncIterator]();
  await events.next();
  caller.abort(new RangeError("mine"));

  await expectQuiet();
});

describe("what belongs to another task", () => {
  const foreign = { taskId: "t2", timestamp: "2027-01-01T00:00:03.000Z" };
  test.each([
    ["a status", event.status("TASK_STATE_FAILED", foreign)],
    ["a whole task", event.task("TASK_STATE_FAILED", foreign)],
    ["an artifact", event.artifact("a", "42", { taskId: "t2" })],
    ["a message", event.message("hear, hear", { taskId: "t2" })],
    ["an artifact of another context", event.artifact("a", "42", { contextId: "c2" })],
    ["a message of another context", event.message("hear, hear", { taskId: "t1", contextId: "c2" })],
  ])("is dropped where rules are only observed: %s", async (_what, item) => {
    const { agent, connect } = setUp();
    agent.on(
      "SendStreamingMessage",
      answer.stream([event.task("TASK_STATE_WORKING"), item, event.status("TASK_STATE_COMPLETED")]),
    );
    const client = await connect({ lifecycle: "observe" });
    const stream = await client.sendStreamingMessage("hello");

    expect((await all(stream)).map((found) => Object.keys(found)[0])).toEqual(["task", "statusUpdate"]);
    expect(stream.task).toMatchObject({
      id: "t1",
      contextId: "c1",
      artifacts: [],
      state: "TASK_STATE_COMPLETED",
    });
    expect(kindsOf(stream.task)).toContain("identity");
  });
});
