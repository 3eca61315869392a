import { createMemoryLedger } from "a2a-lease";
import { createTestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { leaseKey } from "../../src/ledger/ledger.ts";
import { createLedgerLock } from "../../src/ledger/lock.ts";

const base = { cardUrl: "https://agent.example/card", principal: "default", ttlMs: 5_000 };

function setUp() {
  const ledger = createMemoryLedger();
  const clock = createTestClock();
  const worker = (name: string, ownClock = clock) => {
    const lock = createLedgerLock(ledger, ownClock);
    return () => lock.acquire({ ...base, holder: name });
  };
  return { ledger, clock, worker };
}

describe("a lock that workers share", () => {
  test("goes to one of many who ask at once", async () => {
    const { worker } = setUp();
    const outcomes = await Promise.all(["a", "b", "c", "d"].map((name) => worker(name)()));
    expect(outcomes.filter(({ outcome }) => outcome === "acquired")).toHaveLength(1);
  });

  test("says who has it and for how long, and goes to the next with what was found when it is given back", async () => {
    const { clock, worker } = setUp();
    const [a, b] = [worker("a"), worker("b")];
    const first = await a();
    await clock.advance(1_000);
    expect(await b()).toEqual({ outcome: "held", holder: "a", remainingMs: 4_000 });
    if (first.outcome !== "acquired") expect.fail("not acquired");
    const checked = { at: "2026-01-01T00:00:01.000Z", digest: "sha256:x" };
    await first.release(checked);
    expect(await b()).toMatchObject({ outcome: "acquired", checked });
  });

  test("of a holder who died is free when its time is over, and no earlier", async () => {
    const { clock, worker } = setUp();
    const [a, b] = [worker("a"), worker("b")];
    await a();
    await clock.advance(4_999);
    expect((await b()).outcome).toBe("held");
    await clock.advance(1);
    expect((await b()).outcome).toBe("acquired");
  });

  test("is free in time for one whose clock is hours behind the dead holder's", async () => {
    const { worker } = setUp();
    const behind = createTestClock({ startMs: 1_767_225_600_000 - 3 * 3_600_000 });
    const b = worker("b", behind);
    await worker("a")();
    expect(await b()).toMatchObject({ outcome: "held", remainingMs: 5_000 });
    await behind.advance(4_999);
    expect((await b()).outcome).toBe("held");
    await behind.advance(1);
    expect((await b()).outcome).toBe("acquired");
  });

  test("given back late takes nothing from the one who has it by now", async () => {
    const { ledger, clock, worker } = setUp();
    const first = await worker("a")();
    await clock.advance(5_000);
    await worker("b")();
    if (first.outcome !== "acquired") expect.fail("not acquired");
    await first.release({ at: "2026-01-01T00:00:00.000Z", digest: "sha256:late" });
    const entry = await ledger.read(leaseKey(base.cardUrl, base.principal));
    expect(entry?.record).toMatchObject({ holder: "b" });
    expect(entry?.record).not.toHaveProperty("checked");
  });
});
