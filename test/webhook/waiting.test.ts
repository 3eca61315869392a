import { CardDriftError, createClient, createMemoryLedger, type Ledger } from "a2a-lease";
import { createScriptedAgent, createTestClock, step } from "a2a-lease/testing";
import { createWebhookReceiver } from "a2a-lease/webhook";
import { describe, expect, test } from "vitest";
import { minute, publicUrl, pushCard, pushOf, status, token } from "./rig.ts";

/** A memory ledger that does not tell of its writes, as a shared one does not. */
function silentLedger(): Ledger {
  const { watch: _watch, ...ledger } = createMemoryLedger();
  return ledger;
}

/** One task under way, on a clock that the test owns, with a configuration for it. */
async function setUp(ledger: Ledger) {
  const clock = createTestClock();
  const agent = createScriptedAgent({
    clock,
    card: pushCard,
    pushes: { copies: 0 },
    plan: [step.working(), step.wait(100_000), step.completed("Done.")],
  });
  const client = await createClient(agent.url, { fetch: agent.fetch, clock, ledger });
  const reply = await client.sendMessage("A task that takes long.");
  if (!("task" in reply)) throw new TypeError("found a message, wanted a task");
  const { task } = reply;
  const { token: secret = "" } = await task.pushConfigs.create({ url: publicUrl });
  const receive = createWebhookReceiver({ ledger, clock });
  const push = (body: unknown) => receive(pushOf(body, token(secret)));
  const reads = () => agent.calls().filter(({ operation }) => operation === "GetTask").length;
  return { clock, agent, client, task, push, reads };
}

/** Lets everything run that needs no time. */
const settle = async () => {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe("a wait for a task", () => {
  test.each([
    ["at once, with a ledger that tells of its writes", createMemoryLedger, 0],
    ["within a second, with any other", silentLedger, 1_000],
  ])("is woken by a notification %s", async (_name, ledgerOf, withinMs) => {
    const { clock, task, push, reads } = await setUp(ledgerOf());
    const waiting = task.result();
    // By now the next poll would be half a minute away.
    for (let round = 0; round < 99; round++) {
      await settle();
      await clock.advance(1_000);
    }
    await settle();
    await clock.advance(1_500);
    const before = reads();
    expect((await push(status(task.id, "COMPLETED", minute(59)))).status).toBe(200);
    await settle();
    if (withinMs > 0) await clock.advance(withinMs);
    const outcome = await waiting;
    expect(outcome.status).toBe("completed");
    expect(reads()).toBe(before + 1);
  });

  test("is woken by a notification that is stored in the moment in which the ledger was looked at", async () => {
    const inner = createMemoryLedger();
    let lookCount = 0;
    let onRead: (() => Promise<unknown>) | undefined;
    const ledger: Ledger = {
      ...inner,
      async read(key) {
        const entry = await inner.read(key);
        if (entry?.record.kind !== "inbox" || !onRead) return entry;
        lookCount += 1;
        // The first look is that at the end of a wait, the second one that at the beginning of the next.
        if (lookCount < 2) return entry;
        const store = onRead;
        onRead = undefined;
        await store();
        return entry;
      },
    };
    const { clock, task, push, reads } = await setUp(ledger);
    const waiting = task.result();
    for (let round = 0; round < 60; round++) {
      await settle();
      await clock.advance(1_000);
    }
    await settle();
    let before = Number.NaN;
    onRead = () => {
      before = reads();
      return push(status(task.id, "COMPLETED", minute(59)));
    };
    for (let round = 0; Number.isNaN(before) && round < 30; round++) {
      await clock.advance(1_000);
      await settle();
    }
    expect(reads()).toBe(before + 1);
    for (let round = 0; round < 60; round++) {
      await clock.advance(1_000);
      await settle();
    }
    expect((await waiting).status).toBe("completed");
  });

  test("does not believe a notification that the task itself does not bear out", async () => {
    const { clock, task, push, reads } = await setUp(createMemoryLedger());
    let isDone = false;
    const waiting = task.result().finally(() => {
      isDone = true;
    });
    await settle();
    await clock.advance(500);
    const before = reads();
    await push(status(task.id, "COMPLETED", minute(59)));
    await settle();
    expect({ reads: reads(), isDone }).toEqual({ reads: before + 1, isDone: false });
    for (let round = 0; round < 300 && !isDone; round++) {
      await settle();
      await clock.advance(1_000);
    }
    expect((await waiting).status).toBe("completed");
  });

  test("checks the card before anything of a notification is delivered", async () => {
    const { agent, clock, task, push } = await setUp(createMemoryLedger());
    const waiting = task.result();
    waiting.catch(() => {});
    await settle();
    await clock.advance(500);
    agent.rotateCard({ ...pushCard, version: "9.9.9" });
    await push(status(task.id, "INPUT_REQUIRED", minute(59)));
    await expect(waiting).rejects.toBeInstanceOf(CardDriftError);
  });
});
