import {
  type A2ALeaseError,
  type ClientOptions,
  createClient,
  type DelegateOptions,
  LifecycleMismatchError,
  TimeoutError,
  toToolResult,
} from "a2a-lease";
import { answer, createScriptedAgent, createTestCard, step } from "a2a-lease/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { taskOf } from "../flow/lifecycle-setup.ts";
import { useLoopback } from "./streams-setup.ts";

const at = useLoopback();
const plan = [step.working(), step.hold(), step.completed()];
const noStreams = createTestCard({ capabilities: {} });

/** Delegates, lets something happen once the agent has the task, and gives what is thrown. */
async function failAfter(what: () => void, options: DelegateOptions = {}, more: ClientOptions = {}) {
  const client = await at.connect(more);
  let isHit = false;
  const onUpdate = () => {
    if (!isHit) what();
    isHit = true;
  };
  const failing = caught<A2ALeaseError>(client.delegate("hello", { maxAttempts: 2, onUpdate, ...options }));
  return at.inTime(failing);
}

describe("what delegate throws once there is a task never says that it may be called again", () => {
  beforeEach(() => at.agent.plan(plan));

  test.each([
    ["the connection", answer.reset(), "CONNECTION", "wait"],
    ["a server that is down", answer.http(503), "HTTP_STATUS", "wait"],
    ["credentials", answer.http(401, "", { "www-authenticate": "Bearer" }), "AUTHENTICATION", "authenticate"],
  ] as const)("by poll: %s", async (_what, reply, code, nextStep) => {
    at.agent.rotateCard(noStreams);
    const error = await failAfter(() => at.agent.on("GetTask", reply));
    expect(error).toMatchObject({ code, retry: "never", nextStep, taskId: "task-1" });
    expect(error.toJSON()).toMatchObject({ code, retry: "never", taskId: "task-1" });
    expect(toToolResult(error)).toMatchObject({ status: "error", nextStep, taskId: "task-1" });
    expect(at.agent.acceptedMessageIds).toHaveLength(1);
  });

  test("by stream, which can't be opened again", async () => {
    const error = await failAfter(() => {
      at.agent.on("SubscribeToTask", answer.reset());
      at.agent.on("GetTask", answer.reset());
      at.agent.endStreams("cut");
    });
    expect(error).toMatchObject({ retry: "never", taskId: "task-1" });
  });

  test("a card that can't be read", async () => {
    at.agent.rotateCard(noStreams);
    const error = await failAfter(() => at.agent.on("card", answer.http(503)));
    expect(error).toMatchObject({ code: "LEASE_UNVERIFIABLE", retry: "never", taskId: "task-1" });
  });

  test.each(["timeoutMs", "deadlineMs", "noProgressMs"] as const)("%s", async (name) => {
    const error = await failAfter(() => {}, { [name]: 5_000 });
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ retry: "never", nextStep: "wait", taskId: "task-1" });
  });

  test("a broken rule", async () => {
    at.agent.plan([step.working(), step.status("TASK_STATE_BORED")]);
    const error = await failAfter(() => {});
    expect(error).toBeInstanceOf(LifecycleMismatchError);
    expect(error).toMatchObject({ retry: "never", taskId: "task-1" });
  });

  test("nor does reply, once the answer has left", async () => {
    at.agent.plan([step.inputRequired("Which?"), step.working(), step.hold()]);
    const outcome = await (await at.connect()).delegate("hello");
    if (outcome.status !== "input-required") expect.fail(outcome.status);
    const from = at.clock.now();
    const error = await at.inTime(caught(outcome.reply("EU", { timeoutMs: 5_000 })));
    expect(at.clock.now() - from).toBe(5_000);
    expect(error).toMatchObject({ code: "TIMEOUT", retry: "never", taskId: "task-1" });
  });

  test("a drift leads to the task, by its own way", async () => {
    const error = await failAfter(() => {
      at.agent.rotateCard((card) => ({ ...card, description: "Something else." }));
      at.agent.endStreams("cut");
    });
    expect(error).toMatchObject({ code: "CARD_DRIFT", retry: "after-renegotiation", taskId: "task-1" });
  });

  test("a send whose outcome is unknown says how long the agent asked to wait", async () => {
    at.agent.on("call", answer.http(503, "", { "retry-after": "2" }));
    const error = await caught<A2ALeaseError>((await at.connect()).delegate("hello"));
    expect(error).toMatchObject({ code: "SEND_OUTCOME_UNKNOWN", retryAfterMs: 2_000 });
  });

  test("before there is one, an error says that itself", async () => {
    at.agent.on("call", answer.http(429));
    const error = await caught<A2ALeaseError>((await at.connect()).delegate("hello"));
    expect(error).toMatchObject({ code: "HTTP_STATUS", retry: "safe" });
    expect(error.taskId).toBeUndefined();
  });
});

describe("what a wait throws names its task, and may be tried again", () => {
  test.each(["result", "follow", "get", "subscribe"] as const)("%s", async (name) => {
    at.agent.plan(plan);
    const task = taskOf(await (await at.connect()).sendMessage("hello"));
    at.agent.on("SubscribeToTask", answer.reset());
    at.agent.on("GetTask", answer.reset());
    const calls = {
      result: () => task.result({ maxAttempts: 2 }),
      get: () => task.get(),
      subscribe: () => task.subscribe(),
      async follow() {
        for await (const _update of task.follow({ maxAttempts: 2 })) {
          // Nothing is looked at.
        }
      },
    };
    const error = await at.inTime(caught(calls[name]()));
    expect(error).toMatchObject({ code: "CONNECTION", retry: "safe", taskId: task.id });
  });

  test("what the caller aborts with is left as it is, also an error of this library", async () => {
    at.agent.plan(plan);
    const reason = new TimeoutError("https://mine.example", "total", 1);
    const leaving = new AbortController();
    const client = await at.connect();
    const onUpdate = () => leaving.abort(reason);
    expect(await caught(client.delegate("hello", { signal: leaving.signal, onUpdate }))).toBe(reason);
    expect(reason).toMatchObject({ retry: "safe" });
    expect(reason.taskId).toBeUndefined();
  });
});

test("a card that can't be reached says why", async () => {
  const gone = await createScriptedAgent().listen();
  await gone.close();
  await expect(createClient(gone.url)).rejects.toThrow(/no answer: .*ECONNREFUSED/);
});
