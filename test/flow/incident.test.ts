import { type AgentCard, CardDriftError, createClient, InvalidParamsError, type TaskHandle } from "a2a-lease";
import {
  type AgentListener,
  answer,
  createTestCard,
  createTestClock,
  type ScriptedAgent,
  step,
  type TestClock,
} from "a2a-lease/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { agentOver, bothBindings, cardOver } from "./over.ts";

const rotationMs = 40_000;
const bearerScheme = { httpAuthSecurityScheme: { scheme: "Bearer" } };
const oauthScheme = {
  oauth2SecurityScheme: {
    flows: { clientCredentials: { tokenUrl: "https://auth.example/token", scopes: { tasks: "Run tasks" } } },
  },
};
const [summarize] = createTestCard().skills;
const translate = {
  id: "translate",
  name: "Translate",
  description: "Puts a text into another language",
  tags: [],
};

const planned = createTestCard({
  capabilities: { streaming: true },
  securitySchemes: { agentAuth: bearerScheme },
  securityRequirements: [{ schemes: { agentAuth: { list: [] } } }],
});
const rotated = {
  ...planned,
  capabilities: { streaming: false },
  skills: [...(summarize ? [summarize] : []), translate],
  securitySchemes: { agentAuth: oauthScheme },
  securityRequirements: [{ schemes: { agentAuth: { list: ["tasks"] } } }],
} as AgentCard;

describe.each(bothBindings)("a card that rotates in the middle of a task, over real HTTP, %s", (binding) => {
  let clock: TestClock;
  let agent: ScriptedAgent;
  let listener: AgentListener;

  beforeEach(async () => {
    clock = createTestClock();
    agent = agentOver(binding, { clock, card: planned, bearer: "s3cret-token" });
    listener = await agent.listen();
    agent.rotateCard(cardOver(binding, rotated), { atMs: clock.now() + rotationMs });
  });

  afterEach(async () => {
    await vi.waitUntil(() => listener.openSocketCount === 0);
    expect(agent.openRequestCount).toBe(0);
    expect(clock.pendingCount).toBe(0);
    await listener.close();
  });

  const connect = () =>
    createClient(listener.url, {
      clock,
      credentials: { bearer: "s3cret-token" },
      requires: { skills: ["summarize"], streaming: true },
    });

  /** Starts a task under the first card, then lets the card rotate. */
  async function startThenRotate(): Promise<TaskHandle> {
    agent.planNext([step.working(), step.hold(), step.inputRequired("Translate into which language?")]);
    const client = await connect();
    const reply = await client.sendMessage("Summarise the report");
    if (!("task" in reply)) expect.fail("the agent answered without a task");
    await reply.task.get();
    await clock.advance(rotationMs);
    agent.clearTranscript();
    return reply.task;
  }

  test("a streaming send is refused before anything leaves, without time passing", async () => {
    const client = await connect();
    await clock.advance(rotationMs);

    const error = await client.sendStreamingMessage("Summarise the report").catch((caught) => caught);

    expect(error).toBeInstanceOf(CardDriftError);
    expect(error.reason).toBe("security-changed");
    expect(error.drift.breaks).toEqual([{ requirement: "streaming", wanted: true, offered: false }]);
    expect(
      error.drift.changes.map(({ kind, pointer, impact }: never) => ({ kind, pointer, impact })),
    ).toEqual([
      { kind: "capability-lost", pointer: "/capabilities/streaming", impact: "breaking" },
      { kind: "skill-added", pointer: "/skills/1", impact: "additive" },
      { kind: "security-changed", pointer: "/securitySchemes/agentAuth", impact: "security" },
      { kind: "security-changed", pointer: "/securityRequirements", impact: "security" },
    ]);
    expect(agent.calls()).toEqual([]);
    expect(agent.acceptedMessageIds).toEqual([]);
  });

  test("after a drifted send every send throws the same error without a request, until the client renegotiates", async () => {
    const client = await connect();
    await clock.advance(rotationMs);
    const first = await client.sendMessage("one").catch((caught) => caught);
    agent.clearTranscript();

    const second = await client.sendMessage("two").catch((caught) => caught);
    const third = await client.sendStreamingMessage("three").catch((caught) => caught);

    expect(second).toBe(first);
    expect(third).toBe(first);
    expect(agent.transcript).toEqual([]);
    const renegotiated = await client.renegotiate({ requires: { skills: ["translate"] } });
    const reply = await renegotiated.sendMessage("four");
    expect(reply).toHaveProperty("task");
    expect(agent.acceptedMessageIds).toHaveLength(1);
  });

  test("renegotiation refuses a live card that no longer meets the plan", async () => {
    const client = await connect();
    await clock.advance(rotationMs);
    const drift = await client.sendMessage("one").catch((caught) => caught);

    await expect(drift.renegotiate()).rejects.toMatchObject({
      name: "RequirementUnmetError",
      unmet: [{ requirement: "streaming", wanted: true, offered: false }],
    });
    await expect(client.sendMessage("two")).rejects.toBe(drift);
  });

  test("a subscription to a task that began before the rotation rejects with the drift", async () => {
    const task = await startThenRotate();

    await expect(task.subscribe()).rejects.toMatchObject({
      name: "CardDriftError",
      reason: "security-changed",
      taskId: task.id,
      drift: { phase: { operation: "SubscribeToTask", check: "alongside" } },
    });
    expect(task.signal.aborted).toBe(true);
    expect(task.signal.reason).toBeInstanceOf(CardDriftError);
  });

  test("a read that would reveal a question that no plan knows rejects, and the question stays out of reach", async () => {
    const task = await startThenRotate();
    agent.step(task.id);

    const error = await task.get().catch((caught) => caught);

    expect(error).toBeInstanceOf(CardDriftError);
    expect(task.state).toBe("TASK_STATE_WORKING");
    expect(JSON.stringify([task, error])).not.toContain("which language");
    const before = agent.transcript.length;
    await expect(task.get()).rejects.toBe(error);
    await expect(task.subscribe()).rejects.toBe(error);
    await expect(task.sendMessage("German")).rejects.toBe(error);
    expect(agent.transcript).toHaveLength(before);
  });

  test("a drifted handle can still be cancelled", async () => {
    const task = await startThenRotate();
    await task.get().catch(() => {});

    await task.cancel();

    expect(task.state).toBe("TASK_STATE_CANCELED");
    expect(agent.calls("CancelTask")).toHaveLength(1);
  });

  test("a drifted handle salvages its last state once, marked as unleased and not taken over", async () => {
    const task = await startThenRotate();
    agent.step(task.id);
    await task.get().catch(() => {});
    agent.clearTranscript();

    const salvaged = await task.salvage();

    expect(salvaged).toMatchObject({
      unleased: true,
      task: { id: task.id, status: { state: "TASK_STATE_INPUT_REQUIRED" } },
    });
    expect(task.state).toBe("TASK_STATE_WORKING");
    expect(agent.transcript.map(({ kind, operation }) => ({ kind, operation }))).toEqual([
      { kind: "call", operation: "GetTask" },
    ]);
  });

  test("renegotiating a handle gives another one, pinned to the live card, and leaves the old one over", async () => {
    const task = await startThenRotate();
    agent.step(task.id);
    const drift = await task.get().catch((caught) => caught);

    const renewed = await task.renegotiate({ requires: { skills: ["translate"] } });
    await renewed.get();

    expect(renewed).not.toBe(task);
    expect(renewed.pin.digest).toBe(drift.drift.live.digest);
    expect(renewed.state).toBe("TASK_STATE_INPUT_REQUIRED");
    await expect(task.get()).rejects.toBe(drift);
    expect(renewed.toJSON().formerPins).toMatchObject([{ digest: task.pin.digest }]);
  });
});

