import assert from "node:assert/strict";
import { LedgerConflictError } from "../errors/ledger.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { TaskRecord } from "../model/record.ts";
import { intentRecord, leaseRecord, seenTask, taskRecord, trustRecord } from "./ledger-records.ts";
import { keeps, type LedgerScenes, refusesClosed, refusesConflict, winnersOf } from "./ledger-scene.ts";

const oddTexts = {
  empty: "",
  "a quote": `'"\`;--`,
  "other scripts": "日本語 العربية 한국어",
  astral: "𝒜𝓈𝓉𝓇𝒶𝓁 🛰️",
  "composed and decomposed": "é é",
  "a lone high surrogate": "\ud800",
  "a lone low surrogate": "\udc00",
  NUL: "a\u0000b",
  controls: "\u0001\u001f\u007f\u2028\ufeff",
  "patterns and separators": "%_*?[a]{b}:|\\",
  "a long one": "x".repeat(10_000),
};

/** Reads, changes and writes until nobody else was first. */
async function append(ledger: Ledger, key: string, taskId: string): Promise<void> {
  for (let tries = 0; tries < 1_000; tries++) {
    const entry = await ledger.read(key);
    const former = (entry?.record as TaskRecord | undefined)?.formerPins ?? [];
    const formerPins = [...former, { digest: taskId, until: "2026-01-01T00:00:00.000Z" }];
    try {
      await ledger.write(key, taskRecord("t", { formerPins }), entry?.revision ?? 0);
      return;
    } catch (error) {
      if (!(error instanceof LedgerConflictError)) throw error;
    }
  }
  assert.fail("a writer never got its turn");
}

