// Several processes work for one agent and share a ledger: each message is sent once, the card is read once for all who
// need it at a moment, and every process sees when it changes. Run it with `npx tsx examples/workers.ts`; it starts
// itself as the workers.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CardDriftError, createClient } from "a2a-lease";
import { createSqliteLedger } from "a2a-lease/sql";
import { createScriptedAgent } from "a2a-lease/testing";
import Database from "libsql";

const workerCount = 3;
const workEach = 5;

// The real thing is createSqliteLedger({ path }), on better-sqlite3. This driver needs no compiler.
const openLedger = (path: string) => createSqliteLedger({ database: new Database(path) as never });

async function work(url: string, path: string, name: string): Promise<void> {
  const ledger = await openLedger(path);
  // #region worker
  const client = await createClient(url, { ledger }); // a ledger in SQL or Redis says that it is shared
  for (let item = 0; item < workEach; item++) {
    const message = { messageId: `${name}-${item}`, parts: [{ text: `part ${item}` }] };
    try {
      await client.delegate(message);
    } catch (error) {
      if (!(error instanceof CardDriftError)) throw error;
      console.log(`${name} saw another card`);
      await client.renegotiate();
      if (error.taskId === undefined) {
        await client.delegate(message); // nothing was sent
      } else {
        const task = await client.task(error.taskId); // the agent has it: it goes on under the new card
        await (await task.renegotiate()).result();
      }
    }
  }
  // #endregion worker
  await client.close();
  await ledger.close();
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "a2a-lease-example-"));
  const path = join(folder, "agents.db");
  const agent = createScriptedAgent();
  const listener = await agent.listen();
  agent.rotateCard((card) => ({ ...card, description: "Another one" }), {
    before: "SendStreamingMessage",
    nth: 4,
  });

  const file = fileURLToPath(import.meta.url);
  const workers = Array.from({ length: workerCount }, (_, at) => {
    const arguments_ = ["--import", "tsx", file, listener.url, path, `worker-${at}`];
    return once(spawn(process.execPath, arguments_, { stdio: "inherit" }), "exit");
  });
  for (const [code] of await Promise.all(workers)) assert.equal(code, 0);

  const ledger = await openLedger(path);
  const tasks = await ledger.list({ kind: "task", states: ["TASK_STATE_COMPLETED"] });
  console.log(`${tasks.entries.length} tasks done, ${agent.cardReads().length} reads of the card`);
  assert.equal(tasks.entries.length, workerCount * workEach);
  assert.equal(new Set(agent.acceptedMessageIds).size, workerCount * workEach);
  assert.equal(agent.acceptedMessageIds.length, workerCount * workEach);

  await ledger.close();
  await listener.close();
  rmSync(folder, { recursive: true, force: true });
}

const [, , url, path, name] = process.argv;
if (url !== undefined && path !== undefined && name !== undefined) await work(url, path, name);
else await main();
