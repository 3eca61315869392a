import { createMemoryLedger, isA2ALeaseError, SendOutcomeUnknownError } from "a2a-lease";
import { answer, step } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { createHandledLedger, keyOf, setUp, taskOf, watch } from "./rig.ts";

describe("a ledger that fails after a message left", () => {
  test("does not turn an unknown outcome into an error that is safe to retry", async () => {
    const { agent, connect } = setUp();
    const { ledger, hand } = createHandledLedger();
    const client = await connect({ ledger });
    agent.once("SendMessage", () => {
      hand.write = async () => Promise.reject(new Error("database down"));
      return answer.acceptThenReset();
    });

    const error = await caught<{ retry: string }>(client.sendMessage("pay the invoice"));

    expect(agent.acceptedMessageIds).toHaveLength(1);
    expect(error.retry).toBe("unknown-outcome");
    expect(error).toBeInstanceOf(SendOutcomeUnknownError);
  });

  test("does not make a send that was answered with a task look safe to send again", async () => {
    const { agent, connect } = setUp();
    const { ledger, hand } = createHandledLedger();
    const client = await connect({ ledger });
    agent.once("SendMessage", () => {
      hand.write = async () => Promise.reject(new Error("database down"));
      return undefined;
    });

    const error = await caught<{ retry: string }>(client.sendMessage("pay the invoice"));

    expect(agent.acceptedMessageIds).toHaveLength(1);
    expect(error.retry).not.toBe("safe");
  });
});

describe("a ledger that never answers", () => {
  test("does not outlast the budget of a send", async () => {
    const { connect, clock } = setUp();
    const { ledger, hand } = createHandledLedger();
    const client = await connect({ ledger });
    hand.read = () => new Promise(() => {});

    const sending = watch(client.sendMessage("x", { timeoutMs: 1_000 }));
    await clock.advance(1_000_000);

    expect(sending.outcome).toBeDefined();
  });

  test("does not hold up a caller who aborts, nor the closing of the client", async () => {
    const { connect, clock } = setUp();
    const { ledger, hand } = createHandledLedger();
    const client = await connect({ ledger });
    hand.read = () => new Promise(() => {});
    const aborting = new AbortController();

    const aborted = watch(client.getTask({ id: "t" }, { signal: aborting.signal }));
    const closed = watch(client.sendMessage("x"));
    await clock.advance(0);
    aborting.abort(new RangeError("mine"));
    await client.close();
    await clock.advance(0);

    expect(aborted.outcome).toBe("RangeError");
    expect(closed.outcome).toBeDefined();
  });
});

describe("the record of a task", () => {
  test("survives ten reads of one handle in one moment", async () => {
    const { agent, connect } = setUp();
    agent.plan([step.working(), step.hold()]);
    const client = await connect();
    const task = taskOf(await client.sendMessage("x"));

    const reads = await Promise.allSettled(Array.from({ length: 10 }, () => task.get()));

    expect(reads.filter(({ status }) => status === "rejected")).toEqual([]);
  });

  test("never goes back from its end because another client wrote later what it had seen before", async () => {
    const { agent, connect, clock } = setUp();
    agent.plan([step.working(), step.hold()]);
    const ledger = createMemoryLedger();
    const fast = await connect({ ledger });
    const slow = await connect({ ledger });
    const task = taskOf(await fast.sendMessage("x"));
    const same = await slow.task(task.id);
    agent.once("GetTask", ({ tasks }) => answer.delay(1_000, answer.result(tasks.get(task.id))));
    const reading = same.get();
    await clock.advance(10);
    agent.step(task.id, step.artifact("a", "the work"), step.completed());
    await task.get();
    expect(task.state).toBe("TASK_STATE_COMPLETED");
    await clock.advance(1_000);
    await reading;

    const entry = await ledger.read(keyOf("task", fast.lease.url, task.id));

    expect(entry?.record).toMatchObject({ task: { status: { state: "TASK_STATE_COMPLETED" } } });
  });

  test("keeps the pin that was renegotiated when a client with the former pin cancels the task", async () => {
    const { agent, connect, rotate } = setUp();
    agent.plan([step.working(), step.hold()]);
    const ledger = createMemoryLedger();
    const one = await connect({ ledger });
    const other = await connect({ ledger });
    const task = taskOf(await one.sendMessage("x"));
    const stale = await other.task(task.id);
    rotate();
    const renewed = await task.renegotiate();

    await stale.cancel();
    const entry = await ledger.read(keyOf("task", one.lease.url, task.id));

    expect(entry?.record).toMatchObject({ pin: { digest: renewed.pin.digest } });
  });
});

describe("a ledger that gives odd things", () => {
  test("fails with a ledger error when it can't be read after a conflict", async () => {
    const { connect } = setUp();
    const { ledger, inner, hand } = createHandledLedger();
    const client = await connect({ ledger });
    const task = taskOf(await client.sendMessage("x"));
    const key = keyOf("task", client.lease.url, task.id);
    const entry = await inner.read(key);
    if (!entry) expect.fail("no record");
    await inner.write(key, entry.record, entry.revision);
    hand.read = async () => Promise.reject(new Error("plain"));

    expect(isA2ALeaseError(await caught(task.get()))).toBe(true);
  });

  test("fails with a ledger error when a record has another shape or schema", async () => {
    const { connect } = setUp();
    const { ledger, hand } = createHandledLedger();
    const client = await connect({ ledger });
    hand.read = async (key) => ({ key, revision: 3, record: { kind: "task", schema: 99 } }) as never;

    expect(isA2ALeaseError(await caught(client.getTask({ id: "t" })))).toBe(true);
  });
});
