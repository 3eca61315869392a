import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createClient, isA2ALeaseError, verifyCardSignatures } from "a2a-lease";
import { createTestCard, createTestClock, type TestClock } from "a2a-lease/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyValue, bytesOf, chunksOf, damage, mutate, mutations } from "./mutations.ts";

/** Inputs in all; a sixth of them of each kind. The seed is fixed, so that a run that failed can be had again. */
const runs = Number(process.env.A2A_FUZZ_RUNS ?? 10_000);
const seed = Number(process.env.A2A_FUZZ_SEED ?? 20_260_101);
const settings = { numRuns: Math.ceil(runs / 6), seed, timeout: 15_000 };
const within = { timeout: Math.max(120_000, runs * 20) };

const url = "https://agent.example";
const json = (body: BodyInit | null, type = "application/json", status = 200) =>
  new Response(body, { status, headers: { "content-type": type } });

/** What a step may end with: well, or with one of the library's own errors. Anything else is told. */
async function ends(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isA2ALeaseError(error)) throw error;
    JSON.stringify(error);
  }
}

/** The same for work that may wait for time to pass, which it does until the work is over: half a day must do. */
async function endsInTime(clock: TestClock, work: () => Promise<unknown>): Promise<void> {
  let isOver = false;
  const ended = ends(work).finally(() => {
    isOver = true;
  });
  for (let turn = 0; !isOver; turn++) {
    if (turn > 500) expect.fail("the work hangs");
    if (turn < 50) await new Promise<void>((resolve) => setImmediate(resolve));
    else await clock.advance(100_000);
  }
  await ended;
}

/** Both bindings, each with how it wraps an answer: HTTP+JSON sends it as it is. */
const bindings: readonly (readonly [name: string, wrap: (id: unknown, answer: object) => object])[] = [
  ["JSONRPC", (id, answer) => ({ jsonrpc: "2.0", id, ...answer })],
  ["HTTP+JSON", (_id, answer) => ("result" in answer ? Object(answer.result) : answer)],
];

/** A client of an agent in this process; `answer` is what it says to calls. */
async function connect(clock: TestClock, protocolBinding: string, answer: (id: unknown) => Response) {
  const supportedInterfaces = [{ url: `${url}/a2a`, protocolBinding, protocolVersion: "1.0" }];
  const card = JSON.stringify(createTestCard({ capabilities: { streaming: true }, supportedInterfaces }));
  return createClient(url, {
    clock,
    cancelConfirmMs: 1_000,
    fetch: async (target, init) =>
      target.endsWith("card.json") ? json(card) : answer(init.body ? JSON.parse(String(init.body)).id : null),
  });
}

const task = (state: string) => ({
  id: "t",
  contextId: "c",
  status: { state, timestamp: "2026-01-01T00:00:00.000Z", message: message("m-1") },
  history: [message("m-0")],
  artifacts: [{ artifactId: "a", name: "n", parts: [{ text: "x" }, { data: { x: 1 } }, { raw: "AAAA" }] }],
  metadata: { x: 1 },
});
const message = (messageId: string) => ({
  messageId,
  role: "ROLE_AGENT",
  parts: [{ text: "hello" }],
  taskId: "t",
});
const statusUpdate = (state: string) => ({
  statusUpdate: { taskId: "t", contextId: "c", status: { state, timestamp: "2026-01-01T00:00:01.000Z" } },
});
const artifactUpdate = {
  artifactUpdate: {
    taskId: "t",
    contextId: "c",
    artifact: { artifactId: "a", parts: [{ text: "y" }] },
    append: true,
    lastChunk: false,
  },
};
const remoteError = (code: number) => ({
  code,
  message: "no",
  data: [
    {
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason: "TASK_NOT_FOUND",
      domain: "a2a-protocol.org",
    },
  ],
});

