import { type A2AClient, createClient, createMemoryLedger, type Deviation } from "a2a-lease";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cardOf, createRawServer, type RawRequest, type RawServer } from "../attack/raw-server.ts";
import { rpc, stream } from "../attack/secret-rig.ts";

let server: RawServer;
let client: A2AClient;
const ledger = createMemoryLedger();
const told: Deviation[] = [];

beforeEach(async () => {
  server = await createRawServer();
});
afterEach(async () => {
  await client.close();
  await server.close();
});

/** Serves an agent that answers sends and streams with this. */
async function serve(answer: object): Promise<void> {
  const card = cardOf([`${server.url}/rpc`]);
  server.settings.answer = (request: RawRequest) => {
    if (request.method === "GET") return { body: card };
    const { id, method } = JSON.parse(request.body) as { id: number; method: string };
    if (method === "SendStreamingMessage") return stream({ jsonrpc: "2.0", id, result: answer });
    const { task } = answer as { task?: object };
    return rpc(request, { result: method === "SendMessage" ? answer : task });
  };
  told.length = 0;
  client = await createClient(server.url, { ledger });
  client.on("deviation", ({ deviation }) => void told.push(deviation));
}

const odd = { kind: "legacy-role", path: expect.anything(), message: expect.anything() };
const message = (text: string) => ({ messageId: "m", role: "agent", parts: [{ text }] });

/** What is written down of the task. */
async function written(): Promise<readonly Deviation[]> {
  const { entries } = await ledger.list({ kind: "task", cardUrl: client.lease.url });
  return entries.flatMap(({ record }) => ("deviations" in record ? record.deviations : []));
}

describe.each(["FAILED", "INPUT_REQUIRED", "AUTH_REQUIRED", "COMPLETED"])(
  "what is odd about a task in %s",
  (name) => {
    const task = {
      id: `t-${name}`,
      contextId: "c",
      status: { state: `TASK_STATE_${name}`, message: message("so") },
    };
    beforeEach(() => serve({ task }));

    test.each<[string, () => Promise<unknown>]>([
      ["delegate", () => client.delegate("x")],
      ["a send", () => client.sendMessage("x")],
      ["a read", () => client.getTask({ id: task.id })],
      [
        "a stream",
        async () => {
          for await (const _event of await client.sendStreamingMessage("x"));
        },
      ],
    ])("is told by the time that %s is over, and is written with the task", async (_how, act) => {
      await act();
      expect(told).toContainEqual(expect.objectContaining(odd));
      expect(await written()).toContainEqual(expect.objectContaining(odd));
    });
  },
);

test.each<[string, () => Promise<unknown>]>([
  ["a send", () => client.sendMessage("x")],
  ["delegate", () => client.delegate("x")],
  [
    "a stream",
    async () => {
      for await (const _event of await client.sendStreamingMessage("x"));
    },
  ],
])("what is odd about a message in place of a task is told by %s, once", async (_how, act) => {
  await serve({ message: message("hello") });
  await act();
  expect(told.filter(({ kind }) => kind === odd.kind)).toHaveLength(1);
});
