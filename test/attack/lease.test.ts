import { CardDriftError, createMemoryLedger } from "a2a-lease";
import { answer, createTestCard, step } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { createGate, createHandledLedger, keyOf, setUp, taskOf, watch } from "./rig.ts";

describe("a lease that ends between the check and the send", () => {
  test("keeps the message back while the ledger is slow to take the intent", async () => {
    const { agent, connect, clock, rotate } = setUp();
    const { ledger, inner, hand } = createHandledLedger();
    const client = await connect({ ledger });
    const gate = createGate();
    hand.write = async (...args) => {
      await gate.wait;
      return inner.write(...args);
    };
    const first = watch(client.sendMessage("first"));
    await clock.advance(0);
    rotate();
    await caught(client.sendMessage("second"), CardDriftError);
    expect(client.signal.aborted).toBe(true);

    gate.open();
    await clock.advance(0);

    expect(first.outcome).toBe("CardDriftError");
    expect(agent.calls("SendMessage")).toHaveLength(0);
  });

  test("keeps the message back while credentials are being fetched", async () => {
    const { agent, connect, clock, rotate } = setUp();
    const gate = createGate();
    const credentials = async () => {
      await gate.wait;
      return { headers: { authorization: "Bearer x" } };
    };
    const client = await connect({ credentials });
    const first = watch(client.sendMessage("first"));
    await clock.advance(0);
    rotate();
    await caught(client.sendMessage("second"), CardDriftError);

    gate.open();
    await clock.advance(0);

    expect(first.outcome).toBe("CardDriftError");
    expect(agent.calls("SendMessage")).toHaveLength(0);
  });
});

describe("a posture function that throws", () => {
  test("ends the lease of an open stream as a fail does", async () => {
    const { agent, connect, clock, rotate } = setUp();
    agent.plan([step.working(), step.hold()]);
    const onDrift = () => {
      throw new Error("a fault of the policy");
    };
    const client = await connect({ posture: { onDrift }, fullCheckEveryMs: 5_000 });
    const task = taskOf(await client.sendMessage("x"));
    const seen: string[] = [];
    const stream = await task.subscribe();
    const reading = watch(
      (async () => {
        for await (const item of stream) seen.push(...Object.keys(item));
      })(),
    );
    await clock.advance(0);
    rotate();
    await clock.advance(30_000);
    agent.step(task.id, step.artifact("a", "made under another card"));
    await clock.advance(0);
    const { outcome } = reading;
    stream.close();

    expect(seen).toEqual(["task"]);
    expect(outcome).toBe("CardDriftError");
    expect(task.signal.aborted).toBe(true);
  });
});

describe("an answer that is withheld by a drift", () => {
  test("shows nothing of its prompt in deviations, events and the record", async () => {
    const { agent, connect, clock, rotate } = setUp();
    agent.plan([step.working(), step.hold()]);
    const client = await connect();
    const heard: string[] = [];
    client.on("deviation", ({ deviation }) => heard.push(deviation.message));
    const task = taskOf(await client.sendMessage("x"));
    const message = { messageId: "q", role: "Which region is the secret in?", parts: [{ text: "q" }] };
    const status = { state: "TASK_STATE_INPUT_REQUIRED", timestamp: "2026-01-02T00:00:00Z", message };
    agent.once("GetTask", answer.delay(5, answer.result({ id: task.id, contextId: task.contextId, status })));
    const reading = watch(task.get());
    await clock.advance(1);
    rotate();
    await clock.advance(10);
    expect(reading.outcome).toBe("CardDriftError");

    expect(heard).toEqual([]);
    expect(JSON.stringify(task)).not.toContain("secret");
  });

  test("stays out of the old handle when the new one reads it, and the old one shows its own pin", async () => {
    const { agent, connect, rotate } = setUp();
    agent.plan([step.working(), step.hold()]);
    const client = await connect();
    const old = taskOf(await client.sendMessage("x"));
    rotate();
    agent.step(old.id, step.artifact("a", "the withheld work"), step.completed());
    await caught(old.get(), CardDriftError);

    const renewed = await old.renegotiate();
    await renewed.get();

    expect(old.toJSON().pin.digest).toBe(old.pin.digest);
    expect(JSON.stringify(old)).not.toContain("the withheld work");
  });
});