describe("whatever comes in ends well or with a typed error, at once, and leaves nothing behind", () => {
  test("cards", within, async () => {
    const card = createTestCard({
      provider: { url, organization: "o" },
      documentationUrl: url,
      capabilities: { streaming: true, extensions: [{ uri: "urn:x", required: false, params: { a: 1 } }] },
      securitySchemes: { b: { httpAuthSecurityScheme: { scheme: "bearer" } } },
      securityRequirements: [{ schemes: { b: { list: [] } } }],
    });
    const heap = measureHeap();
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          { weight: 4, arbitrary: mutations.map((list) => mutate(card, list)) },
          { weight: 1, arbitrary: anyValue },
        ),
        mutations,
        damage,
        async (first, list, hurt) => {
          let served = bytesOf(first, hurt);
          const fetch = async (_url: string, init: RequestInit) =>
            init.method === "GET"
              ? json(served)
              : json(JSON.stringify({ jsonrpc: "2.0", id: 1, result: {} }));
          const clock = createTestClock();
          const options = { fetch, clock };
          await endsInTime(clock, async () => {
            const client = await createClient(`${url}/card.json`, options);
            await ends(() => client.sendMessage("x"));
            served = bytesOf(mutate(first, list), undefined);
            await ends(() => client.sendMessage("x"));
            await ends(() => client.renegotiate());
          });
        },
      ),
      settings,
    );
    expect(heap.growthMiB()).toBeLessThan(64);
  });

  test.each(bindings)("answers over %s", within, async (name, wrap) => {
    const bases = [
      { result: { task: task("TASK_STATE_WORKING") } },
      { result: { message: message("m-2") } },
      { result: task("TASK_STATE_INPUT_REQUIRED") },
      { error: remoteError(-32001) },
      { error: remoteError(-32603) },
      { error: { code: 404, status: "NOT_FOUND", message: "no", details: remoteError(0).data } },
    ];
    let served = bytesOf({}, undefined);
    let head: { readonly type: string; readonly status: number } = { type: "application/json", status: 200 };
    const heap = measureHeap();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...bases),
        mutations,
        damage,
        fc.constantFrom("application/json", "application/json", "text/html", "text/event-stream", ""),
        fc.constantFrom(200, 200, 200, 201, 204, 400, 401, 403, 404, 429, 500, 503),
        async (base, list, hurt, type, status) => {
          head = { type, status };
          const clock = createTestClock();
          const client = await connect(clock, name, (id) => {
            served = bytesOf(mutate(wrap(id, base), list), hurt);
            return json(head.status === 204 ? null : served, head.type, head.status);
          });
          await endsInTime(clock, () => client.sendMessage("x"));
          await endsInTime(clock, () => client.getTask({ id: "t" }));
          await endsInTime(clock, () => client.cancelTask({ id: "t" }));
        },
      ),
      settings,
    );
    expect(heap.growthMiB()).toBeLessThan(64);
  });

  test.each(bindings)("events over %s", within, async (name, wrap) => {
    const life = [
      { task: task("TASK_STATE_SUBMITTED") },
      statusUpdate("TASK_STATE_WORKING"),
      artifactUpdate,
      statusUpdate("TASK_STATE_COMPLETED"),
      { message: message("m-3") },
    ];
    const line = fc.oneof(
      { weight: 6, arbitrary: fc.record({ of: fc.nat(life.length - 1), list: fc.option(mutations) }) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          ":",
          "id: 1",
          "retry: 999999999999",
          "event: error",
          "data",
          "\r",
          "\ufeff",
        ),
      },
      { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 30 }) },
    );
    const heap = measureHeap();
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 8 }),
        damage,
        fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 12 }),
        async (lines, hurt, sizes) => {
          const clock = createTestClock();
          const client = await connect(clock, name, (id) => {
            const text = lines.map((item) => {
              if (typeof item === "string") return `${item}\n`;
              const envelope = wrap(id, { result: life[item.of] });
              return `data: ${JSON.stringify(item.list ? mutate(envelope, item.list) : envelope)}\n\n`;
            });
            const chunks = chunksOf(bytesOf(text.join(""), hurt), sizes);
            const body = new ReadableStream({
              start(controller) {
                for (const chunk of chunks) controller.enqueue(chunk);
                controller.close();
              },
            });
            return json(body, "text/event-stream");
          });
          await endsInTime(clock, async () => {
            let count = 0;
            for await (const _ of await client.sendStreamingMessage("x")) count += 1;
            expect(count).toBeLessThan(100);
          });
        },
      ),
      settings,
    );
    expect(heap.growthMiB()).toBeLessThan(64);
  });

  test("signatures", within, async () => {
    const { publicKey, privateKey } = await crypto.subtle.generateKey(
      { name: "ECDSA", namedCurve: "P-256" },
      true,
      ["sign", "verify"],
    );
    const jwk = { ...(await crypto.subtle.exportKey("jwk", publicKey)), kid: "k", alg: "ES256" };
    expect(privateKey.type).toBe("private");
    const header = {
      alg: "ES256",
      kid: "k",
      typ: "JOSE",
      jku: "https://keys.example/jwks",
      crit: ["b64"],
      b64: true,
    };
    const card = createTestCard();
    const heap = measureHeap();
    await fc.assert(
      fc.asyncProperty(mutations, mutations, fc.boolean(), async (inHeader, outside, isHeaderMutated) => {
        const head = isHeaderMutated ? mutate(header, inHeader) : { alg: "ES256", kid: "k" };
        const signature = {
          protected: Buffer.from(bytesOf(head, undefined)).toString("base64url"),
          signature: "A".repeat(86),
        };
        const signed = { ...card, signatures: mutate([signature, signature], outside) };
        await ends(async () => {
          const verdict = await verifyCardSignatures(signed as never, { keys: [jwk as never] });
          expect(verdict.result).not.toBe("valid");
        });
        const options = { signatures: { mode: "require", keys: [jwk as never] } } as const;
        await ends(async () => {
          await createClient(`${url}/card.json`, {
            ...options,
            clock: createTestClock(),
            fetch: async () => json(bytesOf(signed, undefined)),
          });
          expect.fail("a card that nobody signed was taken");
        });
      }),
      settings,
    );
    expect(heap.growthMiB()).toBeLessThan(64);
  });
});

/** What is kept after a run, garbage left out. */
function measureHeap() {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const used = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = used();
  return { growthMiB: () => (used() - before) / 2 ** 20 };
}
