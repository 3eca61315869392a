// A process that works with an agent and kills itself at one named point, as a machine that loses its power does.
import { createClient, type FetchLike, type Ledger } from "../../src/index.ts";
import { openStore } from "./store.ts";

const { AGENT_URL = "", STORE = "", POINT = "", SCENARIO = "send" } = process.env;
const counts = new Map<string, number>();
let isArmed = false;

/** Ends the process without a word when this is the point that was named. */
function pass(name: string): void {
  if (!isArmed) return;
  const count = (counts.get(name) ?? 0) + 1;
  counts.set(name, count);
  const point = `${name} ${count}`;
  if (process.env.SHOW) process.stderr.write(`${point}\n`);
  if (point === POINT) process.kill(process.pid, "SIGKILL");
}

function watchLedger(ledger: Ledger): Ledger {
  return {
    ...ledger,
    async write(key, record, revision) {
      const name = record.kind === "intent" ? `intent ${record.state}` : record.kind;
      pass(`before the ${name} is written`);
      const entry = await ledger.write(key, record, revision);
      pass(`after the ${name} is written`);
      return entry;
    },
  };
}

const watchFetch: FetchLike = async (url, init) => {
  const name = init.method === "POST" ? JSON.parse(String(init.body)).method : "the card";
  pass(`before ${name} leaves`);
  const response = await fetch(url, init);
  pass(`at the head of ${name}`);
  const body = response.body?.pipeThrough(
    new TransformStream({
      transform(chunk, controller) {
        controller.enqueue(chunk);
        pass(`at a chunk of ${name}`);
      },
      flush: () => pass(`at the end of ${name}`),
    }),
  );
  return new Response(body ?? null, response);
};

const ledger = await openStore(JSON.parse(STORE));
const client = await createClient(AGENT_URL, { ledger: watchLedger(ledger), fetch: watchFetch });
const message = (messageId: string) => ({ messageId, parts: [{ text: messageId }] });
await client.sendMessage(message("m-before"));
isArmed = true;
if (SCENARIO === "send") {
  const reply = await client.sendMessage(message("m-1"));
  pass("at the handle");
  if ("task" in reply) await reply.task.result();
} else if (SCENARIO === "stream") {
  for await (const _event of await client.sendStreamingMessage(message("m-1"))) pass("at an event");
} else {
  await client.delegate(message("m-1"), { onUpdate: () => pass("at an update") });
}
pass("at the outcome");
await client.close();
await ledger.close();
