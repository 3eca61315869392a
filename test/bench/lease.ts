import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type ClientOptions, cardDigest, createClient, type TaskHandle } from "a2a-lease";
import { createTestCard } from "a2a-lease/testing";

// What the lease costs: the same GetTask, on the same server, in one run, as ratios to a bare fetch.

const rounds = Number(process.env.ROUNDS ?? 15);
const callsPerRound = Number(process.env.CALLS ?? 300);
const inFlight = 8;

const task = {
  id: "t1",
  contextId: "c1",
  status: { state: "TASK_STATE_WORKING", timestamp: "2026-01-01T00:00:00.000Z" },
  artifacts: [{ artifactId: "a", parts: [{ text: "x".repeat(1_500) }] }],
  history: [{ messageId: "m", role: "ROLE_USER", parts: [{ text: "hello" }] }],
};

const server = createServer((request, response) => {
  const { port } = server.address() as AddressInfo;
  if (request.method === "GET") {
    const url = `http://127.0.0.1:${port}/rpc`;
    const card = createTestCard({
      supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    });
    response.setHeader("etag", '"1"');
    response.setHeader("content-type", "application/json");
    if (request.headers["if-none-match"] === '"1"') response.writeHead(304).end();
    else response.end(JSON.stringify(card));
    return;
  }
  let body = "";
  request.on("data", (chunk) => {
    body += chunk;
  });
  request.on("end", () => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(body).id, result: task }));
  });
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const handleOf = async (options: ClientOptions): Promise<TaskHandle> => {
  const client = await createClient(base, options);
  return client.getTask({ id: "t1" });
};
const checked = await handleOf({});
const inTerm = await handleOf({ leaseTermMs: 3_600_000 });
const withToken = await handleOf({ credentials: { bearer: "a-token-of-thirty-two-characters" } });

const contenders: Readonly<Record<string, () => Promise<unknown>>> = {
  "bare fetch": async () => {
    const response = await fetch(`${base}/rpc`, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "t1" } }),
    });
    return JSON.parse(await response.text());
  },
  "within the term": () => inTerm.get(),
  "checked each time": () => checked.get(),
  "with credentials": () => withToken.get(),
};

async function round(call: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  let left = callsPerRound;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left-- > 0) await call();
    }),
  );
  const { user, system } = process.cpuUsage(before);
  return (user + system) / callsPerRound;
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
const times = new Map<string, number[]>(Object.keys(contenders).map((name) => [name, []]));
for (const call of Object.values(contenders)) await round(call);
for (let n = 0; n < rounds; n++) {
  for (const [name, call] of Object.entries(contenders)) times.get(name)?.push(await round(call));
}
const bare = times.get("bare fetch") ?? [];
process.stdout.write("CPU of client and server together, one GetTask of 2 KB, median of paired rounds\n");
for (const [name, values] of times) {
  const ratio = median(values.map((value, index) => value / (bare[index] ?? value)));
  process.stdout.write(
    `${name.padEnd(20)} ${median(values).toFixed(0).padStart(6)} µs   ${ratio.toFixed(2)}x\n`,
  );
}

// A full read whose bytes changed: digests beside the parse that any reader has to do.
const text = JSON.stringify(
  createTestCard({
    skills: Array.from({ length: 40 }, (_, index) => ({
      id: `skill-${index}`,
      name: `Skill ${index}`,
      description: "What it does, in a sentence of some length, as skills have it.",
      tags: ["one", "two"],
    })),
  }),
);
const digests: number[] = [];
const parses: number[] = [];
for (let n = 0; n < 200; n++) {
  let at = performance.now();
  for (let i = 0; i < 20; i++) cardDigest(text);
  digests.push((performance.now() - at) / 20);
  at = performance.now();
  for (let i = 0; i < 20; i++) JSON.parse(text);
  parses.push((performance.now() - at) / 20);
}
const ratio = median(digests.map((value, index) => value / (parses[index] ?? value)));
process.stdout.write(
  `\ncontent digest of a card of ${(text.length / 1024).toFixed(1)} KB: ${(median(digests) * 1000).toFixed(0)} µs, ` +
    `${ratio.toFixed(1)}x its JSON.parse\n`,
);
server.close();
server.closeAllConnections();
