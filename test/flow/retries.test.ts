import {
  CardDriftError,
  ConnectionError,
  createClient,
  GatewayError,
  HttpStatusError,
  LeaseUnverifiableError,
  type RetryEvent,
  SendOutcomeUnknownError,
  TimeoutError,
} from "a2a-lease";
import { answer, createScriptedAgent, createTestClock, step } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "./caught.ts";
import { driven } from "./driven.ts";

async function setUp(options: Parameters<typeof createClient>[1] = {}) {
  const clock = createTestClock();
  const agent = createScriptedAgent({ clock, plan: [step.working()] });
  const connect = (more: typeof options = {}) =>
    createClient(agent.url, { fetch: agent.fetch, clock, random: () => 0.5, ...options, ...more });
  const client = await connect();
  const reply = await client.sendMessage("hello");
  if (!("task" in reply)) expect.fail("no task");
  const events: RetryEvent[] = [];
  client.on("retry", (event) => void events.push(event));
  // An agent that lists no tasks leaves a lost message lost.
  agent.on("ListTasks", answer.error(-32601, "no such method"));
  agent.clearTranscript();
  return { clock, agent, client, connect, task: reply.task, events };
}

const passing = [408, 425, 429, 502, 503, 504];
const definite = [400, 403, 404, 405, 409, 410, 413, 418, 500, 501, 505];

