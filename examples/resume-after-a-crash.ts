// A process is killed between a request and its answer. The next one finds what it left behind, asks the agent, and goes
// on with the very task: nothing is lost and nothing is sent twice. Run it with
// `npx tsx examples/resume-after-a-crash.ts`; it starts itself once more as the process that dies.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "a2a-lease";
import { createSqliteLedger } from "a2a-lease/sql";
import { createScriptedAgent, step } from "a2a-lease/testing";
import Database from "libsql";

// The real thing is createSqliteLedger({ path }), on better-sqlite3. This driver needs no compiler.
const openLedger = (path: string) => createSqliteLedger({ database: new Database(path) as never });

/** Sends, and is killed before the answer can be read. */
async function die(url: string, path: string): Promise<never> {
  const client = await createClient(url, {
    ledger: await openLedger(path),
    async fetch(input, init) {
      const response = await fetch(input, init);
      if (init.method === "POST") process.kill(process.pid, "SIGKILL");
      return response;
    },
  });
  await client.sendMessage("Summarise the attached report");
  throw new TypeError("the process lives on");
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "a2a-lease-example-"));
  const path = join(folder, "agents.db");
  const agent = createScriptedAgent({
    plan: [step.working(), step.artifact("summary", "Short."), step.completed()],
  });
  const listener = await agent.listen();
  const { url } = listener;

  const arguments_ = ["--import", "tsx", fileURLToPath(import.meta.url), url, path];
  const [, signal] = await once(spawn(process.execPath, arguments_, { stdio: "inherit" }), "exit");
  assert.equal(signal, "SIGKILL");
  assert.equal(agent.acceptedMessageIds.length, 1);

  const ledger = await openLedger(path);
  // #region recover
  const client = await createClient(url, { ledger });
  const { intents } = await client.openIntents(); // what the crash left behind
  for (const { messageId } of intents) {
    const recovery = await client.recover(messageId); // asks the agent for its tasks, sends nothing
    if (recovery.status === "found") {
      const outcome = await recovery.task.result();
      console.log(`${recovery.task.id} was there, and came to ${outcome.status}`);
    } else if (recovery.status === "not-there") {
      console.log(`${messageId} never arrived: send it again, under the same id`);
    } else {
      console.log(`nobody can tell what became of ${messageId}: ${recovery.reason}`);
    }
  }
  // #endregion recover
  assert.equal(intents.length, 1);
  assert.equal((await client.openIntents()).intents.length, 0);

  const [entry] = (await ledger.list({ kind: "task" })).entries;
  assert.ok(entry?.record.kind === "task");
  const { record } = entry;
  // #region resume
  const task = await client.resume(record); // or by its id; the card is read first
  console.log(`${task.id} is ${task.state}, planned against ${task.pin.digest}`);
  // #endregion resume
  assert.equal(task.state, "TASK_STATE_COMPLETED");
  assert.equal(agent.acceptedMessageIds.length, 1);

  await client.close();
  await ledger.close();
  await listener.close();
  rmSync(folder, { recursive: true, force: true });
}

const [, , url, path] = process.argv;
if (url !== undefined && path !== undefined) await die(url, path);
else await main();
