import {
  CardDriftError,
  createClient,
  createMemoryLedger,
  InvalidParamsError,
  type Ledger,
  LedgerUnavailableError,
  LifecycleNotTrustedError,
} from "a2a-lease";
import { answer, createScriptedAgent, createTestClock, step } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { takenFrom } from "../../src/client/write-record.ts";
import { createTestSigner } from "../card/signer.ts";
import { caught } from "./caught.ts";
import { driven } from "./driven.ts";

const signer = createTestSigner();

/** A ledger in memory that says that others share it, as workers of one process may. */
const sharedLedger = (clock = createTestClock()): Ledger => ({
  ...createMemoryLedger({ clock }),
  shared: true,
});

async function setUp(count = 8, options: Parameters<typeof createScriptedAgent>[0] = {}) {
  const clock = createTestClock();
  const agent = createScriptedAgent({ clock, plan: [step.working()], ...options });
  const ledger = sharedLedger(clock);
  const connect = (more = {}) => createClient(agent.url, { fetch: agent.fetch, clock, ledger, ...more });
  const workers = await Promise.all(Array.from({ length: count }, () => connect()));
  agent.clearTranscript();
  return { clock, agent, ledger, connect, workers };
}

describe("workers that share a ledger", () => {
  test.each([1, 2, 8, 30])(
    "read the card once for %i calls of one moment, or twice for those who came late",
    async (count) => {
      const { agent, clock, workers } = await setUp(count);
      agent.on("card", answer.delay(100, answer.honest()));

      await driven(clock, Promise.all(workers.map((worker) => worker.sendMessage("hello"))), 10);

      expect(agent.cardReads().length).toBeLessThanOrEqual(2);
      expect(agent.acceptedMessageIds).toHaveLength(count);
      for (const worker of workers) expect(worker.lease.digest).toBe(workers[0]?.lease.digest);
    },
  );

  test.each([
    ["each for itself where somebody judges its signatures", { keys: [signer.jwk] }, 8],
    ["each for itself where nobody's signature is trusted", {}, 8],
    ["once for all where nobody asks who signed", { mode: "ignore" }, 2],
  ] as const)("read a signed card in full %s", async (_says, signatures, most) => {
    const { agent, clock, connect } = await setUp(0);
    agent.rotateCard((card) => signer.signed({ ...card }) as typeof card);
    const workers = await Promise.all(Array.from({ length: 8 }, () => connect({ signatures })));
    agent.on("SendMessage", answer.error(-32602, "no"));
    agent.on("card", answer.delay(50, answer.honest()));
    agent.clearTranscript();

    await driven(clock, Promise.all(workers.map((worker) => caught(worker.sendMessage("hello")))), 10);

    // A surprise asks for a full read: a condition in its request would let a 304 pass for one.
    const full = agent.cardReads().filter(({ headers }) => headers["if-none-match"] === undefined);
    if (most === 8) expect(full.length).toBeGreaterThanOrEqual(8);
    else expect(full.length).toBeLessThanOrEqual(most);
  });

  test("take no result of a check that was over before they asked", async () => {
    const { agent, clock, workers } = await setUp(3);
    for (const worker of workers) await driven(clock, worker.sendMessage("hello"), 0);

    expect(agent.cardReads()).toHaveLength(3);
  });

  test("answer surprises of one moment by a full read that began after them", async () => {
    const { agent, clock, workers } = await setUp(8);
    await Promise.all(workers.map((worker) => driven(clock, worker.task("t"), 10)));
    agent.on("SendMessage", answer.error(-32602, "no"));
    agent.on("card", answer.delay(50, answer.honest()));
    agent.clearTranscript();

    const failures = workers.map((worker) => caught(worker.sendMessage("hello"), InvalidParamsError));
    await driven(clock, Promise.all(failures), 5);

    const forced = agent.cardReads().filter((read) => read.forced);
    expect(forced.length).toBeGreaterThanOrEqual(1);
    expect(forced.length).toBeLessThanOrEqual(3);
    expect(forced.every((read) => read.status === 200)).toBe(true);
  });

  test("all see another card, each by its own read", async () => {
    const { agent, clock, workers } = await setUp(8);
    agent.rotateCard((card) => ({ ...card, description: "another" }));

    const drifts = workers.map((worker) => caught(worker.sendMessage("hello"), CardDriftError));
    const errors = await driven(clock, Promise.all(drifts), 10);

    expect(new Set(errors.map(({ reason }) => reason))).toEqual(new Set(["content-changed"]));
    expect(agent.acceptedMessageIds).toEqual([]);
  });

  test("wait for nobody who died with the turn for longer than it lasts", async () => {
    const { agent, clock, ledger, workers } = await setUp(2);
    const key = JSON.stringify(["lease", "https://agent.example/.well-known/agent-card.json", "default"]);
    const entry = await ledger.read(key);
    const dead = {
      kind: "lease",
      schema: 1,
      cardUrl: "https://agent.example/.well-known/agent-card.json",
      principal: "default",
      holder: "dead",
      ttlMs: 5_000,
      // Its clock was a day ahead.
      expiresAt: new Date(clock.now() + 86_400_000).toISOString(),
      updatedAt: new Date(clock.now()).toISOString(),
    } as const;
    await ledger.write(key, dead, entry?.revision ?? 0);
    const since = clock.monotonicMs();

    await driven(clock, Promise.all(workers.map((worker) => worker.sendMessage("hello"))));

    expect(clock.monotonicMs() - since).toBeLessThanOrEqual(5_500);
    expect(agent.cardReads().length).toBeLessThanOrEqual(2);
  });

  test("read for themselves where the turn can't be had", async () => {
    const { clock, agent } = await setUp(1);
    const ledger = sharedLedger(clock);
    const broken: Ledger = {
      ...ledger,
      write: async (key, record, revision) => {
        if (record.kind === "lease") throw new LedgerUnavailableError("write a record", "no space");
        return ledger.write(key, record, revision);
      },
    };
    const client = await createClient(agent.url, { fetch: agent.fetch, clock, ledger: broken });

    await expect(driven(clock, client.sendMessage("hello"))).resolves.toHaveProperty("task");
  });

  test("let go of a caller who gives up while another has the turn", async () => {
    const { agent, clock, workers } = await setUp(2);
    const [one, two] = workers;
    agent.once("card", answer.silence());
    const slow = caught(one?.sendMessage("hello", { timeoutMs: 20_000 }) ?? Promise.resolve());
    await clock.advance(50);
    const controller = new AbortController();
    const waiting = caught(two?.sendMessage("hello", { signal: controller.signal }) ?? Promise.resolve());
    await clock.advance(50);
    controller.abort("enough");

    expect(await waiting).toBe("enough");
    await driven(clock, slow, 1_000);
  });

  test("pay nothing for it where nobody shares the ledger", async () => {
    const { agent, clock } = await setUp(1);
    const ledger = createMemoryLedger({ clock });
    const client = await createClient(agent.url, { fetch: agent.fetch, clock, ledger });
    await client.sendMessage("hello");

    expect((await ledger.list({ kind: "lease" })).entries).toEqual([]);
  });
});

