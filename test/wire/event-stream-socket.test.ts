import { describe, expect, test, vi } from "vitest";
import { openEventStream } from "../../src/wire/event-stream.ts";
import { createHttp } from "../../src/wire/http.ts";
import { collect } from "./answers.ts";
import { createFakeClock } from "./fake-clock.ts";
import { serve } from "./loopback.ts";

const MiB = 1024 * 1024;

/** A server that writes events for as long as its reader takes them, and a stream that reads it. */
async function openEndless() {
  const clock = createFakeClock();
  const controller = new AbortController();
  const { signal } = controller;
  let written = 0;
  const event = `data: ${"x".repeat(16 * 1024)}\n\n`;
  const server = await serve((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const pour = () => {
      let isTaken = true;
      while (isTaken && !response.destroyed) {
        written += event.length;
        isTaken = response.write(event);
      }
    };
    response.on("drain", pour);
    pour();
  });
  const http = createHttp({ fetch: (url, init) => fetch(url, init), clock });
  const response = await http({ url: server.url, method: "GET", headers: {}, signal, firstByteMs: 1_000 });
  const stream = openEventStream(response, {
    ...{ clock, signal, firstEventMs: 500, idleMs: 1_000, maxEventBytes: MiB },
  });
  return { clock, controller, stream, server, written: () => written };
}

/** Waits until the server has stopped writing. */
async function standstill(written: () => number): Promise<number> {
  let before = -1;
  await vi.waitUntil(
    () => {
      const isStill = written() === before;
      before = written();
      return isStill;
    },
    { interval: 200, timeout: 15_000 },
  );
  return before;
}

describe("a consumer that stops reading", () => {
  test("stops the server, however much it has to say", { timeout: 60_000 }, async () => {
    const { stream, written, server } = await openEndless();
    let read = 0;
    for await (const batch of stream.batches) {
      for (const { data = "" } of batch) read += data.length;
      if (read < MiB) continue;
      // What the sockets of both sides and the platform hold, and nothing of ours.
      expect((await standstill(written)) - read).toBeLessThan(16 * MiB);
      break;
    }
    await server.hungUp;
  });
});

describe("the server sees the connection close", () => {
  test("when the consumer throws", async () => {
    const { stream, server, clock } = await openEndless();
    const reading = (async () => {
      for await (const _ of stream.batches) throw new RangeError("enough");
    })();
    await expect(reading).rejects.toThrow("enough");
    await server.hungUp;
    expect(clock.timers).toBe(0);
  });

  test("when the caller aborts in the middle of a wait", async () => {
    const { stream, server, clock, controller } = await openEndless();
    const reading = (async () => {
      for await (const _ of stream.batches) controller.abort(new RangeError("enough"));
    })();
    await expect(reading).rejects.toThrow("enough");
    await server.hungUp;
    expect(clock.timers).toBe(0);
  });

  test("when an event is too large", async () => {
    const clock = createFakeClock();
    const server = await serve((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${"x".repeat(2_000)}`);
    });
    const http = createHttp({ fetch: (url, init) => fetch(url, init), clock });
    const { signal } = new AbortController();
    const response = await http({ url: server.url, method: "GET", headers: {}, signal, firstByteMs: 1_000 });
    const options = { clock, signal, firstEventMs: 500, idleMs: 1_000, maxEventBytes: 1_000 };
    await expect(
      collect(openEventStream(response, options).batches).then(({ error }) => error),
    ).resolves.toMatchObject({ limit: "eventBytes" });
    await server.hungUp;
    expect(clock.timers).toBe(0);
  });
});
