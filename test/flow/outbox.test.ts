import {
  CardDriftError,
  createClient,
  createMemoryLedger,
  HttpStatusError,
  type Ledger,
  SendOutcomeUnknownError,
} from "a2a-lease";
import { answer, createScriptedAgent, createTestClock, step } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "./caught.ts";
import { driven } from "./driven.ts";

const unlisted = answer.error(-32601, "no such method");

function setUp(options: Parameters<typeof createScriptedAgent>[0] = {}) {
  const clock = createTestClock();
  const agent = createScriptedAgent({ clock, plan: [step.working()], ...options });
  const ledger = createMemoryLedger({ clock });
  const connect = (more = {}) =>
    createClient(agent.url, { fetch: agent.fetch, clock, ledger, retries: { firstMs: 0 }, ...more });

  /** Sends a message whose answer is lost, to an agent that does not list its tasks at that time. */
  async function lose(reply = answer.acceptThenReset(), send = {}): Promise<string> {
    const client = await connect();
    agent.on("ListTasks", unlisted);
    agent.once("SendMessage", reply);
    const error = await caught(client.sendMessage("lost", send), SendOutcomeUnknownError);
    agent.off("ListTasks");
    return error.messageId;
  }
  return { clock, agent, ledger, connect, lose };
}

const stateOf = async (ledger: Ledger, messageId: string) => {
  const key = ["intent", "https://agent.example/.well-known/agent-card.json", "default", messageId];
  return (await ledger.read(JSON.stringify(key)))?.record;
};

