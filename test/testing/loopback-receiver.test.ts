import { afterEach, expect, test, vi } from "vitest";
import {
  createLoopbackReceiver,
  type LoopbackReceiver,
  type LoopbackReceiverOptions,
} from "../../src/testing.ts";

let receiver: LoopbackReceiver | undefined;
afterEach(() => receiver?.close());

async function receiving(options?: LoopbackReceiverOptions) {
  receiver = await createLoopbackReceiver(options);
  return receiver;
}

const post = (url: string, body: BodyInit, init: RequestInit = {}) =>
  fetch(url, { method: "POST", body, ...init });

test("without a handler every request is acknowledged and kept", async () => {
  const hook = await receiving();
  const answered = await post(`${hook.url}/a?b=1`, "héllo", { headers: { "X-Token": "t" } });
  const got = await fetch(hook.url);
  expect([answered.status, got.status]).toEqual([200, 200]);
  expect(hook.received).toMatchObject([
    { method: "POST", path: "/a?b=1", headers: { "x-token": "t" }, body: "héllo", status: 200 },
    { method: "GET", path: "/", body: "", status: 200 },
  ]);
});

test("the handler gets the request whole, and its answer is sent as it is", async () => {
  const hook = await receiving({
    handler: async (request) =>
      Response.json(
        { url: request.url, type: request.headers.get("content-type"), json: await request.json() },
        {
          status: 202,
          headers: { "x-a": "1" },
        },
      ),
  });
  const body = { a: ["ü".repeat(100_000)] };
  const answered = await post(`${hook.url}/x`, JSON.stringify(body), {
    headers: { "content-type": "application/a2a+json" },
  });
  expect([answered.status, answered.headers.get("x-a")]).toEqual([202, "1"]);
  expect(await answered.json()).toEqual({ url: `${hook.url}/x`, type: "application/a2a+json", json: body });
});

test("a handler that reads no body, or only its beginning, can still answer, and the connection serves on", async () => {
  const hook = await receiving({ handler: () => new Response(null, { status: 413 }) });
  const big = "x".repeat(4 * 1024 * 1024);
  expect((await post(hook.url, big)).status).toBe(413);
  hook.handle(async ({ body }) => {
    const reader = body?.getReader();
    await reader?.read();
    await reader?.cancel();
    return new Response(null, { status: 400 });
  });
  expect((await post(hook.url, big)).status).toBe(400);
  hook.handle();
  expect((await post(hook.url, "a")).status).toBe(200);
  expect(hook.received.map(({ status }) => status)).toEqual([413, 400, 200]);
  expect(hook.received[1]?.body.length).toBeLessThan(big.length);
});

test("what a handler throws is kept, and answered with 500", async () => {
  const mistake = new RangeError("my mistake");
  const hook = await receiving({ handler: () => Promise.reject(mistake) });
  expect((await post(hook.url, "a")).status).toBe(500);
  expect(hook.received[0]).toMatchObject({ status: 500, error: mistake });
});

test("a sender that hangs up aborts the request", async () => {
  let seen: AbortSignal | undefined;
  const hook = await receiving({
    handler: ({ signal }) => {
      seen = signal;
      return new Promise(() => {});
    },
  });
  const sender = new AbortController();
  const pending = post(hook.url, "a", { signal: sender.signal }).catch(() => "gone");
  await vi.waitUntil(() => seen !== undefined);
  sender.abort();
  expect(await pending).toBe("gone");
  await vi.waitUntil(() => seen?.aborted);
});

test("a body that is slow to come is read as it comes", async () => {
  let enqueue = (_text: string) => {};
  const slow = new ReadableStream<Uint8Array>({
    start(controller) {
      enqueue = (text) =>
        text === "" ? controller.close() : controller.enqueue(new TextEncoder().encode(text));
    },
  });
  const chunks: string[] = [];
  const hook = await receiving({
    handler: async ({ body }) => {
      for await (const chunk of body ?? []) chunks.push(new TextDecoder().decode(chunk));
      return new Response(null, { status: 204 });
    },
  });
  const answered = post(hook.url, slow, { duplex: "half" } as RequestInit);
  enqueue("one");
  await vi.waitUntil(() => chunks.length === 1);
  enqueue("two");
  enqueue("");
  expect([(await answered).status, chunks.join()]).toEqual([204, "one,two"]);
});

test("nobody listens any more once it is closed", async () => {
  const hook = await receiving();
  await hook.close();
  await expect(post(hook.url, "a")).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
});