describe("an answer in place of the agent", () => {
  // Design 9: a JSON-RPC code that is an HTTP status leaves the outcome unknown. 401 is taken for a refusal instead.
  test("with the JSON-RPC code 401 and HTTP 200 never makes the message leave twice", async () => {
    const { agent, connect } = setUp();
    const client = await connect({ credentials: async () => ({ headers: { authorization: "Bearer x" } }) });
    agent.once("SendMessage", answer.acceptThen(answer.error(401, "the model behind the agent said 401")));

    await client.sendMessage("pay the invoice").catch(() => {});

    expect(agent.acceptedMessageIds).toHaveLength(1);
  });
});

describe("the intent of a send", () => {
  test("is not written down as refused when the caller gives up on a stream that was accepted", async () => {
    const { agent, connect, clock } = setUp();
    const ledger = createMemoryLedger();
    const client = await connect({ ledger });
    agent.once("SendStreamingMessage", answer.acceptThen(answer.stream([], { end: "silence" })));
    const aborting = new AbortController();
    const message = { messageId: "m1", parts: [{ text: "x" }] };
    const stream = await client.sendStreamingMessage(message, { signal: aborting.signal });
    const reading = watch(stream[Symbol.asyncIterator]().next());
    await clock.advance(0);
    aborting.abort(new RangeError("mine"));
    await clock.advance(0);
    expect(reading.outcome).toBe("RangeError");
    expect(agent.acceptedMessageIds).toEqual(["m1"]);

    const entry = await ledger.read(keyOf("intent", client.lease.url, "m1"));

    expect(entry?.record).not.toMatchObject({ state: "refused" });
  });

  test("is not written down as refused when a fetch gives a response whose body was read already", async () => {
    const { agent, connect } = setUp();
    const ledger = createMemoryLedger();
    const fetch: typeof agent.fetch = async (...args) => {
      const response = await agent.fetch(...args);
      // A wrapper that logs bodies, and forgets to clone.
      if (args[1]?.method === "POST") await response.text();
      return response;
    };
    const client = await connect({ ledger, fetch });

    const error = await caught<Error>(client.sendMessage({ messageId: "m1", parts: [{ text: "x" }] }));
    const entry = await ledger.read(keyOf("intent", client.lease.url, "m1"));

    expect(agent.acceptedMessageIds).toEqual(["m1"]);
    expect(error.name).toBe("SendOutcomeUnknownError");
    expect(entry?.record).toMatchObject({ state: "unknown" });
  });
});

describe("renegotiating", () => {
  test("reads the extended card again too, so that the next send goes out", async () => {
    const card = createTestCard();
    const { agent, connect } = setUp({
      card: { ...card, capabilities: { ...card.capabilities, extendedAgentCard: true } },
    });
    agent.on("GetExtendedAgentCard", ({ card: live }) => answer.result({ ...live, description: "for us" }));
    const client = await connect();
    await client.getExtendedAgentCard();
    agent.rotateCard((live) => ({ ...live, version: "2.0.0" }));
    await caught(client.sendMessage("x"), CardDriftError);

    await client.renegotiate();
    await client.sendMessage("x");

    expect(agent.acceptedMessageIds).toHaveLength(1);
  });
});

describe("a client whose plan drifted", () => {
  // Design 3: every later send throws the same error without a request until the client renegotiates.
  test("sends nothing, also when the message names a task that nobody knows", async () => {
    const { agent, connect, rotate } = setUp();
    const client = await connect();
    rotate();
    await caught(client.sendMessage("x"), CardDriftError);

    await client.sendMessage({ taskId: "unknown", parts: [{ text: "x" }] }).catch(() => {});

    expect(agent.calls("SendMessage")).toHaveLength(0);
  });
});

describe("a listener", () => {
  test("that is async and fails does not leave a rejection unhandled", async () => {
    const { connect } = setUp();
    const client = await connect();
    // A listener's promise that nobody takes hold of is one that nobody handles.
    let isHeld = false;
    const failing = {
      // biome-ignore lint/suspicious/noThenProperty: stands in for a promise, to see who holds it
      then: () => {
        isHeld = true;
      },
      catch: () => {
        isHeld = true;
      },
    };
    client.on("lease-renewed", () => failing as never);

    await client.sendMessage("x");
    await Promise.resolve();

    expect(isHeld).toBe(true);
  });
});
