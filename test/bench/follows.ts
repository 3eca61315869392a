import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { createClient, type TaskHandle } from "a2a-lease";

// Many tasks followed at once over a network that cuts their streams: does every one come to its end, and does anything
// stay behind? Agent and network are processes of their own. Wants `--expose-gc`.

const count = Number(process.env.FOLLOWS ?? 1_000);
const MiB = 1024 * 1024;
const gc = (globalThis as { gc?: () => void }).gc;
if (!gc) throw new TypeError("run with NODE_OPTIONS=--expose-gc");

async function start(file: string, ...args: string[]): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(new URL(file, import.meta.url), args, { execArgv: ["--import", "tsx"] });
  const [{ url }] = (await once(child, "message")) as [{ url: string }];
  return { child, url };
}
async function counts(child: ChildProcess): Promise<Record<string, number>> {
  child.send("counts");
  const [found] = (await once(child, "message")) as [Record<string, number>];
  return found;
}
async function heapMiB(): Promise<number> {
  for (let round = 0; round < 5; round++) {
    gc?.();
    await pause(100);
  }
  return process.memoryUsage().heapUsed / MiB;
}

const agent = await start("follows-agent.ts");
const network = await start("follows-proxy.ts", agent.url);
const toNetwork = (url: string, init?: RequestInit) => fetch(url.replace(agent.url, network.url), init);

async function followAll(howMany: number): Promise<{ updates: number; gaps: number; lost: string[] }> {
  const client = await createClient(agent.url, { fetch: toNetwork, leaseTermMs: 3_600_000 });
  const found = { updates: 0, gaps: 0, lost: [] as string[] };
  async function followOne(): Promise<void> {
    const task: TaskHandle = await begin();
    let text = "";
    try {
      for await (const update of task.follow({ maxAttempts: 20 })) {
        found.updates += 1;
        if (update.kind === "gap") found.gaps += 1;
        const first = update.kind === "snapshot" ? (update.task.artifacts?.[0]?.parts ?? []) : [];
        const parts = update.kind === "artifact" ? update.artifact.parts : first;
        for (const part of parts) if ("text" in part) text += part.text;
      }
      const pieces = text.split(";").slice(0, -1);
      const isWhole = pieces.length > 0 && pieces.every((piece, at) => piece === String(at));
      const truth = task.artifacts[0]?.parts.length;
      if (task.state !== "TASK_STATE_COMPLETED" || !isWhole || pieces.length !== truth) {
        found.lost.push(`${task.id}: ${task.state}, ${pieces.length} of ${truth} pieces`);
      }
    } catch (error) {
      found.lost.push(`${task.id}: ${error}`);
    }
  }
  async function begin(): Promise<TaskHandle> {
    const reply = await client.sendMessage("go");
    if ("task" in reply) return reply.task;
    throw new TypeError("the agent answered without a task");
  }
  await Promise.all(Array.from({ length: howMany }, followOne));
  await client.close();
  return found;
}

// The machinery of the platform is as large as it gets after a small round.
await followAll(Math.ceil(count / 10));
await pause(5_000);
const before = await heapMiB();
let peak = before;
const watching = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage().heapUsed / MiB);
}, 500);
const startMs = performance.now();
const cpu = process.cpuUsage();
const found = await followAll(count);
const { user, system } = process.cpuUsage(cpu);
const tookMs = performance.now() - startMs;
clearInterval(watching);
await pause(5_000);
const after = await heapMiB();
console.log({
  follows: count,
  seconds: Math.round(tookMs / 1_000),
  cpuSeconds: Math.round((user + system) / 1_000_000),
  ...found,
  heapMiB: { before: before.toFixed(1), peak: peak.toFixed(1), after: after.toFixed(1) },
  ...{ agent: await counts(agent.child), network: await counts(network.child) },
});
for (const { child } of [network, agent]) child.send("close");
