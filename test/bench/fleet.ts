import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CardDriftError, createClient, type TaskHandle } from "a2a-lease";
import { createSqliteLedger } from "a2a-lease/sql";
import { createScriptedAgent, step } from "a2a-lease/testing";
import Database from "libsql";

// Eight processes, one agent, five hundred tasks, a card that rotates, and kills at random: no message is sent twice, no
// end is lost, every process sees the drift.

const workerCount = 8;
const taskCount = Number(process.env.TASKS ?? 500);
const killCount = Number(process.env.KILLS ?? 12);
const openLedger = (path: string) =>
  createSqliteLedger({ database: new Database(path) as never, busyTimeoutMs: 20_000 });

async function work(url: string, path: string, number: number): Promise<void> {
  const ledger = await openLedger(path);
  const client = await createClient(url, { ledger });
  let drifts = 0;

  /** Carries out a step, and adopts the live card where it is another one; a task that is there goes on under it. */
  async function withDrift(run: () => Promise<unknown>): Promise<void> {
    let next = run;
    for (;;) {
      try {
        await next();
        return;
      } catch (error) {
        if (!(error instanceof CardDriftError)) throw error;
        drifts += 1;
        const { taskId } = error;
        if (taskId === undefined) {
          next = async () => {
            await client.renegotiate();
            await run();
          };
        } else {
          next = async () => {
            const task: TaskHandle = await (await client.task(taskId)).renegotiate();
            await task.result();
          };
        }
      }
    }
  }

  async function carryOut(messageId: string): Promise<void> {
    const key = JSON.stringify(["intent", client.lease.url, "default", messageId]);
    const record = (await ledger.read(key))?.record;
    const send = () => client.delegate({ messageId, parts: [{ text: messageId }] });
    if (record?.kind !== "intent" || record.state === "refused") return void (await send());
    const found = await client.recover(messageId);
    if (found.status === "cannot-tell") throw new TypeError(`${messageId}: ${found.reason}`);
    if (found.status === "not-there") return void (await send());
    await found.task.result();
  }

  for (let at = number; at < taskCount; at += workerCount) await withDrift(() => carryOut(`m-${at}`));
  console.log(`drifts ${drifts}`);
  await client.close();
  await ledger.close();
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "a2a-lease-fleet-"));
  const path = join(folder, "agents.db");
  await (await openLedger(path)).close();
  const agent = createScriptedAgent({ plan: [step.working(), step.artifact("a", "out"), step.completed()] });
  const listener = await agent.listen();
  const file = fileURLToPath(import.meta.url);
  const running = new Map<number, ChildProcess>();
  const sawDrift = new Set<number>();
  let kills = 0;
  let rotations = 0;
  const since = performance.now();

  const done = Array.from({ length: workerCount }, async (_, number) => {
    for (;;) {
      const child = spawn(process.execPath, ["--import", "tsx", file, listener.url, path, String(number)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      running.set(number, child);
      child.stdout.on("data", (text) => {
        if (/drifts [1-9]/.test(String(text))) sawDrift.add(number);
      });
      const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
        child.on("exit", (...ended) => resolve(ended)),
      );
      running.delete(number);
      if (signal === "SIGKILL") continue;
      assert.equal(code, 0);
      return;
    }
  });
  const chaos = setInterval(() => {
    rotations += 1;
    agent.rotateCard((card) => ({ ...card, description: `rotation ${rotations}` }));
    const alive = [...running.values()];
    if (kills < killCount && agent.acceptedMessageIds.length > 20) {
      kills += 1;
      alive[Math.floor(Math.random() * alive.length)]?.kill("SIGKILL");
    }
  }, 2_000);
  await Promise.all(done);
  clearInterval(chaos);

  const ledger = await openLedger(path);
  let ended = 0;
  for (let pageToken: string | undefined, isFirst = true; isFirst || pageToken; isFirst = false) {
    const states = ["TASK_STATE_COMPLETED"];
    const page = await ledger.list({ kind: "task", states, ...(pageToken ? { pageToken } : {}) });
    ended += page.entries.length;
    pageToken = page.nextPageToken;
  }
  const calls = agent.calls().length;
  const accepted = agent.acceptedMessageIds;
  console.log({
    seconds: Math.round((performance.now() - since) / 1_000),
    accepted: accepted.length,
    distinct: new Set(accepted).size,
    ended,
    calls,
    cardReads: agent.cardReads().length,
    rotations,
    kills,
    processesThatSawDrift: sawDrift.size,
  });
  assert.equal(accepted.length, taskCount);
  assert.equal(new Set(accepted).size, taskCount);
  assert.equal(ended, taskCount);
  assert.equal(sawDrift.size, workerCount);
  await ledger.close();
  await listener.close();
  rmSync(folder, { recursive: true, force: true });
}

const [, , url, path, number] = process.argv;
if (url !== undefined && path !== undefined && number !== undefined) await work(url, path, Number(number));
else await main();
