import { CardDriftError, createAgents, createClient, LeaseUnverifiableError } from "a2a-lease";
import {
  answer,
  createScriptedAgent,
  createTestCard,
  createTestClock,
  createTestNetwork,
  step,
} from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "./caught.ts";
import { driven } from "./driven.ts";

function setUp(options: Parameters<typeof createScriptedAgent>[0] = {}) {
  const clock = createTestClock();
  const agent = createScriptedAgent({ clock, ...options });
  const connect = (more = {}) =>
    createClient(agent.url, { fetch: agent.fetch, clock, retries: { firstMs: 0 }, ...more });
  return { clock, agent, connect };
}

describe("the term of a lease", () => {
  test("spares the ordinary checks within it, and not the one after it", async () => {
    const { clock, agent, connect } = setUp();
    const client = await connect({ leaseTermMs: 30_000 });
    agent.clearTranscript();
    await client.sendMessage("one");
    await clock.advance(29_999);
    await client.sendMessage("two");
    expect(agent.cardReads()).toEqual([]);

    await clock.advance(1);
    await client.sendMessage("three");

    expect(agent.cardReads()).toHaveLength(1);
  });

  test("does not spare the check that a surprise forces", async () => {
    const { agent, connect } = setUp();
    const client = await connect({ leaseTermMs: 30_000 });
    agent.once("SendMessage", answer.error(-32602, "no"));
    agent.rotateCard((card) => ({ ...card, description: "another" }));
    agent.clearTranscript();

    expect(await caught(client.sendMessage("hello"))).toBeInstanceOf(CardDriftError);
    expect(agent.cardReads().map(({ forced }) => forced)).toEqual([true]);
  });

  test('"http" believes the server\'s cache headers, less the age that caches report', async () => {
    const { clock, agent, connect } = setUp({ cacheControl: "max-age=60", ageSeconds: 20 });
    const client = await connect({ leaseTermMs: "http" });
    expect(client.lease.ageSeconds).toBe(20);
    agent.clearTranscript();
    await clock.advance(39_000);
    await client.sendMessage("one");
    expect(agent.cardReads()).toEqual([]);

    await clock.advance(2_000);
    await client.sendMessage("two");

    expect(agent.cardReads()).toHaveLength(1);
  });

  test("counts the larger of what the two clocks say, so that a sleeping machine does not stop it", async () => {
    const { clock, agent, connect } = setUp();
    const client = await connect({ leaseTermMs: 30_000 });
    agent.clearTranscript();
    clock.setWall(clock.now() + 3_600_000);

    await client.sendMessage("hello");

    expect(agent.cardReads()).toHaveLength(1);
  });
});

