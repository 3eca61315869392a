import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "a2a-lease";
import { createScriptedAgent, step } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { freshFolder, freshName, onPostgres, postgresUrl, redisUrl } from "../ledger/stores.ts";
import { openStore, type StorePlace } from "./store.ts";

/** Where the process dies, in the order in which it gets there. */
const points: readonly (readonly [scenario: "send" | "stream" | "delegate", point: string])[] = [
  ["send", "after the lease is written 1"],
  ["send", "before the card leaves 1"],
  ["send", "at the head of the card 1"],
  ["send", "before the intent open is written 1"],
  ["send", "after the intent open is written 1"],
  ["send", "before SendMessage leaves 1"],
  ["send", "at the head of SendMessage 1"],
  ["send", "at a chunk of SendMessage 1"],
  ["send", "at the end of SendMessage 1"],
  ["send", "before the task is written 1"],
  ["send", "after the task is written 1"],
  ["send", "before the intent answered is written 1"],
  ["send", "after the intent answered is written 1"],
  ["send", "before the task is written 2"],
  ["send", "after the task is written 2"],
  ["send", "at the handle 1"],
  ["send", "before SubscribeToTask leaves 1"],
  ["send", "at the end of GetTask 1"],
  ["send", "before the task is written 3"],
  ["send", "after the task is written 3"],
  ["stream", "before SendStreamingMessage leaves 1"],
  ["stream", "at the head of SendStreamingMessage 1"],
  ["stream", "at a chunk of SendStreamingMessage 1"],
  ["stream", "before the task is written 1"],
  ["stream", "before the intent answered is written 1"],
  ["stream", "at an event 1"],
  ["stream", "before the task is written 3"],
  ["stream", "at an event 3"],
  ["stream", "after the task is written 4"],
  ["delegate", "at an update 3"],
  ["delegate", "before the task is written 5"],
  ["delegate", "after the task is written 5"],
];

interface Kind {
  readonly name: string;
  readonly isHere: boolean;
  readonly make: () => Promise<StorePlace & { readonly destroy: () => Promise<void> }>;
}

const kinds: readonly Kind[] = [
  {
    name: "SQLite",
    isHere: true,
    async make() {
      const folder = freshFolder();
      const destroy = async () => rmSync(folder, { recursive: true, force: true });
      return { kind: "sqlite", at: join(folder, "ledger.db"), name: "", destroy };
    },
  },
  {
    name: "PostgreSQL",
    isHere: postgresUrl !== "",
    async make() {
      const name = freshName();
      await onPostgres(`create schema ${name}`);
      return {
        kind: "postgres",
        at: postgresUrl,
        name,
        destroy: () => onPostgres(`drop schema ${name} cascade`),
      };
    },
  },
  {
    name: "Redis",
    isHere: redisUrl !== "",
    make: async () => ({ kind: "redis", at: redisUrl, name: freshName(), destroy: async () => {} }),
  },
];

const worker = fileURLToPath(new URL("worker.ts", import.meta.url));

/** Runs the worker; resolves to what ended it. */
function run(env: Record<string, string>): Promise<{ signal: string | null; said: string }> {
  const child = spawn(process.execPath, ["--import", "tsx", worker], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  return new Promise((resolve) => child.on("exit", (_code, signal) => resolve({ signal, said })));
}

const message = { messageId: "m-1", parts: [{ text: "m-1" }] };

for (const { name, isHere, make } of kinds) {
  describe.skipIf(!isHere)(`a process that is killed, with a ledger in ${name}`, () => {
    test.each(points)("%s: %s", { timeout: 90_000 }, async (scenario, point) => {
      const agent = createScriptedAgent({
        plan: [step.working(), step.artifact("a-1", "one"), step.completed()],
      });
      const listener = await agent.listen();
      const { destroy, ...place } = await make();
      const env = { AGENT_URL: listener.url, STORE: JSON.stringify(place), SCENARIO: scenario, POINT: point };
      const { signal, said } = await run(env);
      expect({ signal, said }).toEqual({ signal: "SIGKILL", said: "" });

      const ledger = await openStore(place);
      const client = await createClient(listener.url, { ledger });
      try {
        const { intents } = await client.openIntents();
        for (const { messageId } of intents) {
          const recovery = await client.recover(messageId);
          const isTaken = agent.acceptedMessageIds.includes(messageId);
          expect(recovery.status).toBe(isTaken ? "found" : "not-there");
        }
        expect((await client.openIntents()).intents).toEqual([]);
        // Whatever the agent has is in a handle now.
        const known = (await ledger.list({ kind: "task" })).entries.map(({ record }) =>
          record.kind === "task" ? record.taskId : "",
        );
        expect(known.sort()).toEqual(
          agent.tasks
            .list()
            .map(({ id }) => id)
            .sort(),
        );
        for (const id of known) {
          const task = await client.resume(id);
          expect(await task.result()).toMatchObject({ status: "completed" });
          expect(task.artifacts).toHaveLength(1);
        }
        if (!agent.acceptedMessageIds.includes("m-1")) await client.sendMessage(message);
        expect([...agent.acceptedMessageIds].sort()).toEqual(["m-1", "m-before"]);
      } finally {
        await client.close();
        await ledger.close();
        await listener.close();
        await destroy();
      }
    });
  });
}
