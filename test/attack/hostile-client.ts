import { A2ALeaseError, createClient } from "a2a-lease";

// Follows the tasks that it is told to, one after the other, and prints what each came to and what memory it took.
// Runs by itself, with `--expose-gc`, so that nothing but the client is measured.

const [url = "", ...tasks] = process.argv.slice(2);
const MiB = 1024 * 1024;
/** Bytes of a stream between two looks at the memory. */
const lookEveryBytes = MiB;

const gc = (globalThis as { gc?: () => void }).gc ?? (() => {});
function usedBytes(): number {
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

let peak = 0;
let bytes = 0;
async function watchedFetch(input: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (Math.floor((bytes + chunk.length) / lookEveryBytes) > Math.floor(bytes / lookEveryBytes)) {
        peak = Math.max(peak, usedBytes());
      }
      bytes += chunk.length;
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body?.pipeThrough(watch) ?? null, response);
}

const limits = { eventBytes: 4 * MiB, responseBytes: 4 * MiB };

async function follow(id: string): Promise<{ code: string; updates: number }> {
  const client = await createClient(url, { fetch: watchedFetch, limits, leaseTermMs: 3_600_000 });
  let updates = 0;
  try {
    const task = await client.getTask({ id });
    for await (const _ of task.follow()) updates += 1;
    return { code: "none", updates };
  } catch (error) {
    return { code: error instanceof A2ALeaseError ? error.code : String(error), updates };
  } finally {
    await client.close();
  }
}

const longestRestMs = 2_000;

/**
 * Memory once sockets and streams that were let go of have come to their end. On a busy machine that takes them a while,
 * so it is looked at again until it is back near where it was.
 */
async function restingBytes(aimBytes = 0): Promise<number> {
  const startMs = performance.now();
  for (;;) {
    for (let turn = 0; turn < 50; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
    const used = usedBytes();
    if (used <= aimBytes || performance.now() - startMs > longestRestMs) return used;
  }
}

for (let round = 0; round < 10; round++) await follow("warm-up");
await restingBytes();
for (const id of tasks) {
  const before = usedBytes();
  peak = before;
  bytes = 0;
  const startMs = performance.now();
  const found = await follow(id);
  const tookMs = Math.round(performance.now() - startMs);
  const after = await restingBytes(before + MiB);
  console.log(JSON.stringify({ id, ...found, bytes, tookMs, peak: peak - before, after: after - before }));
}