describe("a read", () => {
  test.each(passing)(
    "that is answered HTTP %i is made again, and its answer is the call's",
    async (status) => {
      const { clock, agent, task, events } = await setUp();
      agent.once("GetTask", answer.http(status), answer.http(status));

      await driven(clock, task.get());

      expect(agent.calls("GetTask")).toHaveLength(3);
      expect(events).toMatchObject([
        { operation: "GetTask", code: "HTTP_STATUS", with: "time", waitMs: 125 },
        { operation: "GetTask", code: "HTTP_STATUS", with: "time", waitMs: 250 },
      ]);
    },
  );

  test.each(passing)(
    "that is answered HTTP %i every time is made three times, and says so",
    async (status) => {
      const { clock, agent, task } = await setUp();
      agent.on("GetTask", answer.http(status));

      const error = await driven(clock, caught(task.get(), HttpStatusError));

      expect(error).toMatchObject({ status, retries: { attemptCount: 3, refused: "attempts" } });
      expect(error.toJSON()).toMatchObject({ retries: { attemptCount: 3, refused: "attempts" } });
      expect(agent.calls("GetTask")).toHaveLength(3);
    },
  );

  test.each(definite)("that is answered HTTP %i is not made again", async (status) => {
    const { clock, agent, task } = await setUp();
    agent.on("GetTask", answer.http(status));

    const error = await driven(clock, caught(task.get()));

    expect(error).toMatchObject({ retries: undefined });
    expect(agent.calls("GetTask")).toHaveLength(1);
  });

  test.each([-32700, -32600, -32601, -32602, -32603, -32001, -32004, -32006, -32009, -32050])(
    "that is answered with code %i is not made again",
    async (code) => {
      const { clock, agent, task } = await setUp();
      agent.on("GetTask", answer.error(code, "no"));

      await driven(clock, caught(task.get()));

      expect(agent.calls("GetTask")).toHaveLength(1);
    },
  );

  test.each([502, 503, 429])("that a gateway answers with code %i is made again", async (code) => {
    const { clock, agent, task } = await setUp();
    agent.on("GetTask", answer.error(code, "not now"));

    await driven(clock, caught(task.get(), GatewayError));

    expect(agent.calls("GetTask")).toHaveLength(3);
  });

  test.each([
    ["reset", answer.reset()],
    ["refused", answer.refuse()],
  ])("whose connection is %s is made again", async (_how, reply) => {
    const { clock, agent, task } = await setUp();
    agent.once("GetTask", reply);

    await driven(clock, task.get());

    expect(agent.calls("GetTask")).toHaveLength(2);
  });

  test("that never comes back is not made again: nobody says that it will go better", async () => {
    const { clock, agent, task } = await setUp({ timeouts: { firstByteMs: 1_000 } });
    agent.on("GetTask", answer.silence());

    await driven(clock, caught(task.get(), TimeoutError));

    expect(agent.calls("GetTask")).toHaveLength(1);
  });

  test("waits at random, up to twice as long each time, and no longer than it may", async () => {
    const { clock, agent, task, events } = await setUp({
      random: () => 0.999,
      retries: { maxAttempts: 6, firstMs: 1_000, longestMs: 4_000 },
    });
    agent.on("GetTask", answer.http(503));

    await driven(clock, caught(task.get()));

    expect(events.map(({ waitMs }) => waitMs)).toEqual([999, 1_998, 3_996, 3_996, 3_996]);
  });

  test.each([
    ["seconds", () => "7"],
    ["a date", (now: number) => new Date(now + 7_000).toUTCString()],
  ])("waits for as long as Retry-After says in %s", async (_form, header) => {
    const { clock, agent, task, events } = await setUp();
    agent.once("GetTask", answer.http(503, "", { "retry-after": header(clock.now()) }));

    await driven(clock, task.get());

    expect(events).toMatchObject([{ waitMs: 7_000 }]);
    expect(agent.calls("GetTask")).toHaveLength(2);
  });

  test.each(["31", "999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])(
    "is not made again where Retry-After: %s leads past its deadline, and says so at once",
    async (header) => {
      const { clock, agent, task } = await setUp();
      agent.on("GetTask", answer.http(429, "", { "retry-after": header }));
      const since = clock.monotonicMs();

      const error = await driven(clock, caught(task.get(), HttpStatusError), 0);

      expect(error.retries).toEqual({ attemptCount: 1, refused: "deadline" });
      expect(error.retryAfterMs).toBeGreaterThan(30_000);
      expect(error.retryAfterMs).toBeLessThanOrEqual(3_600_000);
      expect(clock.monotonicMs()).toBe(since);
    },
  );

  test("has one deadline over all its attempts", async () => {
    const { clock, agent, task } = await setUp({ random: () => 0.999, retries: { maxAttempts: 100 } });
    agent.on("GetTask", answer.http(503));
    const since = clock.monotonicMs();

    const error = await driven(clock, caught(task.get({ timeoutMs: 3_000 }), HttpStatusError));

    expect(error.retries?.refused).toBe("deadline");
    expect(clock.monotonicMs() - since).toBeLessThanOrEqual(3_000);
  });

  test("is let go of at once when its caller gives up while it waits", async () => {
    const { clock, agent, task } = await setUp();
    agent.on("GetTask", answer.http(503, "", { "retry-after": "20" }));
    const controller = new AbortController();
    const reading = caught(task.get({ signal: controller.signal }));
    await clock.advance(100);

    controller.abort("enough");

    expect(await reading).toBe("enough");
    expect(agent.calls("GetTask")).toHaveLength(1);
    expect(clock.pendingCount).toBe(0);
  });

  test("is not made again under a card that drifted meanwhile", async () => {
    const { clock, agent, task } = await setUp();
    agent.rotateCard((card) => ({ ...card, description: "another" }));
    agent.once("card", answer.delay(60, answer.honest()));
    agent.on("GetTask", answer.http(503));

    await driven(clock, caught(task.get(), CardDriftError));

    expect(agent.calls("GetTask")).toHaveLength(1);
  });

  test("is made once where repetition is turned off", async () => {
    const { clock, agent, task } = await setUp({ retries: false });
    agent.on("GetTask", answer.http(503));

    await driven(clock, caught(task.get(), HttpStatusError));

    expect(agent.calls("GetTask")).toHaveLength(1);
  });
});

describe("what else may be said twice", () => {
  test("is a cancellation, and the opening of a subscription", async () => {
    const { clock, agent, task } = await setUp();
    agent.once("SubscribeToTask", answer.http(503));
    agent.once("CancelTask", answer.reset());

    const stream = await driven(clock, task.subscribe());
    stream.close();
    await driven(clock, task.cancel());

    expect(agent.calls("SubscribeToTask")).toHaveLength(2);
    expect(agent.calls("CancelTask")).toHaveLength(2);
    expect(task.state).toBe("TASK_STATE_CANCELED");
  });

  test("is a read of the card, when a client is made and when it is checked", async () => {
    const { clock, agent, connect, client, events } = await setUp();
    agent.once("card", answer.http(503), answer.reset());
    await driven(clock, connect());
    expect(agent.cardReads()).toHaveLength(3);

    agent.once("card", answer.http(429));
    await driven(clock, client.sendMessage("more"));

    expect(agent.cardReads()).toHaveLength(5);
    expect(agent.calls("SendMessage")).toHaveLength(1);
    expect(events).toMatchObject([{ operation: "card", code: "CARD_UNREACHABLE", with: "time" }]);
  });

  test("a card that can't be read is an unverifiable lease after three reads, and nothing is sent", async () => {
    const { clock, agent, client } = await setUp();
    agent.on("card", answer.http(503));

    const error = await driven(clock, caught(client.sendMessage("more"), LeaseUnverifiableError));

    expect(error.cause).toMatchObject({ status: 503, retries: { attemptCount: 3, refused: "attempts" } });
    expect(agent.cardReads()).toHaveLength(3);
    expect(agent.calls()).toEqual([]);
  });
});

/** Answers to a send after which nobody knows, and those that are a refusal. */
const unknown = [
  ...[408, 500, 501, 502, 503, 504, 505, 599, 200, 204].map(
    (status) => [`HTTP ${status}`, answer.http(status)] as const,
  ),
  ["code -32603", answer.error(-32603, "boom")] as const,
  ["code -32006", answer.error(-32006, "bad answer")] as const,
  ["an unknown code with HTTP 503", answer.error(-32050, "busy", undefined, { httpStatus: 503 })] as const,
  ...[408, 404, 500, 502, 503, 504].map((code) => [`a gateway's ${code}`, answer.error(code, "x")] as const),
  ["a reset", answer.reset()] as const,
  ["a foreign response id", answer.json({ jsonrpc: "2.0", id: "other", result: {} })] as const,
  ["a page", answer.http(200, "<html></html>", { "content-type": "text/html" })] as const,
];
const refused = [
  ...[400, 403, 404, 405, 409, 413, 415, 418, 422, 425, 429].map(
    (status) => [`HTTP ${status}`, answer.http(status)] as const,
  ),
  ...[-32700, -32600, -32601, -32602, -32001, -32003, -32004, -32005, -32007, -32008, -32009, -32050].map(
    (code) => [`code ${code}`, answer.error(code, "no")] as const,
  ),
  ["a gateway's 429", answer.error(429, "slow down")] as const,
];

describe("a send", () => {
  test.each(unknown)(
    "that is answered with %s leaves once, and its outcome is unknown",
    async (_how, reply) => {
      const { clock, agent, client } = await setUp();
      agent.on("SendMessage", reply);

      const error = await driven(clock, caught(client.sendMessage("more"), SendOutcomeUnknownError));

      expect(error).toMatchObject({ retry: "unknown-outcome", nextStep: "recover" });
      expect(agent.calls("SendMessage")).toHaveLength(1);
    },
  );

  test.each(refused)("that is answered with %s leaves once, and was refused", async (_how, reply) => {
    const { clock, agent, client } = await setUp();
    agent.on("SendMessage", reply);

    const error = await driven(clock, caught(client.sendMessage("more")));

    expect(error).not.toBeInstanceOf(SendOutcomeUnknownError);
    expect(agent.calls("SendMessage")).toHaveLength(1);
  });

  test("that failed in a way that passes says that it was not repeated because it is a send", async () => {
    const { clock, agent, client } = await setUp();
    agent.on("SendMessage", answer.http(503));

    const error = await driven(clock, caught(client.sendMessage("more"), SendOutcomeUnknownError));

    expect(error.cause).toMatchObject({ retries: { attemptCount: 1, refused: "not-repeatable" } });
  });

  test("that provably never left goes again, with the same message", async () => {
    const { clock, agent, client, events } = await setUp();
    agent.once("SendMessage", answer.refuse(), answer.refuse());

    const reply = await driven(clock, client.sendMessage("more"));

    expect("task" in reply).toBe(true);
    const ids = agent
      .calls("SendMessage")
      .map(({ params }) => (params as { message: { messageId: string } }).message.messageId);
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(1);
    expect(agent.acceptedMessageIds.filter((id) => id === ids[0])).toHaveLength(1);
    expect(events).toMatchObject([{ with: "time" }, { with: "time" }]);
  });

  test("that never left, and then may have, is not sent a third time", async () => {
    const { clock, agent, client } = await setUp();
    agent.once("SendMessage", answer.refuse(), answer.acceptThenReset());

    await driven(clock, caught(client.sendMessage("more"), SendOutcomeUnknownError));

    expect(agent.calls("SendMessage")).toHaveLength(2);
    expect(agent.acceptedMessageIds).toHaveLength(1);
  });

  test("that never left at all is no unknown outcome", async () => {
    const { clock, agent, client } = await setUp();
    agent.on("SendMessage", answer.refuse());

    const error = await driven(clock, caught(client.sendMessage("more"), ConnectionError));

    expect(error).toMatchObject({ neverSent: true, retries: { attemptCount: 3, refused: "attempts" } });
    expect(agent.acceptedMessageIds).toEqual([]);
  });

  test("that takes longer than its caller waits is not sent again", async () => {
    const { clock, agent, client } = await setUp();
    agent.once("SendMessage", answer.acceptThen(answer.delay(130_000, answer.honest())));

    await driven(
      clock,
      caught(client.sendMessage("more", { timeoutMs: 120_000 }), SendOutcomeUnknownError),
      10_000,
    );

    expect(agent.calls("SendMessage")).toHaveLength(1);
  });
});

describe("the budget of an origin", () => {
  test("bounds what an outage is asked on top, and is given back by successes", async () => {
    const { clock, agent, task, connect } = await setUp();
    const other = await connect();
    agent.clearTranscript();
    agent.on("GetTask", answer.http(503));
    for (let call = 0; call < 20; call++) await driven(clock, caught(task.get()));

    // Ten repetitions, and one for the reads of the card that went well meanwhile.
    expect(agent.calls("GetTask")).toHaveLength(20 + 10 + 1);
    const error = await driven(clock, caught(other.getTask({ id: task.id }), HttpStatusError));
    expect(error.retries).toEqual({ attemptCount: 1, refused: "budget" });

    agent.off("GetTask");
    agent.clearTranscript();
    // Each call is a read of the task and one of the card: five of them are worth one repetition at the least.
    for (let call = 0; call < 5; call++) await task.get();
    agent.on("GetTask", answer.http(503));
    await driven(clock, caught(task.get()));

    expect(agent.calls("GetTask").length).toBeGreaterThanOrEqual(5 + 2);
  });

  test("of one agent is not another's", async () => {
    const one = await setUp();
    const two = createScriptedAgent({ clock: one.clock, url: "https://other.example" });
    const fetch: typeof one.agent.fetch = (url, init) =>
      (String(url).startsWith(two.url) ? two : one.agent).fetch(url, init);
    const [first, second] = await Promise.all([
      one.connect({ fetch, retries: { budget: 1 } }),
      createClient(two.url, { fetch, clock: one.clock, retries: { budget: 1 } }),
    ]);
    one.agent.on("GetTask", answer.http(503));
    two.on("GetTask", answer.http(503));

    const failures = [first, second].map((client) => caught(client.getTask({ id: "t-1" }), HttpStatusError));
    const errors = await driven(one.clock, Promise.all(failures));

    expect(errors.map(({ retries }) => retries)).toEqual([
      { attemptCount: 2, refused: "budget" },
      { attemptCount: 2, refused: "budget" },
    ]);
  });
});
