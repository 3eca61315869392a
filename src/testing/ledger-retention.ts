import assert from "node:assert/strict";
import { isoTime } from "../util/clock.ts";
import { intentRecord, leaseRecord, seenTask, taskRecord, trustRecord } from "./ledger-records.ts";
import { keysOf, type LedgerScenes } from "./ledger-scene.ts";

/** What the contract says of letting records go. */
export const retentionCases: LedgerScenes = {
  "what is over is dropped when it was kept long enough, and what is open never is": async (scene) => {
    const { open, clock, retentionMs } = scene;
    const ledger = await open();
    const kept = {
      unseen: taskRecord("unseen"),
      working: seenTask("working", "TASK_STATE_WORKING"),
      asking: seenTask("asking", "TASK_STATE_INPUT_REQUIRED"),
      open: intentRecord("open"),
      unknown: intentRecord("unknown", { state: "unknown" }),
      trust: trustRecord("callee"),
    };
    const over = {
      completed: seenTask("completed", "TASK_STATE_COMPLETED"),
      failed: seenTask("failed", "TASK_STATE_FAILED"),
      answered: intentRecord("answered", { state: "answered" }),
      refused: intentRecord("refused", { state: "refused" }),
      lease: leaseRecord("me"),
    };
    for (const [key, record] of Object.entries({ ...kept, ...over })) await ledger.write(key, record, 0);
    await clock.advance(retentionMs - 1);
    assert.equal(await ledger.prune(), 0);
    await clock.advance(1);
    assert.equal(await ledger.prune(), Object.keys(over).length);
    assert.equal(await ledger.prune(), 0);
    for (const key of Object.keys(over)) assert.equal(await ledger.read(key), undefined, key);
    for (const [key, record] of Object.entries(kept))
      assert.deepEqual((await ledger.read(key))?.record, record);
    assert.deepEqual(await keysOf(ledger, { kind: "task" }), ["asking", "unseen", "working"]);
    assert.deepEqual(await keysOf(ledger, { kind: "intent" }), ["open", "unknown"]);
  },
  "a record is kept from its last write on, and one that goes on is not dropped": async (scene) => {
    const { open, clock, retentionMs } = scene;
    const ledger = await open();
    const done = () => seenTask("done", "TASK_STATE_COMPLETED", { updatedAt: isoTime(clock.now()) });
    const first = await ledger.write("done", done(), 0);
    const intent = await ledger.write("intent", intentRecord("m", { state: "refused" }), 0);
    await clock.advance(retentionMs - 1_000);
    await ledger.write("done", done(), first.revision);
    await ledger.write("intent", intentRecord("m"), intent.revision);
    await clock.advance(2_000);
    assert.equal(await ledger.prune(), 0);
    assert.notEqual(await ledger.read("intent"), undefined);
    await clock.advance(retentionMs);
    assert.equal(await ledger.prune(), 1);
    assert.equal(await ledger.read("done"), undefined);
  },
  "many records are dropped at once": async ({ open, clock, retentionMs }) => {
    const ledger = await open();
    const keys = Array.from({ length: 600 }, (_, index) => `k${index}`);
    for (let at = 0; at < keys.length; at += 100) {
      const some = keys.slice(at, at + 100);
      await Promise.all(some.map((key) => ledger.write(key, intentRecord(key, { state: "answered" }), 0)));
    }
    await clock.advance(retentionMs);
    assert.equal(await ledger.prune(), keys.length);
    assert.deepEqual(await keysOf(ledger, { kind: "intent" }), []);
  },
};