describe("a send whose answer was lost", () => {
  test.each([
    ["the connection broke", answer.acceptThenReset()],
    ["a gateway gave up", answer.acceptThen(answer.http(504))],
    ["the agent failed after it took it", answer.acceptThen(answer.error(-32603, "boom"))],
    ["a page came in its place", answer.acceptThen(answer.http(200, "<p>", { "content-type": "text/html" }))],
  ])("resolves with the task where the agent lists it: %s", async (_how, reply) => {
    const { agent, ledger, connect } = setUp();
    const client = await connect();
    agent.once("SendMessage", reply);

    const sent = await client.sendMessage({ messageId: "m-1", parts: [{ text: "hello" }] });

    expect(sent).toMatchObject({ task: { id: "task-1", state: "TASK_STATE_WORKING" } });
    expect(agent.acceptedMessageIds).toEqual(["m-1"]);
    expect(agent.calls("SendMessage")).toHaveLength(1);
    expect(agent.calls("ListTasks")).toHaveLength(1);
    expect(await stateOf(ledger, "m-1")).toMatchObject({ state: "answered", answer: { taskId: "task-1" } });
  });

  test("is looked for in its context, or where it has none by the time, with histories", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    agent.on("SendMessage", answer.reset());
    await caught(client.sendMessage("one", { contextId: "c-1" }), SendOutcomeUnknownError);
    await caught(client.sendMessage("two"), SendOutcomeUnknownError);

    expect(agent.calls("ListTasks").map(({ params }) => params)).toEqual([
      { contextId: "c-1", pageSize: 50, historyLength: 50 },
      { statusTimestampAfter: "2025-12-31T23:55:00.000Z", pageSize: 50, historyLength: 50 },
    ]);
  });

  test("after a deadline shorter than the work is found as well, without another send", async () => {
    const { agent, clock, connect } = setUp();
    const client = await connect();
    agent.once("SendMessage", answer.acceptThen(answer.delay(130_000, answer.honest())));

    const reply = await driven(clock, client.sendMessage("long", { timeoutMs: 120_000 }), 10_000);

    expect(reply).toMatchObject({ task: { id: "task-1" } });
    expect(agent.calls("SendMessage")).toHaveLength(1);
  });

  test("keeps its unknown outcome where the look fails, and is bounded by time", async () => {
    const { agent, clock, connect } = setUp();
    const client = await connect();
    agent.on("SendMessage", answer.acceptThenReset());
    for (const reply of [unlisted, answer.http(503), answer.reset(), answer.silence()]) {
      agent.on("ListTasks", reply);
      const since = clock.monotonicMs();
      const error = await driven(clock, caught(client.sendMessage("hello"), SendOutcomeUnknownError), 500);
      expect(error.cause).toMatchObject({ name: "ConnectionError" });
      expect(clock.monotonicMs() - since).toBeLessThanOrEqual(6_000);
    }
    expect(agent.calls("ListTasks")).toHaveLength(4);
    expect(agent.acceptedMessageIds).toHaveLength(4);
  });

  test("is not looked for when its caller gave up", async () => {
    const { agent, clock, connect } = setUp();
    const client = await connect();
    agent.once("SendMessage", answer.acceptThen(answer.silence()));
    const controller = new AbortController();
    const sending = caught(client.sendMessage("hello", { signal: controller.signal }));
    await clock.advance(10);
    controller.abort("enough");

    expect(await sending).toBe("enough");
    expect(agent.calls("ListTasks")).toEqual([]);
  });

  test("leaves a caller who gives up while it is looked for with his own reason", async () => {
    const { agent, clock, connect } = setUp();
    const client = await connect();
    agent.once("SendMessage", answer.acceptThen(answer.http(504)));
    agent.once("ListTasks", answer.silence());
    const controller = new AbortController();
    const sending = caught(client.sendMessage("hello", { signal: controller.signal }));
    await clock.advance(10);
    controller.abort("enough");

    expect(await sending).toBe("enough");
    expect(agent.calls("ListTasks")).toHaveLength(1);
  });

  test("by a stream goes on with the stream of the task that was found", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    agent.once("SendStreamingMessage", answer.acceptThenReset());

    const stream = await client.sendStreamingMessage("hello");
    stream.close();

    expect(stream.task).toMatchObject({ id: "task-1" });
    expect(agent.acceptedMessageIds).toHaveLength(1);
    expect(agent.calls("SubscribeToTask")).toHaveLength(1);
  });

  test("by a stream of a finished task says which task it was", async () => {
    const { agent, connect } = setUp({ plan: [step.completed()] });
    const client = await connect();
    agent.once("SendStreamingMessage", answer.acceptThenReset());

    const error = await caught(client.sendStreamingMessage("hello"), SendOutcomeUnknownError);

    expect(error).toMatchObject({ taskId: "task-1" });
    expect(await client.task("task-1")).toMatchObject({ state: "TASK_STATE_COMPLETED" });
  });

  test.each([
    ["before its head", answer.acceptThenReset()],
    ["before its first event", answer.acceptThen(answer.stream([], { end: "cut" }))],
  ])("is followed to its end where work is delegated and the stream broke %s", async (_when, reply) => {
    const { agent, clock, connect } = setUp({ plan: [step.working(), step.completed("done")] });
    const client = await connect();
    agent.once("SendStreamingMessage", reply);

    const outcome = await driven(clock, client.delegate("hello"));

    expect(outcome).toMatchObject({ status: "completed" });
    expect(agent.acceptedMessageIds).toHaveLength(1);
  });
});

