import {
  type CardDrift,
  CardDriftError,
  type ClientEventName,
  createClient,
  type LeasedTask,
} from "a2a-lease";
import { createTestCard, createTestClock, step } from "a2a-lease/testing";
import { describe, expect, test, vi } from "vitest";
import { caught } from "./caught.ts";
import { agentOver, bothBindings } from "./over.ts";

const degrade = { onDrift: "degrade", restartable: true } as const;
const oauth = { agentAuth: { openIdConnectSecurityScheme: { openIdConnectUrl: "https://auth.example" } } };

describe.each(bothBindings)("over %s,", (binding) => {
  function setUp() {
    const clock = createTestClock();
    const agent = agentOver(binding, { clock });
    const connect = (options = {}) => createClient(agent.url, { fetch: agent.fetch, clock, ...options });
    return { clock, agent, connect };
  }

  describe("the posture degrade", () => {
    test("pins a card that still meets the plan and goes on, with the former pin in the task's record", async () => {
      const { agent, connect } = setUp();
      const client = await connect({ posture: degrade, requires: { skills: ["summarize"] } });
      const repinned = vi.fn();
      client.on("lease-repinned", repinned);
      const reply = await client.sendMessage("one");
      if (!("task" in reply)) expect.fail("no task");
      const { task } = reply;
      const first = task.pin.digest;
      agent.rotateCard((card) => ({ ...card, description: "another", capabilities: {} }));

      await task.get();

      expect(task.state).toBe("TASK_STATE_COMPLETED");
      expect(task.pin.digest).not.toBe(first);
      expect(task.toJSON()).toMatchObject({
        pin: { digest: task.pin.digest },
        formerPins: [{ digest: first }],
      });
      expect(task.signal.aborted).toBe(false);
      expect(repinned).toHaveBeenCalledExactlyOnceWith(
        expect.objectContaining({ taskId: task.id, from: first, to: task.pin.digest }),
      );
      expect(await client.task(task.id)).toBe(task);
    });

    test("moves the plan at the next send", async () => {
      const { agent, connect } = setUp();
      const client = await connect({ posture: degrade });
      const { digest } = client.pin;
      agent.rotateCard((card) => ({ ...card, description: "another" }));

      const reply = await client.sendMessage("hello");

      expect(client.pin.digest).not.toBe(digest);
      expect("task" in reply && reply.task.pin.digest).toBe(client.pin.digest);
    });

    test("fails when a requirement broke, and says which", async () => {
      const { agent, connect } = setUp();
      const client = await connect({ posture: degrade, requires: { skills: ["summarize"] } });
      agent.rotateCard((card) => ({ ...card, skills: [] }));

      const error = await caught(client.sendMessage("hello"), CardDriftError);

      expect(error).toMatchObject({
        reason: "skill-withdrawn",
        drift: { breaks: [{ wanted: "summarize" }] },
      });
      expect(agent.calls()).toEqual([]);
    });

    test("fails when a stream was asked for and the card no longer streams", async () => {
      const { agent, connect } = setUp();
      const client = await connect({ posture: degrade });
      agent.rotateCard((card) => ({ ...card, capabilities: {} }));

      expect(await caught(client.sendStreamingMessage("hello"), CardDriftError)).toMatchObject({
        reason: "streaming-disabled",
      });
    });

    test("takes a subscription for a capability that is missing once the new card is pinned", async () => {
      const { agent, connect } = setUp();
      agent.planNext([step.working(), step.hold()]);
      const client = await connect({ posture: degrade });
      const reply = await client.sendMessage("hello");
      if (!("task" in reply)) expect.fail("no task");
      agent.rotateCard((card) => ({ ...card, capabilities: {} }));

      expect(await caught(reply.task.subscribe())).toMatchObject({ name: "CapabilityMissingError" });
      expect(agent.openRequestCount).toBe(0);
    });

    test.each([
      ["security schemes", { securitySchemes: oauth }, "security-changed"],
      [
        "the interface",
        {
          supportedInterfaces: [
            { url: "https://agent.example/b", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
          ],
        },
        "interface-moved",
      ],
      ["a lower version", { version: "0.9.0" }, "rolled-back"],
    ])("never accepts a change of %s", async (_name, members, reason) => {
      const { agent, connect } = setUp();
      const client = await connect({ posture: degrade });
      agent.rotateCard((card) => ({ ...card, ...members }));

      expect(await caught(client.sendMessage("hello"), CardDriftError)).toMatchObject({ reason });
    });

    test("has to say that the work may start again", () => {
      // @ts-expect-error restartable is what makes the caller think about it
      const wrong: Parameters<typeof createClient>[1] = { posture: { onDrift: "degrade" } };

      return expect(createClient("https://agent.example", wrong)).rejects.toThrow(TypeError);
    });
  });

  describe("a posture function", () => {
    test("sees the drift and the task, and decides", async () => {
      const { agent, connect } = setUp();
      const seen: unknown[] = [];
      const onDrift = (drift: CardDrift, handle: LeasedTask | undefined) => {
        seen.push([drift.reason, handle?.id]);
        return drift.changes.every(({ impact }) => impact === "cosmetic") ? "repin" : "fail";
      };
      const client = await connect({ posture: { onDrift } });
      const reply = await client.sendMessage("hello");
      if (!("task" in reply)) expect.fail("no task");
      agent.rotateCard((card) => ({ ...card, description: "another" }));
      await reply.task.get();
      agent.rotateCard((card) => ({ ...card, defaultOutputModes: ["image/png"] }));

      expect(await caught(reply.task.get())).toBeInstanceOf(CardDriftError);
      expect(seen).toEqual([
        ["content-changed", reply.task.id],
        ["content-changed", reply.task.id],
      ]);
    });

    test("is not asked about a change of security", async () => {
      const { agent, connect } = setUp();
      const onDrift = vi.fn(() => "repin" as const);
      const client = await connect({ posture: { onDrift } });
      agent.rotateCard((card) => ({ ...card, securitySchemes: oauth }));

      expect(await caught(client.sendMessage("hello"))).toBeInstanceOf(CardDriftError);
      expect(onDrift).not.toHaveBeenCalled();
    });

    test("can't accept a card that the plan does not stand on", async () => {
      const { agent, connect } = setUp();
      const client = await connect({
        posture: { onDrift: () => "repin" },
        requires: { skills: ["summarize"] },
      });
      agent.rotateCard((card) => ({ ...card, skills: [] }));

      expect(await caught(client.sendMessage("hello"))).toMatchObject({ name: "CardDriftError" });
    });
  });

  test("a posture can be given to one send, and the handle that comes of it keeps it", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    const strict = await client.sendMessage("one");
    const lenient = await client.sendMessage("two", { posture: degrade });
    if (!("task" in strict && "task" in lenient)) expect.fail("no task");
    agent.rotateCard((card) => ({ ...card, description: "another" }));

    await expect(lenient.task.get()).resolves.toBe(lenient.task);
    expect(await caught(strict.task.get())).toBeInstanceOf(CardDriftError);
  });

  test("the events tell the life of a lease in order, without a secret", async () => {
    const { agent, clock, connect } = setUp();
    agent.configure({ bearer: "s3cret" });
    const client = await connect({ credentials: { bearer: "s3cret" } });
    const heard: [ClientEventName, string | undefined][] = [];
    const all: unknown[] = [];
    const names: ClientEventName[] = [
      "lease-granted",
      "lease-renewed",
      "drift",
      "lease-ended",
      "lease-repinned",
    ];
    const stops = names.map((name) =>
      client.on(name, (event) => {
        heard.push([name, event.taskId]);
        all.push(event);
      }),
    );
    client.on("lease-renewed", () => {
      throw new RangeError("a listener that fails");
    });
    const reply = await client.sendMessage("hello");
    if (!("task" in reply)) expect.fail("no task");
    agent.rotateCard((card) => ({ ...card, description: "another" }));
    await caught(reply.task.get());
    await client.renegotiate();
    for (const stop of stops) stop();
    await client.sendMessage("unheard");

    const { id } = reply.task;
    expect(heard).toEqual([
      ["lease-renewed", undefined],
      ["lease-granted", id],
      ["drift", id],
      ["lease-ended", id],
      ["lease-granted", undefined],
    ]);
    expect(all[0]).toEqual({
      at: "2026-01-01T00:00:00.000Z",
      cardUrl: `${agent.url}/.well-known/agent-card.json`,
      digest: reply.task.pin.digest,
      via: "not-modified",
    });
    expect(JSON.stringify(all)).not.toContain("s3cret");
    expect(clock.pendingCount).toBe(0);
  });

  test("requirements that the card does not meet fail before any request, each with what is offered", async () => {
    const { agent, connect } = setUp();
    agent.rotateCard(
      createTestCard({
        capabilities: { extensions: [{ uri: "urn:ex:sign", required: true }, { uri: "urn:ex:geo" }] },
      }),
    );
    const client = await connect({ extensions: ["urn:ex:sign"] });
    agent.clearTranscript();

    const error = await caught(
      client.sendMessage([{ data: 1 }], {
        requires: {
          skills: ["translate"],
          streaming: true,
          extensions: ["urn:ex:pay"],
          outputModes: ["image/png"],
        },
      }),
    );

    expect(error).toMatchObject({
      name: "RequirementUnmetError",
      unmet: [
        { requirement: "skills", wanted: "translate", offered: ["summarize"] },
        { requirement: "streaming", wanted: true, offered: false },
        { requirement: "inputModes", wanted: "application/json", offered: ["text/plain"] },
        { requirement: "outputModes", wanted: "image/png", offered: ["text/plain"] },
        { requirement: "extensions", wanted: "urn:ex:pay", offered: ["urn:ex:sign", "urn:ex:geo"] },
      ],
    });
    expect(agent.transcript).toEqual([]);
  });

  test("a required extension that the caller does not declare fails before the first send, by its URI", async () => {
    const { agent, connect } = setUp();
    agent.rotateCard(
      createTestCard({ capabilities: { extensions: [{ uri: "urn:ex:sign", required: true }] } }),
    );

    expect(await caught(connect())).toMatchObject({
      name: "RequirementUnmetError",
      unmet: [{ requirement: "requiredExtension", wanted: "urn:ex:sign" }],
    });
    const client = await connect({ extensions: ["urn:ex:sign", "urn:ex:unlisted"] });
    await client.sendMessage("hello");
    expect(agent.calls()[0]?.headers["a2a-extensions"]).toBe("urn:ex:sign");
  });
});
