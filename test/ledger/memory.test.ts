import { describe, expect, test } from "vitest";
import { LedgerConflictError } from "../../src/errors/ledger.ts";
import { pinCard } from "../../src/lease/pin.ts";
import { intentKey, type Ledger, taskKey } from "../../src/ledger/ledger.ts";
import { createMemoryLedger } from "../../src/ledger/memory.ts";
import type { IntentRecord, IntentState, TaskRecord } from "../../src/model/record.ts";
import type { TaskState } from "../../src/model/states.ts";
import { baseCard, rejectionOf } from "../card/cards.ts";

const shared = {
  schema: 1,
  cardUrl: "https://agent.example/card",
  principal: "default",
  pin: pinCard(baseCard(), { pinnedAtMs: 0 }),
  requirements: {},
  updatedAt: "2026-01-01T00:00:00.000Z",
} as const;

function taskRecord(taskId: string, state?: TaskState): TaskRecord {
  const task = state === undefined ? {} : { task: { id: taskId, status: { state } } };
  const memory = { observations: [], replayCount: 0, lateCount: 0 };
  return { ...shared, kind: "task", taskId, formerPins: [], deviations: [], memory, ...task } as TaskRecord;
}

function intentRecord(messageId: string, state: IntentState): IntentRecord {
  return { ...shared, kind: "intent", messageId, state } as IntentRecord;
}

/** Which of the keys are still there. */
async function keptOf(ledger: Ledger, ...keys: readonly string[]): Promise<string[]> {
  const found = await Promise.all(keys.map((key) => ledger.read(key)));
  return found.flatMap((entry) => (entry ? [entry.key] : []));
}

describe("a record in memory", () => {
  test("is not there before it was written, and then is as it was written, frozen, in its revision", async () => {
    const ledger = createMemoryLedger();
    expect(await ledger.read("k")).toBe(undefined);
    const first = await ledger.write("k", taskRecord("t1"), 0);
    const second = await ledger.write("k", taskRecord("t1", "TASK_STATE_WORKING"), 1);
    expect([first, second, await ledger.read("k")]).toEqual([
      { key: "k", revision: 1, record: taskRecord("t1") },
      { key: "k", revision: 2, record: taskRecord("t1", "TASK_STATE_WORKING") },
      second,
    ]);
    expect([second, second.record, (second.record as TaskRecord).pin.card].map(Object.isFrozen)).toEqual([
      true,
      true,
      true,
    ]);
  });

  test.each([
    ["a new one where one is", 0, "found revision 1, wanted 0"],
    ["a later one than there is", 2, "found revision 1, wanted 2"],
  ])("is not replaced by %s", async (_what, expected, found) => {
    const ledger = createMemoryLedger();
    await ledger.write("k", taskRecord("t1"), 0);
    const error = await rejectionOf(ledger.write("k", taskRecord("t2"), expected));
    expect(error).toBeInstanceOf(LedgerConflictError);
    expect(error).toMatchObject({ key: "k", message: `ledger record k changed under us: ${found}` });
    expect((await ledger.read("k"))?.record).toEqual(taskRecord("t1"));
  });

  test("is written by one of many who try at once", async () => {
    const ledger = createMemoryLedger();
    const tries = Array.from({ length: 10 }, (_, index) =>
      rejectionOf(ledger.write("k", taskRecord(`t${index}`), 0)),
    );
    const errors = await Promise.all(tries);
    expect(errors.filter((error) => error === undefined)).toHaveLength(1);
    expect(await ledger.read("k")).toMatchObject({ revision: 1, record: { taskId: "t0" } });
  });

  test("is forgotten when it is removed, and no later one has its revision", async () => {
    const ledger = createMemoryLedger();
    await ledger.write("k", taskRecord("t1"), 0);
    await ledger.remove("k");
    await ledger.remove("k");
    expect([await ledger.read("k"), (await ledger.write("k", taskRecord("t1"), 0)).revision]).toEqual([
      undefined,
      2,
    ]);
  });
});

describe("past its bound a memory ledger forgets", () => {
  test("finished tasks and settled intents first, the oldest first", async () => {
    const ledger = createMemoryLedger({ maxRecords: 4 });
    await ledger.write("open", taskRecord("a", "TASK_STATE_INPUT_REQUIRED"), 0);
    await ledger.write("answered", intentRecord("m1", "answered"), 0);
    await ledger.write("failed", taskRecord("b", "TASK_STATE_FAILED"), 0);
    await ledger.write("unknown", intentRecord("m2", "unknown"), 0);
    const all = ["open", "answered", "failed", "unknown", "new", "newer", "newest"];
    const kept: string[][] = [];
    for (const key of ["new", "newer", "newest"]) {
      await ledger.write(key, taskRecord(key, "TASK_STATE_WORKING"), 0);
      kept.push(await keptOf(ledger, ...all));
    }
    expect(kept).toEqual([
      ["open", "failed", "unknown", "new"],
      ["open", "unknown", "new", "newer"],
      ["unknown", "new", "newer", "newest"],
    ]);
  });

  test("by when a record was last written, not by when it was first", async () => {
    const ledger = createMemoryLedger({ maxRecords: 2 });
    await ledger.write("a", taskRecord("a"), 0);
    await ledger.write("b", taskRecord("b"), 0);
    await ledger.write("a", taskRecord("a"), 1);
    await ledger.write("c", taskRecord("c"), 0);
    expect(await keptOf(ledger, "a", "b", "c")).toEqual(["a", "c"]);
  });

  test("nothing when a task that it knows goes on or ends", async () => {
    const ledger = createMemoryLedger({ maxRecords: 2 });
    await ledger.write("a", taskRecord("a"), 0);
    await ledger.write("b", taskRecord("b"), 0);
    await ledger.write("a", taskRecord("a", "TASK_STATE_COMPLETED"), 1);
    expect(await keptOf(ledger, "a", "b")).toEqual(["a", "b"]);
  });

  test("and never holds more", async () => {
    const ledger = createMemoryLedger({ maxRecords: 10 });
    const keys = Array.from({ length: 1_000 }, (_, index) => `k${index}`);
    for (const key of keys) await ledger.write(key, taskRecord(key), 0);
    expect(await keptOf(ledger, ...keys)).toEqual(keys.slice(-10));
  });
});

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
  "a bound of %s is a TypeError that names it",
  (maxRecords) => {
    expect(() => createMemoryLedger({ maxRecords })).toThrow(
      new TypeError(`maxRecords: found ${maxRecords}, wanted a whole number of at least 1`),
    );
  },
);

test("keys of records can't be mistaken for each other", () => {
  const keys = [
    taskKey("u", "p", "id"),
    intentKey("u", "p", "id"),
    taskKey("u", "", "p,id"),
    taskKey("u,p", "", "id"),
    taskKey('u","p', "", "id"),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});

test("a watcher hears of each write under its key, until it stops", async () => {
  const ledger = createMemoryLedger();
  const heard: string[] = [];
  const stop = ledger.watch?.("a", () => void heard.push("one"));
  const stopOther = ledger.watch?.("a", () => void heard.push("other"));
  await ledger.write("b", taskRecord("b"), 0);
  await ledger.write("a", taskRecord("a"), 0);
  await rejectionOf(ledger.write("a", taskRecord("a"), 0));
  stop?.();
  stop?.();
  await ledger.write("a", taskRecord("a"), 1);
  stopOther?.();
  await ledger.write("a", taskRecord("a"), 2);
  expect(heard).toEqual(["one", "other", "other"]);
});