describe.each(bothBindings)("a refusal that a changed card would explain, over %s,", (binding) => {
  const scheme = { code: -32602, message: "scheme bearer is not accepted" };

  async function connect(agent: ScriptedAgent, clock: TestClock) {
    const client = await createClient(agent.url, { fetch: agent.fetch, clock });
    agent.once("SendMessage", answer.error(scheme.code, scheme.message));
    agent.clearTranscript();
    return client;
  }

  test("is the cause of the drift when the card changed: one request, one full card read, no retry", async () => {
    const clock = createTestClock();
    const agent = agentOver(binding, { clock });
    const client = await connect(agent, clock);
    agent.rotateCard(cardOver(binding, createTestCard({ securitySchemes: { agentAuth: oauthScheme } })), {
      before: "card",
      nth: 2,
    });

    const error = await client.sendMessage("hello").catch((caught) => caught);

    expect(error).toBeInstanceOf(CardDriftError);
    expect(error.cause).toBeInstanceOf(InvalidParamsError);
    expect(error.reason).toBe("security-changed");
    expect(error.drift.phase).toEqual({ operation: "SendMessage", check: "forced" });
    expect(agent.transcript.map(({ kind, operation, forced }) => operation ?? `${kind} ${forced}`)).toEqual([
      "card false",
      "SendMessage",
      "card true",
    ]);
    expect(clock.pendingCount).toBe(0);
  });

  test("is thrown as itself, never to be retried, when the card did not change", async () => {
    const clock = createTestClock();
    const agent = agentOver(binding, { clock });
    const client = await connect(agent, clock);

    const error = await client.sendMessage("hello").catch((caught) => caught);

    expect(error).toBeInstanceOf(InvalidParamsError);
    expect(error.retry).toBe("never");
    expect(agent.calls("SendMessage")).toHaveLength(1);
    expect(agent.cardReads().filter(({ forced }) => forced)).toHaveLength(1);
  });
});