describe("a card that can't be read", () => {
  test("stops everything that depends on it, and nothing is sent", async () => {
    const { agent, clock, connect } = setUp();
    const client = await connect();
    agent.on("card", answer.http(503));

    const error = await driven(clock, caught(client.sendMessage("hello"), LeaseUnverifiableError), 0);

    expect(error).toMatchObject({
      retry: "safe",
      nextStep: "wait",
      cause: { name: "CardUnreachableError", status: 503 },
    });
    expect(agent.calls()).toEqual([]);
    agent.off("card");
    await expect(client.sendMessage("again")).resolves.toHaveProperty("task");
  });

  test("is borne for as long as the caller allowed, marked in every lease", async () => {
    const { clock, agent, connect } = setUp({ cacheControl: "max-age=60" });
    const client = await connect({ staleIfErrorMs: 600_000 });
    const reply = await client.sendMessage("hello");
    if (!("task" in reply)) expect.fail("no task");
    agent.on("card", answer.http(503));
    await clock.advance(600_000);

    await driven(clock, reply.task.get(), 0);
    expect(reply.task.lease.stale).toBe(true);
    expect(client.lease.stale).toBe(true);

    await clock.advance(1);
    expect(await driven(clock, caught(reply.task.get()), 0)).toBeInstanceOf(LeaseUnverifiableError);
    agent.off("card");
    await reply.task.get();
    expect(reply.task.lease.stale).toBe(false);
  });

  test("is never borne after a surprise: the prompt stays withheld, with the reason", async () => {
    const { agent, clock, connect } = setUp();
    agent.planNext([step.working(), step.hold(), step.inputRequired("Which region?")]);
    const client = await connect({ staleIfErrorMs: 600_000 });
    const reply = await client.sendMessage("hello");
    if (!("task" in reply)) expect.fail("no task");
    agent.step(reply.task.id);
    agent.on("card", answer.http(503));

    const error = await driven(clock, caught(reply.task.get(), LeaseUnverifiableError), 0);

    expect(reply.task.state).toBe("TASK_STATE_SUBMITTED");
    expect(JSON.stringify([error, reply.task])).not.toContain("region");
  });

  test("carries the surprise that asked for it as the cause", async () => {
    const { agent, clock, connect } = setUp();
    const client = await connect();
    agent.once("SendMessage", answer.error(-32602, "no"));
    agent.once("card", answer.honest(), ...answer.repeat(3, answer.http(503)));

    const error = await driven(clock, caught(client.sendMessage("hello"), LeaseUnverifiableError), 0);

    expect(error).toMatchObject({
      cause: { name: "InvalidParamsError" },
      checkFailure: { name: "CardUnreachableError" },
    });
  });

  test("ends the lease when that has gone on for too long", async () => {
    const { clock, agent, connect } = setUp();
    const client = await connect({ maxUnverifiedMs: 60_000 });
    const reply = await client.sendMessage("hello");
    if (!("task" in reply)) expect.fail("no task");
    agent.on("card", answer.http(503));
    await clock.advance(60_000);
    await driven(clock, caught(reply.task.get()), 0);
    expect(reply.task.signal.aborted).toBe(false);
    await clock.advance(1);

    const error = await driven(clock, caught(reply.task.get()), 0);
    agent.off("card");

    expect(reply.task.signal.reason).toBe(error);
    expect(await caught(reply.task.get())).toBe(error);
    await expect(reply.task.renegotiate().then((handle) => handle.get())).resolves.toBeDefined();
  });

  test("is left alone for as long as the server asked, whoever comes the same way", async () => {
    const { clock, agent, connect } = setUp();
    agent.on("card", answer.http(503, "", { "retry-after": "30" }));
    const first = await caught(connect());
    expect(first).toMatchObject({
      name: "CardUnreachableError",
      status: 503,
      retryAfterMs: 30_000,
      attemptCount: 1,
    });
    await clock.advance(10_000);

    const second = await caught(connect());

    expect(second).toMatchObject({ name: "CardUnreachableError", status: 503, retryAfterMs: 20_000 });
    expect(agent.cardReads()).toHaveLength(1);
    agent.off("card");
    await clock.advance(20_000);
    await expect(connect()).resolves.toBeDefined();
  });

  test("that may not be read yet leaves a surprise unverifiable", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    agent.once("card", answer.http(429, "", { "retry-after": "30" }));
    await caught(client.sendMessage("hello"));
    const handle = await caught(client.getTask({ id: "t1" }));

    expect(handle).toMatchObject({ name: "LeaseUnverifiableError", retryAfterMs: 30_000 });
  });

  test("that is gone twice is withdrawn, and one moment of absence is not", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    agent.once("card", answer.http(404));
    await expect(client.sendMessage("hello")).resolves.toHaveProperty("task");
    agent.on("card", answer.http(410));

    expect(await caught(client.sendMessage("hello"))).toMatchObject({
      name: "CardDriftError",
      reason: "card-withdrawn",
      drift: { live: undefined, changes: [], breaks: [] },
    });
  });
});

describe("a card that is handed in", () => {
  const card = createTestCard();

  test("that never changes is never checked", async () => {
    const { agent, clock } = setUp();
    agent.on("card", answer.http(404));
    const client = await createClient(card, { fetch: agent.fetch, clock, immutable: true });

    await expect(client.sendMessage("hello")).resolves.toHaveProperty("task");
    expect(agent.cardReads()).toEqual([]);
  });

  test("is a hint: the first step checks it where it really is", async () => {
    const { agent, clock } = setUp();
    agent.rotateCard((current) => ({ ...current, description: "newer than the registry's copy" }));
    const revalidateAt = `${agent.url}/.well-known/agent-card.json`;
    const client = await createClient(card, { fetch: agent.fetch, clock, revalidateAt, leaseTermMs: 60_000 });

    expect(await caught(client.sendMessage("hello"))).toBeInstanceOf(CardDriftError);
    expect(agent.calls()).toEqual([]);
  });

  test("says where it is checked, or that it never is", async () => {
    await expect(createClient(card)).rejects.toThrow("immutable");
  });

  test("may be good until a certain time only", async () => {
    const { agent, clock } = setUp();
    const immutable = { untilMs: clock.now() + 1_000 };
    const client = await createClient(card, { fetch: agent.fetch, clock, immutable });
    await client.sendMessage("hello");
    await clock.advance(1_000);

    expect(await caught(client.sendMessage("hello"))).toBeInstanceOf(LeaseUnverifiableError);
  });
});