describe("recovering a message", () => {
  test("finds its task in another process, pinned as it was sent, and settles the intent", async () => {
    const { agent, ledger, connect, lose } = setUp();
    const messageId = await lose();
    const client = await connect();

    const recovery = await client.recover(messageId);

    expect(recovery).toMatchObject({ status: "found", task: { id: "task-1", state: "TASK_STATE_WORKING" } });
    expect(await stateOf(ledger, messageId)).toMatchObject({ state: "answered" });
    expect((await client.openIntents()).intents).toEqual([]);
    agent.clearTranscript();
    expect(await client.recover(messageId)).toMatchObject({ status: "found", task: { id: "task-1" } });
    expect(agent.transcript).toEqual([]);
  });

  test("finds it on a later page, and by the message of its status alone", async () => {
    const { agent, connect, lose } = setUp();
    const messageId = await lose();
    for (let at = 0; at < 120; at++) {
      agent.tasks.put({
        id: `o${at}`,
        contextId: "o",
        status: { state: "TASK_STATE_WORKING", timestamp: "2026-01-01T00:00:01.000Z" },
      });
    }
    const client = await connect();

    expect(await client.recover(messageId)).toMatchObject({ status: "found", task: { id: "task-1" } });
  });

  test("says not-there where the list is whole and shows another message of ours", async () => {
    const { agent, ledger, connect, lose } = setUp();
    const client = await connect();
    await client.sendMessage("another");
    const messageId = await lose(answer.reset());

    expect(await client.recover(messageId)).toEqual({ status: "not-there" });
    expect(agent.acceptedMessageIds).toHaveLength(1);
    expect(await stateOf(ledger, messageId)).toMatchObject({ state: "refused" });
    expect((await client.openIntents()).intents).toEqual([]);
  });

  test("looks beyond the time of the send before it says so, since clocks are apart", async () => {
    const { agent, connect, lose } = setUp();
    await (await connect()).sendMessage("another");
    const messageId = await lose();
    const lost = agent.tasks.get("task-2");
    if (!lost) expect.fail("no task");
    agent.tasks.put({ ...lost, status: { ...lost.status, timestamp: "2020-01-01T00:00:00.000Z" } });

    expect(await (await connect()).recover(messageId)).toMatchObject({
      status: "found",
      task: { id: "task-2" },
    });
  });

  const foreign = (more = {}) => ({
    id: "f-1",
    contextId: "c",
    status: { state: "TASK_STATE_WORKING" as const },
    ...more,
  });
  test.each([
    ["no-listing", (agent: Agent) => agent.on("ListTasks", unlisted)],
    ["no-listing", (agent: Agent) => agent.on("ListTasks", answer.http(404))],
    ["no-history", (agent: Agent) => agent.tasks.put(foreign())],
    [
      "no-history",
      (agent: Agent) =>
        agent.tasks.put(
          foreign({ history: [{ messageId: "a", role: "ROLE_AGENT", parts: [{ text: "?" }] }] }),
        ),
    ],
    [
      "no-history",
      (agent: Agent) => {
        const one = (at: number) => ({
          messageId: `u${at}`,
          role: "ROLE_USER" as const,
          parts: [{ text: "?" }],
        });
        agent.tasks.put(foreign({ history: Array.from({ length: 60 }, (_, at) => one(at)) }));
      },
    ],
    [
      "incomplete",
      (agent: Agent) => agent.on("ListTasks", answer.result({ tasks: [], nextPageToken: "again" })),
    ],
  ])("says that it can't tell: %s", async (reason, prepare) => {
    const { agent, ledger, connect, lose } = setUp();
    const client = await connect();
    await client.sendMessage("another");
    const messageId = await lose(answer.reset());
    prepare(agent);

    expect(await client.recover(messageId)).toEqual({ status: "cannot-tell", reason });
    expect(await stateOf(ledger, messageId)).toMatchObject({ state: "unknown" });
  });

  test("can't tell from an empty list, nor from the messages of others", async () => {
    const { agent, connect, lose } = setUp();
    const messageId = await lose(answer.reset());
    const client = await connect();
    expect(await client.recover(messageId)).toEqual({ status: "cannot-tell", reason: "no-evidence" });

    const history = [{ messageId: "theirs", role: "ROLE_USER" as const, parts: [{ text: "?" }] }];
    agent.tasks.put(foreign({ history }));
    expect(await client.recover(messageId)).toEqual({ status: "cannot-tell", reason: "no-evidence" });
  });

  test("can't tell where the agent answers with messages too, which leave no trace", async () => {
    const { agent, connect, lose } = setUp();
    const client = await connect();
    await client.sendMessage("another");
    agent.once("SendMessage", answer.message("just so"));
    await client.sendMessage({ messageId: "m-2", parts: [{ text: "hello" }] });
    const messageId = await lose(answer.reset());

    const reason = "answers-with-messages";
    expect(await client.recover(messageId)).toEqual({ status: "cannot-tell", reason });
    expect(await client.recover("m-2")).toEqual({ status: "cannot-tell", reason });
  });

  test("looks for a message that nobody wrote down, and can't tell where it is not found", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    await client.sendMessage("another");
    const history = [{ messageId: "m-9", role: "ROLE_USER" as const, parts: [{ text: "?" }] }];
    expect(await client.recover("m-9")).toEqual({ status: "cannot-tell", reason: "no-intent" });
    agent.tasks.put(foreign({ history }));

    expect(await client.recover("m-9")).toMatchObject({ status: "found", task: { id: "f-1" } });
  });

  test("a message that was refused is not there, also where nobody lists it", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    agent.once("SendMessage", answer.http(429));
    await caught(client.sendMessage({ messageId: "m-1", parts: [{ text: "x" }] }), HttpStatusError);
    agent.on("ListTasks", unlisted);

    expect(await client.recover("m-1")).toEqual({ status: "not-there" });
  });

  test("under a card that changed since tells the task, withholds its content, and its handle drifts", async () => {
    const { agent, connect, lose } = setUp();
    const messageId = await lose();
    agent.rotateCard((card) => ({ ...card, description: "another" }));
    const client = await connect();

    const recovery = await client.recover(messageId);

    if (recovery.status !== "found") expect.fail(recovery.status);
    expect(recovery.task.task).toBeUndefined();
    expect(recovery.task.pin.digest).not.toBe(client.pin.digest);
    await caught(recovery.task.get(), CardDriftError);
  });

  test("passes on what kept it from looking", async () => {
    const { agent, connect, lose } = setUp();
    const messageId = await lose();
    const client = await connect();
    agent.on("ListTasks", answer.http(500));
    await caught(client.recover(messageId), HttpStatusError);
    agent.off("ListTasks");
    agent.rotateCard((card) => ({ ...card, description: "another" }));
    await caught(client.recover(messageId), CardDriftError);
    await expect(client.recover("")).rejects.toBeInstanceOf(TypeError);
  });
});

