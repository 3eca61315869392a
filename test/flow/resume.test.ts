import {
  CardDriftError,
  createClient,
  createMemoryLedger,
  LeaseUnverifiableError,
  LedgerUnavailableError,
  type TaskHandle,
  type TaskRecord,
} from "a2a-lease";
import { answer, createScriptedAgent, createTestCard, createTestClock, step } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "./caught.ts";
import { driven } from "./driven.ts";

async function setUp(options: Parameters<typeof createScriptedAgent>[0] = {}) {
  const clock = createTestClock();
  const agent = createScriptedAgent({
    clock,
    plan: [step.working(), step.artifact("a-1", "half"), step.hold(), step.completed("done")],
    ...options,
  });
  const ledger = createMemoryLedger({ clock });
  const connect = (more = {}) =>
    createClient(agent.url, { fetch: agent.fetch, clock, ledger, retries: { firstMs: 0 }, ...more });
  const first = await connect();
  const reply = await first.sendMessage("hello", { requires: { skills: ["summarize"] } });
  if (!("task" in reply)) expect.fail("no task");
  await reply.task.get();
  /** The record as it travels. */
  const record: TaskRecord = JSON.parse(JSON.stringify(reply.task));
  return { clock, agent, ledger, connect, task: reply.task, record };
}

// biome-ignore lint/suspicious/noExplicitAny: what is forged has no shape
type Loose = any;
const changed = (record: TaskRecord, change: (copy: Loose) => void): TaskRecord => {
  const copy = structuredClone(record);
  change(copy);
  return copy;
};

describe("a task is resumed in another process", () => {
  test.each(["by its id", "by its record", "by its record, where the ledger knows nothing"])(
    "%s",
    async (how) => {
      const { agent, connect, task, record } = await setUp();
      const client = await connect(how.endsWith("nothing") ? { ledger: createMemoryLedger() } : {});
      agent.clearTranscript();

      const resumed = await client.resume(how === "by its id" ? task.id : record);

      expect(agent.cardReads()).toMatchObject([{ forced: true, status: 200 }]);
      expect(agent.calls()).toEqual([]);
      const { updatedAt: _one, ...found } = resumed.toJSON();
      const { updatedAt: _two, ...left } = task.toJSON();
      expect(found).toEqual(left);
      expect(resumed.artifacts).toEqual(task.artifacts);
      expect(resumed.pin.interface.url).toBe(task.pin.interface.url);
    },
  );

  test("and goes on where it was: what was seen is no news, and what comes is judged by it", async () => {
    const { agent, clock, connect, record } = await setUp();
    const client = await connect({ ledger: createMemoryLedger() });
    const resumed = await client.resume(record);
    agent.step(resumed.id);

    expect(await driven(clock, resumed.result())).toMatchObject({ status: "completed" });
    expect(resumed.toJSON().memory.observations.map(({ state }) => state)).toEqual([
      "TASK_STATE_SUBMITTED",
      "TASK_STATE_WORKING",
      "TASK_STATE_COMPLETED",
    ]);
  });

  test("and is one handle, however often", async () => {
    const { connect, record } = await setUp();
    const client = await connect();

    expect(await client.resume(record)).toBe(await client.resume(record.taskId));
  });

  test("and a card that changed meanwhile is a drift, with a way on", async () => {
    const { agent, connect, record } = await setUp();
    agent.rotateCard((card) => ({ ...card, description: "another" }));
    const client = await connect({ ledger: createMemoryLedger(), leaseTermMs: 60_000 });

    const error = await caught(client.resume(record), CardDriftError);

    expect(error.drift).toMatchObject({ phase: { operation: "resume", check: "forced" } });
    const next = await error.renegotiate();
    if (!("handle" in next)) expect.fail("no handle");
    expect(await (next.handle as TaskHandle).get()).toMatchObject({ id: record.taskId });
  });

  test("and a requirement that no longer holds is named", async () => {
    const { agent, connect, record } = await setUp();
    agent.rotateCard((card) => ({ ...card, skills: [] }));
    const client = await connect({ ledger: createMemoryLedger() });

    expect(await caught(client.resume(record), CardDriftError)).toMatchObject({ reason: "skill-withdrawn" });
  });

  test("and where the card can't be read it is not resumed, nor lost", async () => {
    const { agent, clock, connect, record } = await setUp();
    const client = await connect({ ledger: createMemoryLedger(), staleIfErrorMs: 60_000 });
    agent.on("card", answer.http(503));
    await driven(clock, caught(client.resume(record), LeaseUnverifiableError), 0);
    agent.off("card");

    expect(await client.resume(record.taskId)).toMatchObject({ id: record.taskId });
  });
});