test("a digest that a registry vouched for is checked when the card is read", async () => {
  const { agent, connect } = setUp();
  const { pin } = await connect();
  await expect(connect({ expectedDigest: pin.digest })).resolves.toBeDefined();
  agent.rotateCard((card) => ({ ...card, description: "another" }));

  expect(await caught(connect({ expectedDigest: pin.digest }))).toMatchObject({ name: "CardInvalidError" });
});

test("a pin taken elsewhere is what the first send is checked against", async () => {
  const { agent, connect } = setUp();
  const { pin } = await connect();
  agent.rotateCard((card) => ({ ...card, description: "another" }));
  const client = await connect({ pin: JSON.parse(JSON.stringify(pin)) });

  expect(await caught(client.sendMessage("hello"), CardDriftError)).toMatchObject({
    drift: { pinned: { digest: pin.digest } },
  });
});

describe("a fleet that serves two cards", () => {
  const other = createTestCard({ description: "the other replica" });

  test("flaps, and the drift says so", async () => {
    const { agent, connect } = setUp({ etag: "none" });
    const client = await connect({ posture: { onDrift: () => "repin" } });
    const flapping: boolean[] = [];
    client.on("drift", ({ drift }) => flapping.push(drift.flapping));
    agent.on("card", ({ nth }) => (nth % 2 === 0 ? answer.card(other) : undefined));

    for (const text of ["one", "two", "three"]) await client.sendMessage(text);

    expect(flapping).toEqual([false, true, true]);
  });

  test("is one agent to a caller who accepts both digests", async () => {
    const { agent, connect } = setUp({ etag: "none" });
    const { pin } = await createClient(other, { immutable: true });
    const client = await connect({ acceptDigests: [pin.digest] });
    agent.on("card", ({ nth }) => (nth % 2 === 1 ? answer.card(other) : undefined));

    for (const text of ["one", "two", "three"]) await client.sendMessage(text);

    expect(agent.acceptedMessageIds).toHaveLength(3);
  });
});

test("a version that goes back is a rollback until the caller accepts it", async () => {
  const { agent, connect } = setUp({ card: createTestCard({ version: "1.4.0" }) });
  const client = await connect();
  agent.rotateCard((card) => ({ ...card, version: "1.3.9" }));

  expect(await caught(client.sendMessage("hello"))).toMatchObject({ reason: "rolled-back" });
  await client.renegotiate();
  await client.sendMessage("hello");
  agent.rotateCard((card) => ({ ...card, description: "same version" }));
  expect(await caught(client.sendMessage("hello"))).toMatchObject({ reason: "content-changed" });
});

describe("reading for many", () => {
  test("a thousand calls in one tick cost one card read", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    agent.clearTranscript();

    await Promise.all(Array.from({ length: 1_000 }, () => client.sendMessage("hello")));

    expect(agent.cardReads()).toHaveLength(1);
    expect(agent.calls("SendMessage")).toHaveLength(1_000);
  });

  test("surprises of one moment share one forced read, which begins after them", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    agent.on("SendMessage", answer.error(-32602, "no"));
    agent.clearTranscript();

    const errors = await Promise.all(Array.from({ length: 50 }, () => caught(client.sendMessage("hello"))));

    expect(errors.map((error) => (error as Error).name)).toEqual(errors.map(() => "InvalidParamsError"));
    const forced = agent.cardReads().filter((read) => read.forced);
    expect(forced.length).toBeLessThanOrEqual(2);
    const lastCall = Math.max(...agent.calls().map((call) => call.step));
    expect(forced.at(-1)?.step).toBeGreaterThan(lastCall);
  });
});

describe("a watch", () => {
  test("ends leases between calls, and nothing else runs then", async () => {
    const { clock, agent, connect } = setUp();
    const client = await connect();
    const reply = await client.sendMessage("hello");
    if (!("task" in reply)) expect.fail("no task");
    expect(clock.pendingCount).toBe(0);
    const stop = client.watch({ everyMs: 10_000 });
    await clock.advance(10_000);
    expect(reply.task.signal.aborted).toBe(false);
    agent.rotateCard((card) => ({ ...card, description: "another" }));
    const before = agent.cardReads().length;

    await clock.advance(10_000);

    expect(agent.cardReads()).toHaveLength(before + 1);
    expect(reply.task.signal.reason).toBeInstanceOf(CardDriftError);
    expect(await caught(client.sendMessage("hello"))).toBeInstanceOf(CardDriftError);
    stop();
    expect(clock.pendingCount).toBe(0);
    await clock.advance(60_000);
    expect(agent.cardReads()).toHaveLength(before + 1);
  });

  test("ends with the client", async () => {
    const { clock, connect } = setUp();
    const client = await connect();
    client.watch({ everyMs: 10_000 });
    await client.close();

    expect(clock.pendingCount).toBe(0);
    expect(() => client.watch({ everyMs: 0 })).toThrow("everyMs");
  });
});