describe("trust between workers", () => {
  const trusted = (at: number, level: "lifecycle-trusted" | "card-trusted") => ({
    kind: "trust" as const,
    schema: 1 as const,
    callee: '["https://agent.example/rpc","JSONRPC",""]',
    protocolVersion: "1.0",
    level,
    digest: "sha256:0",
    capabilities: level === "card-trusted" ? [] : (["streaming", "history"] as const),
    timestamps: true,
    originWaived: false,
    history: [{ at: new Date(at).toISOString(), level, reason: "a probe passed" }],
    updatedAt: new Date(at).toISOString(),
  });

  test("that one earned counts for the next send of the others, and so does its loss", async () => {
    const { agent, clock, ledger, connect } = await setUp(1, {
      plan: [step.working(), step.artifact("a", "out"), step.completed()],
    });
    const [one, two] = await Promise.all([connect({ trust: "required" }), connect({ trust: "required" })]);
    await driven(clock, caught(two.sendMessage("hello"), LifecycleNotTrustedError));
    const plain = await driven(
      clock,
      connect().then((client) => client.probe({ message: "probe" })),
    );
    void plain;
    const [entry] = (await ledger.list({ kind: "trust" })).entries;
    if (entry?.record.kind !== "trust") expect.fail("no trust record");
    const { record, revision } = entry;
    await ledger.write(
      entry.key,
      { ...record, ...trusted(clock.now(), "lifecycle-trusted"), callee: record.callee },
      revision,
    );

    for (const client of [one, two]) {
      await expect(driven(clock, client.sendMessage("hello"))).resolves.toHaveProperty("task");
      expect(client.trust.level).toBe("lifecycle-trusted");
    }
    const again = await ledger.read(entry.key);
    await ledger.write(
      entry.key,
      { ...record, ...trusted(clock.now(), "card-trusted"), callee: record.callee },
      again?.revision ?? 0,
    );
    for (const client of [one, two]) {
      await driven(clock, caught(client.sendMessage("hello"), LifecycleNotTrustedError));
    }
    expect(agent.acceptedMessageIds.length).toBeGreaterThanOrEqual(2);
  });
});

