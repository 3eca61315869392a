// Ledgers that outlive a process: what one client remembers, the next one reads; and a ledger of your own is held to the
// same contract. Run it with `npx tsx examples/ledgers.ts`.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, createMemoryLedger } from "a2a-lease";
import { createSqliteLedger } from "a2a-lease/sql";
import { createScriptedAgent, type LedgerFactory, ledgerSuite, step } from "a2a-lease/testing";
import Database from "libsql";

const folder = mkdtempSync(join(tmpdir(), "a2a-lease-example-"));
const path = join(folder, "agents.db");
const agent = createScriptedAgent();
agent.plan([step.working(), step.hold()]);
const { url, fetch } = agent;

async function oneProcess() {
  // The real thing is createSqliteLedger({ path }), on better-sqlite3. This driver needs no compiler.
  const ledger = await createSqliteLedger({ database: new Database(path) as never });
  const client = await createClient(url, { fetch, ledger });
  const reply = await client.sendMessage("Summarise the attached report");
  await client.close();
  await ledger.close();
  assert.ok("task" in reply);
  return reply.task;
}

const task = await oneProcess();

async function anotherProcess() {
  const ledger = await createSqliteLedger({ database: new Database(path) as never });
  // #region list
  const states = ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"];
  const working = await ledger.list({ kind: "task", states });
  for (const { record } of working.entries) {
    if (record.kind === "task") console.log(`${record.taskId} goes on, planned against ${record.pin.digest}`);
  }
  const undecided = await ledger.list({ kind: "intent", states: ["open", "unknown"] });
  console.log(`${undecided.entries.length} messages whose fate is not known`);
  // #endregion list
  await ledger.close();
  return { working, undecided };
}

const { working, undecided } = await anotherProcess();
assert.deepEqual(
  working.entries.map(({ record }) => record.kind === "task" && record.taskId),
  [task.id],
);
assert.equal(undecided.entries.length, 0);

// #region suite
const factory: LedgerFactory = ({ clock, retentionMs }) => {
  const ledger = createMemoryLedger({ clock, retentionMs }); // yours
  return { open: () => ledger };
};
for (const { name, run } of ledgerSuite(factory)) {
  await run(); // or test(name, run), in your test runner
  console.log(`ok ${name}`);
}
// #endregion suite

rmSync(folder, { recursive: true, force: true });