test("a stream that stays open is under the lease: a drift ends it after what had come in", async () => {
  const { clock, agent, connect } = setUp();
  agent.planNext([step.working(), step.hold()]);
  const client = await connect();
  const seen: string[] = [];
  const reading = caught(
    (async () => {
      for await (const item of await client.sendStreamingMessage("hello"))
        seen.push(Object.keys(item)[0] ?? "");
    })(),
    CardDriftError,
  );
  await clock.advance(0);
  agent.rotateCard((card) => ({ ...card, description: "another" }));
  await clock.advance(59_000);
  expect(agent.openStreamCount).toBe(1);

  await clock.advance(1_000);

  expect(await reading).toMatchObject({ drift: { phase: { operation: "SendStreamingMessage" } } });
  expect(seen).toEqual(["task", "statusUpdate"]);
  expect(agent.openRequestCount).toBe(0);
  expect(clock.pendingCount).toBe(0);
});

describe("many agents", () => {
  test("have one client each, whichever address leads to the card, and one close", async () => {
    const { agent, clock } = setUp();
    const other = createScriptedAgent({
      clock,
      url: "https://other.example",
      card: createTestCard({
        supportedInterfaces: [
          { url: "https://other.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        ],
      }),
    });
    const agents = createAgents({ fetch: createTestNetwork([agent, other]), clock });
    const [first, same, direct, another] = await Promise.all([
      agents.get(agent.url),
      agents.get(agent.url),
      agents.get(`${agent.url}/.well-known/agent-card.json`),
      agents.get(other.url),
    ]);

    expect(same).toBe(first);
    expect(direct).toBe(first);
    expect(another).not.toBe(first);
    await agents.close();
    expect(await caught(first.sendMessage("hello"))).toMatchObject({ name: "AbortError" });
    expect(await caught(agents.get(agent.url))).toMatchObject({ name: "AbortError" });
  });

  test("that could not be read are tried again when asked for again", async () => {
    const { agent, clock } = setUp();
    const agents = createAgents({ fetch: agent.fetch, clock });
    agent.once("card", answer.http(500));

    expect(await caught(agents.get(agent.url))).toMatchObject({ name: "CardUnreachableError" });
    await expect(agents.get(agent.url)).resolves.toBeDefined();
  });
});

describe("another interface of the same card", () => {
  const at = (url: string) => ({ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" });
  const card = createTestCard({
    supportedInterfaces: [at("https://down.example/rpc"), at("https://agent.example/rpc")],
  });

  test("takes a call that provably never left", async () => {
    const { agent, connect } = setUp({ card });
    const client = await connect();
    const retries: unknown[] = [];
    client.on("retry", ({ operation, with: what }) => retries.push([operation, what]));

    await expect(client.sendMessage("hello")).resolves.toHaveProperty("task");

    expect(agent.acceptedMessageIds).toHaveLength(1);
    expect(retries).toEqual([["SendMessage", "interface"]]);
  });

  test("takes no message whose fate is unknown", async () => {
    const both = createTestCard({
      supportedInterfaces: [at("https://agent.example/a"), at("https://agent.example/b")],
    });
    const { agent, connect } = setUp({ card: both, rpcPath: ["/a", "/b"] });
    const client = await connect();
    agent.once("SendMessage", answer.acceptThenReset());
    agent.on("ListTasks", answer.error(-32601, "no such method"));

    expect(await caught(client.sendMessage("hello"))).toMatchObject({ name: "SendOutcomeUnknownError" });
    expect(agent.calls("SendMessage")).toHaveLength(1);
    agent.once("GetTask", answer.reset());
    await expect(client.getTask({ id: "task-1" })).resolves.toMatchObject({ id: "task-1" });
    expect(agent.calls("GetTask").map(({ path }) => path)).toEqual(["/a", "/b"]);
  });
});

describe("the extended card", () => {
  const publicCard = createTestCard({ capabilities: { streaming: true, extendedAgentCard: true } });
  const [summarize] = publicCard.skills;
  const secret = { id: "audit", name: "Audit", description: "For members", tags: [] };
  const extended = { ...publicCard, skills: [...(summarize ? [summarize] : []), secret] };

  function setUpExtended() {
    const parts = setUp({ card: publicCard });
    parts.agent.on("GetExtendedAgentCard", answer.result(extended));
    return parts;
  }

  test("meets requirements once it was read, and reading it is no drift", async () => {
    const { connect } = setUpExtended();
    const client = await connect();
    const requires = { skills: ["audit"] };
    expect(await caught(client.sendMessage("hello", { requires }))).toMatchObject({
      name: "RequirementUnmetError",
    });

    const card = await client.getExtendedAgentCard();
    const reply = await client.sendMessage("hello", { requires });

    expect(card.skills.map(({ id }) => id)).toEqual(["summarize", "audit"]);
    expect("task" in reply && reply.task.pin.extended?.digest).toMatch(/^sha256:/);
  });

  test("is checked with the public card: a change of it is a drift", async () => {
    const { agent, connect } = setUpExtended();
    const client = await connect();
    await client.getExtendedAgentCard();
    await client.sendMessage("hello", { requires: { skills: ["audit"] } });
    agent.on("GetExtendedAgentCard", answer.result(publicCard));

    expect(await caught(client.sendMessage("hello", { requires: { skills: ["audit"] } }))).toMatchObject({
      name: "CardDriftError",
      reason: "skill-withdrawn",
    });
  });

  test("that can't be checked for a message that was taken does not make it safe to send again", async () => {
    const { agent, connect } = setUpExtended();
    agent.planNext([step.inputRequired("Which region?")]);
    const client = await connect();
    await client.getExtendedAgentCard();
    agent.once(
      "GetExtendedAgentCard",
      answer.result(extended),
      answer.http(503, "", { "retry-after": "70" }),
    );

    expect(await caught(client.sendMessage("hello", { blocking: true }))).toMatchObject({
      name: "LeaseUnverifiableError",
      retry: "unknown-outcome",
      retryAfterMs: 70_000,
      taskId: "task-1",
    });
    expect(agent.acceptedMessageIds).toHaveLength(1);
  });

  test("is dropped when the agent no longer accepts the credentials", async () => {
    const { agent, connect } = setUpExtended();
    const client = await connect();
    await client.getExtendedAgentCard();
    agent.on("GetExtendedAgentCard", answer.http(401, "", { "www-authenticate": "Bearer" }));

    await client.sendMessage("hello");

    expect(client.pin.extended).toBeUndefined();
    expect(client.card.skills.map(({ id }) => id)).toEqual(["summarize"]);
  });

  test("that is no card never becomes current", async () => {
    const { agent, connect } = setUpExtended();
    const client = await connect();
    agent.on("GetExtendedAgentCard", answer.result({ name: "half" }));

    expect(await caught(client.getExtendedAgentCard())).toMatchObject({ name: "MalformedResponseError" });
    expect(client.pin.extended).toBeUndefined();
  });

  test("is asked for only where the card declares one", async () => {
    const { agent, connect } = setUp({
      card: createTestCard({ capabilities: { extendedAgentCard: false } }),
    });
    const client = await connect();
    agent.clearTranscript();

    expect(await caught(client.getExtendedAgentCard())).toMatchObject({
      name: "CapabilityMissingError",
      capability: "extendedAgentCard",
    });
    expect(agent.transcript).toEqual([]);
  });
});

test("a version that the agent refuses is its own error: no older protocol is tried instead", async () => {
  const at = (protocolVersion: string) => ({
    url: "https://agent.example/rpc",
    protocolBinding: "JSONRPC",
    protocolVersion,
  });
  const { agent, connect } = setUp({ card: createTestCard({ supportedInterfaces: [at("1.0"), at("0.3")] }) });
  const client = await connect();
  agent.on("SendMessage", answer.error(-32009, "version 1.0 not supported"));

  expect(await caught(client.sendMessage("hello"))).toMatchObject({ name: "VersionNotSupportedError" });
  expect(agent.calls().map(({ headers, operation }) => [headers["a2a-version"], operation])).toEqual([
    ["1.0", "SendMessage"],
  ]);
});

test("a protocol version that moves under the same address is a drift, whatever the server still answers", async () => {
  const at = (protocolVersion: string) => ({
    url: "https://agent.example/rpc",
    protocolBinding: "JSONRPC",
    protocolVersion,
  });
  const { agent, connect } = setUp({ card: createTestCard({ supportedInterfaces: [at("1.0")] }) });
  const client = await connect();
  agent.rotateCard((card) => ({ ...card, supportedInterfaces: [at("2.0")] }));

  expect(await caught(client.sendMessage("hello"))).toMatchObject({
    name: "CardDriftError",
    reason: "protocol-version-changed",
  });
});
