import { createClient } from "a2a-lease";
import { answer, createScriptedAgent, createTestClock, step } from "a2a-lease/testing";

// What an outage is asked on top: an agent answers 503 for a minute to a hundred clients, each of which reads a task once a
// second, on a clock that stands still between the steps.

const clientCount = 100;
const seconds = 60;

async function storm(retries: { maxAttempts?: number; budget?: number } | false): Promise<number> {
  const clock = createTestClock();
  const agent = createScriptedAgent({ clock, plan: [step.working()] });
  const options = { fetch: agent.fetch, clock, retries, leaseTermMs: 3_600_000 };
  const clients = await Promise.all(
    Array.from({ length: clientCount }, () => createClient(agent.url, options)),
  );
  const handles = await Promise.all(
    clients.map(async (client) => {
      const reply = await client.sendMessage("hello");
      if (!("task" in reply)) throw new TypeError("no task");
      return reply.task;
    }),
  );
  agent.on("GetTask", answer.http(503));
  agent.clearTranscript();
  const reads: Promise<unknown>[] = [];
  for (let second = 0; second < seconds; second++) {
    for (const handle of handles) reads.push(handle.get().catch(() => {}));
    await clock.advance(1_000);
  }
  await clock.advance(60_000);
  await Promise.all(reads);
  return agent.calls("GetTask").length;
}

const calls = clientCount * seconds;
for (const [name, retries] of [
  ["no repetition", false],
  ["as it is by default", {}],
  ["without a budget", { budget: 1_000_000 }],
] as const) {
  const requests = await storm(retries);
  console.log(
    `${name}: ${calls} calls, ${requests} requests, ${(((requests - calls) / calls) * 100).toFixed(2)} % more`,
  );
}
