import {
  type ClientOptions,
  createClient,
  createMemoryLedger,
  LeaseUnverifiableError,
  SendOutcomeUnknownError,
  StreamStalledError,
  TimeoutError,
} from "a2a-lease";
import { answer, createScriptedAgent, createTestClock, event, type Reply, step } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { driven } from "../flow/driven.ts";

function setUp() {
  const clock = createTestClock();
  const agent = createScriptedAgent({ clock, plan: [step.working(), step.hold()] });
  const connect = (more: ClientOptions = {}) =>
    createClient(agent.url, { fetch: agent.fetch, clock, random: () => 0.5, ...more });
  const unlisted = () => agent.on("ListTasks", answer.error(-32601, "no such method"));
  return { clock, agent, connect, unlisted };
}

describe("the first send of a piece of work (F1)", () => {
  const lost: readonly (readonly [string, Reply])[] = [
    ["a connection that is reset before the head", answer.reset()],
    ["a head that never comes", answer.silence()],
    ["a gateway that gave up", answer.http(504)],
  ];

  test.each(lost)(
    "that was taken and then lost by %s is found again, and is sent once",
    async (_how, then) => {
      const { clock, agent, connect } = setUp();
      const client = await connect();
      agent.once("SendMessage", answer.acceptThen(then));

      const reply = await driven(clock, client.sendMessage("hello", { timeoutMs: 60_000 }), 1_000);

      expect(reply).toMatchObject({ task: { id: "task-1" } });
      expect(agent.calls("SendMessage")).toHaveLength(1);
    },
  );

  test.each(lost)(
    "that is lost by %s, and can't be looked for, is one that recover finds later",
    async (_how, then) => {
      const { clock, agent, connect, unlisted } = setUp();
      const ledger = createMemoryLedger();
      const client = await connect({ ledger });
      unlisted();
      agent.once("SendMessage", answer.acceptThen(then));
      const sent = client.sendMessage("hello", { timeoutMs: 60_000 });
      const { messageId } = await driven(clock, caught(sent, SendOutcomeUnknownError), 1_000);
      await client.close();
      agent.off("ListTasks");

      const again = await connect({ ledger });
      const { intents } = await again.openIntents();
      const recovery = await driven(clock, again.recover(messageId));

      expect(intents.map((intent) => intent.messageId)).toEqual([messageId]);
      expect(recovery).toMatchObject({ status: "found", task: { id: "task-1" } });
      expect(agent.calls("SendMessage")).toHaveLength(1);
    },
  );
});

describe("a wait that is shorter than the work (F2)", () => {
  test("leaves one task, and its outcome unknown where the agent lists none", async () => {
    const { clock, agent, connect, unlisted } = setUp();
    const client = await connect();
    unlisted();
    agent.once("SendMessage", answer.acceptThen(answer.delay(130_000, answer.honest())));

    const sent = client.sendMessage("long", { timeoutMs: 120_000, blocking: true });
    const error = await driven(clock, caught(sent, SendOutcomeUnknownError), 10_000);

    expect(error.cause).toBeInstanceOf(TimeoutError);
    expect(agent.calls("SendMessage")).toHaveLength(1);
  });
});

describe("an operation that is answered once with a failure that passes (F3)", () => {
  test.each([408, 429, 502, 503, 504])(
    "is sent again after HTTP %i only where it is a read",
    async (status) => {
      const { clock, agent, connect, unlisted } = setUp();
      const client = await connect();
      unlisted();
      const { id } = await start(client);
      agent.clearTranscript();
      agent.once("SendMessage", answer.http(status));
      agent.once("GetTask", answer.http(status));

      await driven(clock, caught(client.sendMessage("again")));
      await driven(clock, client.getTask({ id }));

      expect(agent.calls("SendMessage")).toHaveLength(1);
      expect(agent.calls("GetTask")).toHaveLength(2);
    },
  );
});

async function start(client: Awaited<ReturnType<typeof createClient>>) {
  const reply = await client.sendMessage("hello");
  if (!("task" in reply)) expect.fail("no task");
  return reply.task;
}

describe("an agent that takes five minutes and ten seconds (F8)", () => {
  test("for the head of an answer has it where the caller waits so long, and no platform's limit is in the way", async () => {
    const { clock, agent, connect } = setUp();
    const client = await connect({ timeouts: { firstByteMs: 400_000 } });
    const task = await start(client);
    agent.once("GetTask", answer.delay(310_000, answer.honest()));

    const read = await driven(clock, task.get({ timeoutMs: 400_000 }), 10_000);

    expect(read.state).toBe("TASK_STATE_WORKING");
  });

  test("for the head of an answer is told apart by its budget", async () => {
    const { clock, agent, connect } = setUp();
    const task = await start(await connect());
    agent.on("GetTask", answer.delay(310_000, answer.honest()));

    const first = await driven(clock, caught(task.get({ timeoutMs: 400_000 }), TimeoutError), 10_000);
    const total = await driven(clock, caught(task.get({ timeoutMs: 5_000 }), TimeoutError), 1_000);

    expect([first.budget, total.budget]).toEqual(["first-byte", "total"]);
  });

  test("in the middle of a stream is a silence, which the task answers for before it is a stalled stream", async () => {
    const { clock, agent, connect } = setUp();
    const task = await start(await connect());
    agent.on(
      "SubscribeToTask",
      answer.stream(
        [event.task("TASK_STATE_WORKING", { taskId: task.id, contextId: task.contextId ?? "" })],
        {
          end: "silence",
        },
      ),
    );
    agent.clearTranscript();
    const stream = await task.subscribe();
    const events = stream[Symbol.asyncIterator]();
    await events.next();

    const error = await driven(clock, caught(events.next(), StreamStalledError), 10_000);

    expect(error.taskId).toBe(task.id);
    expect(agent.calls("GetTask").length).toBeGreaterThan(0);
  });
});

describe("a card that is down for an hour (B7)", () => {
  test("stops every transition where nothing else was asked for, and nothing is sent", async () => {
    const { clock, agent, connect } = setUp();
    const client = await connect();
    agent.on("card", answer.http(503));
    for (let minute = 0; minute < 60; minute += 20) {
      await clock.advance(1_200_000);
      const sent = client.sendMessage("hello");
      await driven(clock, caught(sent, LeaseUnverifiableError));
    }
    expect(agent.calls("SendMessage")).toHaveLength(0);

    agent.off("card");
    await driven(clock, client.sendMessage("hello"));
    expect(agent.calls("SendMessage")).toHaveLength(1);
  });

  test("is gone on without for as long as was asked for, marked as stale in every lease, and no longer", async () => {
    const { clock, agent, connect } = setUp();
    const client = await connect({ staleIfErrorMs: 1_800_000 });
    agent.on("card", answer.http(503));

    await clock.advance(1_200_000);
    const reply = await driven(clock, client.sendMessage("hello"));
    expect(reply).toMatchObject({ task: { lease: { stale: true } } });
    expect(client.lease.stale).toBe(true);

    await clock.advance(1_200_000);
    await driven(clock, caught(client.sendMessage("hello"), LeaseUnverifiableError));

    agent.off("card");
    await driven(clock, client.sendMessage("hello"));
    expect(client.lease.stale).toBe(false);
  });
});