describe("a record that is resumed", () => {
  test.each<[string, (copy: Loose) => void]>([
    ["no pin", (copy) => delete copy.pin],
    ["no memory", (copy) => delete copy.memory],
    ["an empty id", (copy) => (copy.taskId = "")],
    ["a task that is none", (copy) => (copy.task = { id: 7 })],
    ["a state that is none", (copy) => (copy.memory.observations[0].state = "DONE")],
    [
      "too many observations",
      (copy) => (copy.memory.observations = Array(21).fill(copy.memory.observations[0])),
    ],
    ["requirements that are none", (copy) => (copy.requirements = { skill: ["a"] })],
    ["another card than its digest says", (copy) => (copy.pin.card.description = "mine")],
    ["a card that is none", (copy) => (copy.pin.card = {})],
    ["an interface that its card lacks", (copy) => (copy.pin.interface.url = "https://evil.example/rpc")],
    ["a binding that nobody has", (copy) => (copy.pin.interface.protocolBinding = "GRPC")],
    ["a pin without a time", (copy) => (copy.pin.pinnedAt = "soon")],
    ["an extended card with another digest", (copy) => (copy.pin.extended = { ...copy.pin })],
    ["a member __proto__", (copy) => (copy.task.metadata = JSON.parse('{"__proto__":{"a":1}}'))],
    ["the shape of an intent", (copy) => Object.assign(copy, { kind: "intent", messageId: "m" })],
    [
      "a depth without end",
      (copy) => {
        let deep: object = {};
        for (let level = 0; level < 300; level++) deep = { deep };
        copy.task.metadata = deep;
      },
    ],
  ])("with %s is corrupt, and nothing is asked or written", async (_what, change) => {
    const { agent, connect, record } = await setUp();
    const ledger = createMemoryLedger();
    const client = await connect({ ledger });
    agent.clearTranscript();

    const found = changed(record, (copy) => {
      if (_what.startsWith("an extended"))
        copy.pin.extended = { digest: "sha256:0", structuralDigest: "x", card: copy.pin.card };
      else change(copy);
    });
    const error = await caught(client.resume(found), LedgerUnavailableError);

    expect(error.reason).toBe("corrupt");
    expect(agent.transcript).toEqual([]);
    expect((await ledger.list({ kind: "task" })).entries).toEqual([]);
  });

  test.each([0, 2, 99])("of schema %i says which one it is", async (schema) => {
    const { connect, record } = await setUp();
    const client = await connect();

    const error = await caught(
      client.resume(changed(record, (copy) => (copy.schema = schema))),
      LedgerUnavailableError,
    );

    expect(error).toMatchObject({ reason: "schema", foundSchema: schema, wantedSchema: 1 });
  });

  test("of another agent or principal, and an id that nobody knows, are mistakes of the caller", async () => {
    const { connect, record } = await setUp();
    const client = await connect();
    const mistakes = [
      changed(record, (copy) => (copy.cardUrl = "https://old.example/.well-known/agent-card.json")),
      changed(record, (copy) => (copy.principal = "somebody")),
      "t-unknown",
    ];
    for (const mistake of mistakes) await expect(client.resume(mistake)).rejects.toBeInstanceOf(TypeError);
  });

  test.each([null, 7, [], new Date(), () => {}])("that is %o is refused", async (given) => {
    const { connect } = await setUp();
    await caught((await connect()).resume(given as never), LedgerUnavailableError);
  });

  test("can't change what its pin says of its card", async () => {
    const { connect, record } = await setUp();
    const client = await connect({ ledger: createMemoryLedger() });
    const forged = changed(record, (copy) => {
      copy.pin.skills = ["everything"];
      copy.pin.capabilities.pushNotifications = true;
      copy.pin.secret = "kept?";
    });

    const { pin } = await client.resume(forged);

    expect(pin).toEqual(record.pin);
  });

  test("takes no credentials to a host that is not the card's", async () => {
    const moved = createTestCard({
      supportedInterfaces: [
        { url: "https://moved.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      ],
    });
    const { agent, clock, connect, record } = await setUp();
    agent.rotateCard(moved);
    const foreign: Headers[] = [];
    const fetch: typeof agent.fetch = (url, init) => {
      if (String(url).startsWith("https://moved")) foreign.push(new Headers(init?.headers));
      return agent.fetch(url, init);
    };
    const client = await connect({
      ledger: createMemoryLedger(),
      credentials: { bearer: "t0ken" },
      headers: { "x-key": "k3y" },
      fetch,
    });
    await caught(client.resume(record), CardDriftError);
    expect(foreign).toEqual([]);
    const other = await client.task(record.taskId);
    await driven(clock, caught(other.renegotiate().then((handle) => handle.get())));

    for (const headers of foreign) {
      expect(headers.has("authorization")).toBe(false);
      expect(headers.has("x-key")).toBe(false);
    }
    expect(foreign.length).toBeGreaterThan(0);
  });
});
