import { createClient, createMemoryLedger, type Ledger, LedgerUnavailableError } from "a2a-lease";
import { createScriptedAgent } from "a2a-lease/testing";
import { createWebhookReceiver } from "a2a-lease/webhook";
import { describe, expect, test } from "vitest";
import { caught } from "./caught.ts";

const agent = createScriptedAgent();
const connect = (ledger: Ledger = createMemoryLedger()) =>
  createClient(agent.url, { fetch: agent.fetch, ledger });

describe("a query of open intents that is none is a TypeError that names the member", () => {
  test.each<[string, object]>([
    ["updatedBefore", { updatedBefore: "yesterday" }],
    ["pageSize", { pageSize: 0 }],
    ["pageSize", { pageSize: "7" }],
    ["pageToken", { pageToken: "no token" }],
    ["pageToken", { pageToken: 7 }],
  ])("%s in %j", async (name, query) => {
    const client = await connect();
    const error = await caught(client.openIntents(query as never), TypeError);
    expect(error.message.startsWith(`${name}: found `)).toBe(true);
    await client.close();
  });

  test("but a ledger of one's own that fails with a TypeError is a ledger that fails", async () => {
    const client = await connect({
      ...createMemoryLedger(),
      list: () => Promise.reject(new TypeError("fetch failed")),
    });
    expect((await caught(client.openIntents(), LedgerUnavailableError)).reason).toBe("store");
    await client.close();
  });

  test("a ledger of one's own has tokens of its own form", async () => {
    const tokens: unknown[] = [];
    const client = await connect({
      ...createMemoryLedger(),
      async list({ pageToken }) {
        tokens.push(pageToken);
        return { entries: [], unreadable: [] };
      },
    });
    await client.openIntents({ pageToken: "page 2" });
    expect(tokens).toEqual(["page 2"]);
    await client.close();
  });
});

test.each<[string, object]>([
  ["tasks", { kind: "tasks" }],
  ["Task", { kind: "Task" }],
])("a kind of record that there is not is a TypeError that names it: %s", async (kind, query) => {
  const error = await caught(createMemoryLedger().list(query as never), TypeError);
  expect(error.message).toMatch(new RegExp(`^kind: found "${kind}", wanted "task" or "intent" or `));
});

describe("a ledger that is none is a TypeError that says what one is", () => {
  test.each<[string, object, string]>([
    ["an empty object", {}, "read, write, remove, list"],
    ["one that was not awaited", Promise.resolve(createMemoryLedger()), "a promise"],
    ["one without remove", { ...createMemoryLedger(), remove: undefined }, "without remove"],
  ])("%s", async (_what, ledger, told) => {
    for (const make of [
      () => connect(ledger as never),
      async () => createWebhookReceiver({ ledger: ledger as never }),
    ]) {
      const error = await caught(make(), TypeError);
      expect(error.message).toMatch(/^ledger: found .*, wanted /);
      expect(error.message).toContain(told);
    }
  });
});