describe("open intents", () => {
  test("are those that nobody knows the outcome of, page by page, of this agent and principal", async () => {
    const { agent, connect, lose } = setUp();
    const lost = [await lose(), await lose(answer.reset())];
    const client = await connect();
    await client.sendMessage("answered");
    const other = await connect({ principal: "other" });
    agent.on("ListTasks", unlisted);
    agent.once("SendMessage", answer.reset());
    await caught(other.sendMessage("x"), SendOutcomeUnknownError);

    const first = await client.openIntents({ pageSize: 1 });
    const second = await client.openIntents({ pageSize: 1, pageToken: first.nextPageToken ?? "" });
    const found = [...first.intents, ...second.intents];

    expect(found.map(({ messageId }) => messageId).sort()).toEqual([...lost].sort());
    expect(found[0]).toMatchObject({ state: "unknown", sentAt: "2026-01-01T00:00:00.000Z" });
    expect(JSON.stringify(found)).not.toContain("lost");
  });

  test("may be narrowed to those that no call is under way for", async () => {
    const { agent, clock, connect } = setUp();
    const client = await connect();
    agent.once("SendMessage", answer.silence());
    const sending = caught(client.sendMessage("hello"));
    await clock.advance(10);

    expect((await client.openIntents()).intents).toMatchObject([{ state: "open" }]);
    const before = new Date(clock.now() - 1_000).toISOString();
    expect((await client.openIntents({ updatedBefore: before })).intents).toEqual([]);
    await client.close();
    await sending;
  });
});

type Agent = ReturnType<typeof createScriptedAgent>;