describe("two workers with one task", () => {
  test("agree on what came of it, whoever saw it first", async () => {
    const { agent, clock, ledger, connect, workers } = await setUp(1, {
      plan: [step.working(), step.hold(), step.artifact("a", "out"), step.completed()],
    });
    const [first] = workers;
    const reply = await driven(
      clock,
      first?.sendMessage("hello") ?? Promise.reject(new TypeError("no worker")),
    );
    if (!("task" in reply)) expect.fail("no task");
    const second = await connect();
    const other = await driven(clock, second.resume(reply.task.id));
    const results = [reply.task.result(), other.result()];
    await clock.advance(100);
    agent.step(reply.task.id);

    const outcomes = await driven(clock, Promise.all(results));

    expect(outcomes.map(({ status }) => status)).toEqual(["completed", "completed"]);
    const third = await driven(clock, (await connect()).resume(reply.task.id));
    expect(third.state).toBe("TASK_STATE_COMPLETED");
    expect(third.artifacts).toHaveLength(1);
    expect((await ledger.list({ kind: "task" })).entries).toHaveLength(1);
  });

  const seen = (state: string, timestamp: string | undefined) => ({
    taskId: "t",
    state,
    timestamp,
    source: "get",
    seenAt: "x",
  });
  const record = (state: string, timestamp?: string, isTerminal = false) => {
    const last = seen(state, timestamp);
    return {
      pin: { digest: "d" },
      formerPins: [],
      requirements: {},
      task: { id: "t", status: { state } },
      memory: {
        observations: [last],
        ...(isTerminal ? { terminal: last } : {}),
        replayCount: 0,
        lateCount: 0,
      },
      deviations: [],
    } as never;
  };
  const early = "2026-01-01T00:00:00Z";
  const late = "2026-01-01T00:00:09Z";
  test.each([
    [
      "an end before work",
      record("TASK_STATE_COMPLETED", early, true),
      record("TASK_STATE_WORKING", late),
      true,
    ],
    [
      "work never before an end",
      record("TASK_STATE_WORKING", late),
      record("TASK_STATE_COMPLETED", early, true),
      false,
    ],
    [
      "the first end before another one",
      record("TASK_STATE_FAILED", early, true),
      record("TASK_STATE_COMPLETED", late, true),
      true,
    ],
    [
      "our look at the same end",
      record("TASK_STATE_COMPLETED", early, true),
      record("TASK_STATE_COMPLETED", early, true),
      false,
    ],
    [
      "what is later by the agent's clock",
      record("TASK_STATE_INPUT_REQUIRED", late),
      record("TASK_STATE_WORKING", early),
      true,
    ],
    [
      "ours where it is the later",
      record("TASK_STATE_WORKING", early),
      record("TASK_STATE_INPUT_REQUIRED", late),
      false,
    ],
    ["ours where nobody can tell", record("TASK_STATE_WORKING"), record("TASK_STATE_INPUT_REQUIRED"), false],
  ])("take of each other %s", (_what, theirs, ours, isTaken) => {
    expect("task" in takenFrom(theirs, ours)).toBe(isTaken);
  });
});
