import assert from "node:assert/strict";
import type { Ledger } from "../ledger/ledger.ts";
import { isoTime } from "../util/clock.ts";
import { intentRecord, seenTask, taskRecord, trustRecord, writtenAt, writtenMs } from "./ledger-records.ts";
import { keysOf, type LedgerScenes } from "./ledger-scene.ts";

const other = "https://other.example/card";

/** Records that differ in all that can be asked for. */
async function fill(ledger: Ledger): Promise<void> {
  const later = { updatedAt: isoTime(writtenMs + 1_000) };
  const records = {
    unseen: taskRecord("unseen"),
    working: seenTask("working", "TASK_STATE_WORKING", { contextId: "c1" }),
    done: seenTask("done", "TASK_STATE_COMPLETED", { contextId: "c1", ...later }),
    theirs: seenTask("theirs", "TASK_STATE_WORKING", { principal: "alice" }),
    elsewhere: seenTask("elsewhere", "TASK_STATE_WORKING", { cardUrl: other, contextId: "c1" }),
    open: intentRecord("open"),
    unknown: intentRecord("unknown", { state: "unknown", ...later }),
    answered: intentRecord("answered", { state: "answered", contextId: "c1" }),
    trust: trustRecord("callee"),
  };
  for (const [key, record] of Object.entries(records)) await ledger.write(key, record, 0);
}

const names = (count: number, prefix = "k") =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

/** What the contract says of listing. */
export const listingCases: LedgerScenes = {
  "a listing holds the records of its kind, agent, principal, context and states, and no others": async ({
    open,
  }) => {
    const ledger = await open();
    await fill(ledger);
    const keys = (query: object) => keysOf(ledger, { kind: "task", ...query });
    assert.deepEqual(await keys({}), ["done", "elsewhere", "theirs", "unseen", "working"]);
    assert.deepEqual(await keys({ cardUrl: other }), ["elsewhere"]);
    assert.deepEqual(await keys({ principal: "alice" }), ["theirs"]);
    assert.deepEqual(await keys({ contextId: "c1" }), ["done", "elsewhere", "working"]);
    assert.deepEqual(await keys({ contextId: "c1", cardUrl: other }), ["elsewhere"]);
    assert.deepEqual(await keys({ states: ["TASK_STATE_WORKING"] }), ["elsewhere", "theirs", "working"]);
    assert.deepEqual(await keys({ states: ["", "TASK_STATE_COMPLETED"] }), ["done", "unseen"]);
    assert.deepEqual(await keys({ states: [] }), []);
    assert.deepEqual(await keys({ cardUrl: "https://nobody.example" }), []);
    assert.deepEqual(await keysOf(ledger, { kind: "intent", states: ["open", "unknown"] }), [
      "open",
      "unknown",
    ]);
    assert.deepEqual(await keysOf(ledger, { kind: "trust", states: ["lifecycle-trusted"] }), ["trust"]);
    assert.deepEqual(await keysOf(ledger, { kind: "lease" }), []);
  },
  "a listing by time takes its first moment in and its last one out": async ({ open }) => {
    const ledger = await open();
    await fill(ledger);
    const later = isoTime(writtenMs + 1_000);
    const keys = (query: object) => keysOf(ledger, { kind: "intent", ...query });
    assert.deepEqual(await keys({ updatedAfter: later }), ["unknown"]);
    assert.deepEqual(await keys({ updatedBefore: later }), ["answered", "open"]);
    assert.deepEqual(await keys({ updatedAfter: writtenAt, updatedBefore: later }), ["answered", "open"]);
    assert.deepEqual(await keys({ updatedAfter: isoTime(writtenMs + 1_001) }), []);
  },
  "a listing follows a record to its new state, context and agent": async ({ open }) => {
    const ledger = await open();
    const { revision } = await ledger.write("k", seenTask("k", "TASK_STATE_WORKING"), 0);
    const moved = seenTask("k", "TASK_STATE_COMPLETED", { cardUrl: other, contextId: "c2" });
    await ledger.write("k", moved, revision);
    const keys = (query: object) => keysOf(ledger, { kind: "task", ...query });
    assert.deepEqual(await keys({}), ["k"]);
    assert.deepEqual(await keys({ cardUrl: other, contextId: "c2", states: ["TASK_STATE_COMPLETED"] }), [
      "k",
    ]);
    assert.deepEqual(await keys({ states: ["TASK_STATE_WORKING"] }), []);
    assert.deepEqual(await keys({ cardUrl: taskRecord("k").cardUrl }), []);
  },
  "pages hold every record once, whatever their size": async ({ open }) => {
    const ledger = await open();
    const keys = names(25);
    for (const key of keys) await ledger.write(key, taskRecord(key), 0);
    for (const pageSize of [1, 7, 25, 1_000]) {
      assert.deepEqual(await keysOf(ledger, { kind: "task", pageSize }), [...keys].sort());
    }
    const page = await ledger.list({ kind: "task", pageSize: 7 });
    assert.equal(page.entries.length, 7);
    assert.notEqual(page.nextPageToken, undefined);
  },
  "records that stay are on one page each, whatever is written and removed between pages": async ({
    open,
  }) => {
    const [ledger, writer] = [await open(), await open()];
    const [stay, go] = [names(30, "stay"), names(10, "go")];
    for (const key of [...stay, ...go]) await writer.write(key, taskRecord(key), 0);
    const found = await keysOf(ledger, { kind: "task", pageSize: 5 }, async (page) => {
      await writer.remove(go[page - 1] ?? "");
      await writer.write(`new${page}`, taskRecord("new"), 0);
      for (const key of stay) {
        const entry = await writer.read(key);
        const updatedAt = isoTime(writtenMs + page * 1_000);
        await writer.write(key, taskRecord(key, { updatedAt }), entry?.revision ?? 0);
      }
    });
    assert.deepEqual(
      found.filter((key) => key.startsWith("stay")),
      [...stay].sort(),
    );
    assert.equal(new Set(found).size, found.length, "a record is on two pages");
  },
  "a listing finds few among many": async ({ open }) => {
    const ledger = await open();
    const keys = names(600);
    for (let at = 0; at < keys.length; at += 100) {
      const some = keys.slice(at, at + 100);
      const write = (key: string) =>
        ledger.write(key, intentRecord(key, { state: /99$/.test(key) ? "unknown" : "open" }), 0);
      await Promise.all(some.map(write));
    }
    const wanted = keys.filter((key) => /99$/.test(key));
    assert.deepEqual(
      await keysOf(ledger, { kind: "intent", states: ["unknown"], pageSize: 5 }),
      wanted.sort(),
    );
  },
  "a query that is none is a TypeError": async ({ open }) => {
    const ledger = await open();
    for (const query of [
      {},
      { kind: "task", pageSize: 0 },
      { kind: "task", pageSize: 1_001 },
      { kind: "task", updatedAfter: "yesterday" },
      { kind: "task", pageToken: "not one of ours" },
      { kind: "task", states: "open" },
    ]) {
      await assert.rejects(
        ledger.list(query as never),
        TypeError,
        `no TypeError for ${JSON.stringify(query)}`,
      );
    }
  },
};