/** What the contract says of reading, writing and removing. */
export const writingCases: LedgerScenes = {
  "a record that was never written is not there, nor in any listing": async ({ open }) => {
    const ledger = await open();
    assert.equal(await ledger.read("k"), undefined);
    assert.deepEqual(await ledger.list({ kind: "task" }), { entries: [], unreadable: [] });
  },
  "a record of each kind is read back as it was written, frozen": async ({ open }) => {
    const ledger = await open();
    for (const record of [taskRecord("t"), intentRecord("m"), trustRecord("c"), leaseRecord("me")]) {
      await keeps(ledger, record.kind, record);
    }
    const record = (await ledger.read("task"))?.record as TaskRecord;
    assert.ok(Object.isFrozen(record) && Object.isFrozen(record.pin.card));
  },
  "a revision is positive and grows by one with each write": async ({ open }) => {
    const ledger = await open();
    const first = await ledger.write("k", taskRecord("t"), 0);
    const second = await ledger.write("k", seenTask("t", "TASK_STATE_WORKING"), first.revision);
    assert.ok(Number.isSafeInteger(first.revision) && first.revision > 0);
    assert.equal(second.revision, first.revision + 1);
    assert.deepEqual(await ledger.read("k"), second);
  },
  "a write at a revision that is not the present one is refused, and changes nothing": async ({ open }) => {
    const ledger = await open();
    await refusesConflict(ledger.write("k", taskRecord("t"), 7));
    const { revision } = await ledger.write("k", taskRecord("t"), 0);
    for (const expected of [0, revision + 1, revision === 1 ? 2 : revision - 1]) {
      await refusesConflict(ledger.write("k", taskRecord("other"), expected));
    }
    assert.deepEqual(await ledger.read("k"), { key: "k", revision, record: taskRecord("t") });
  },
  "a record that was removed is gone, and one that is not there may be removed": async ({ open }) => {
    const ledger = await open();
    const { revision } = await ledger.write("k", taskRecord("t"), 0);
    await ledger.remove("k");
    await ledger.remove("k");
    assert.equal(await ledger.read("k"), undefined);
    assert.deepEqual((await ledger.list({ kind: "task" })).entries, []);
    await refusesConflict(ledger.write("k", taskRecord("t"), revision));
  },
  "a record that was removed and written anew has none of its old revisions": async ({ open }) => {
    const ledger = await open();
    const old = await ledger.write("k", taskRecord("t"), 0);
    await ledger.remove("k");
    const anew = await ledger.write("k", taskRecord("anew"), 0);
    assert.notEqual(anew.revision, old.revision);
    await refusesConflict(ledger.write("k", taskRecord("stale"), old.revision));
    assert.deepEqual(await ledger.read("k"), anew);
  },
  "two ledgers on one store see each other's writes, and one of two who write at once wins": async ({
    open,
  }) => {
    const [one, other] = [await open(), await open()];
    const { revision } = await one.write("k", taskRecord("t"), 0);
    assert.equal((await other.read("k"))?.revision, revision);
    const writes = [one, other].map((ledger) => ledger.write("k", taskRecord("again"), revision));
    assert.equal(await winnersOf(writes), 1);
    assert.equal((await one.read("k"))?.revision, revision + 1);
  },
  "of a hundred who write at one revision exactly one wins": async ({ open }) => {
    const ledgers = [await open(), await open()];
    let revision = 0;
    for (let round = 0; round < 3; round++) {
      const writes = Array.from({ length: 100 }, (_, index) =>
        (ledgers[index % 2] as Ledger).write("k", taskRecord(`${round}.${index}`), revision),
      );
      assert.equal(await winnersOf(writes), 1);
      revision = (await ledgers[0]?.read("k"))?.revision ?? 0;
    }
  },
  "twenty who read, change and write until they win lose nothing of each other": async ({ open }) => {
    const ledgers = [await open(), await open()];
    const names = Array.from({ length: 20 }, (_, index) => `w${index}`);
    await Promise.all(names.map((name, index) => append(ledgers[index % 2] as Ledger, "k", name)));
    const record = (await ledgers[0]?.read("k"))?.record as TaskRecord | undefined;
    assert.deepEqual(record?.formerPins.map(({ digest }) => digest).sort(), [...names].sort());
  },
  "a hundred different records can be written at once": async ({ open }) => {
    const ledger = await open();
    const keys = Array.from({ length: 100 }, (_, index) => `k${index}`);
    await Promise.all(keys.map((key) => ledger.write(key, taskRecord(key), 0)));
    for (const key of keys) assert.deepEqual((await ledger.read(key))?.record, taskRecord(key));
  },
  "any text can be a key, and no two keys are one": async ({ open }) => {
    const ledger = await open();
    const keys = [...Object.values(oddTexts), "\ud801", "\ufffd", "\\ud800", "k", "K", "k "];
    for (const key of keys) await keeps(ledger, key, taskRecord(key));
    const { entries } = await ledger.list({ kind: "task" });
    assert.deepEqual(entries.map(({ key }) => key).sort(), [...keys].sort());
  },
  "any text can be in a record, and can be listed by": async ({ open }) => {
    const ledger = await open();
    for (const [name, text] of Object.entries(oddTexts)) {
      const metadata = { [text]: text, text };
      const { task } = seenTask(text, "TASK_STATE_WORKING");
      const record = taskRecord(text, {
        ...{ cardUrl: text, principal: text, contextId: text },
        ...(task ? { task: { ...task, metadata } } : {}),
      });
      await keeps(ledger, name, record);
      if (text === "") continue;
      const { entries } = await ledger.list({
        kind: "task",
        cardUrl: text,
        principal: text,
        contextId: text,
      });
      assert.deepEqual(
        entries.map(({ key }) => key),
        [name],
      );
    }
  },
  "a record of a mebibyte is kept whole": async ({ open }) => {
    const ledger = await open();
    const metadata = {
      text: "ä".repeat(512 * 1024),
      list: Array.from({ length: 1_000 }, (_, index) => index),
    };
    const task = { ...seenTask("t", "TASK_STATE_WORKING").task, metadata } as TaskRecord["task"];
    const written = await keeps(ledger, "big", taskRecord("t", task ? { task } : {}));
    await ledger.write("big", taskRecord("t"), written.revision);
    assert.deepEqual((await ledger.read("big"))?.record, taskRecord("t"));
  },
  "a closed ledger refuses every call, and may be closed again": async ({ open }) => {
    const ledger = await open();
    if (!ledger.close) return;
    await ledger.write("k", taskRecord("t"), 0);
    await ledger.close();
    await ledger.close();
    await refusesClosed(ledger.read("k"));
    await refusesClosed(ledger.write("k", taskRecord("t"), 0));
    await refusesClosed(ledger.remove("k"));
    await refusesClosed(ledger.list({ kind: "task" }));
    await refusesClosed(ledger.prune());
  },
};
