import { connect } from "node:net";
import { createMemoryLedger, type Ledger } from "a2a-lease";
import { createTestClock } from "a2a-lease/testing";
import { createWebhookReceiver, type WebhookOptions } from "a2a-lease/webhook";
import { describe, expect, test } from "vitest";
import { listen, minute, publicUrl, pushOf, startRig, status, token } from "./rig.ts";

/** A body that comes as its pieces come. */
function streamed(body: ReadableStream<Uint8Array>, headers: Readonly<Record<string, string>>): Request {
  const init = {
    method: "POST",
    body,
    duplex: "half",
    headers: { "content-type": "application/json", ...headers },
  };
  return new Request(publicUrl, init as RequestInit);
}

const bytes = (count: number) => new Uint8Array(count).fill(0x20);
const settle = async () => {
  for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe("the size of a body", () => {
  test("of 10 MiB is refused over real HTTP, and the next one is taken", async () => {
    const { receive, handle, secret } = await startRig();
    const url = await listen(receive);
    const large = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...token(secret) },
      body: bytes(10 * 1024 * 1024),
    });
    expect(large.status).toBe(413);
    await large.text();
    const next = await fetch(pushOf(status(handle.id, "WORKING", minute(1)), token(secret), url));
    expect(next.status).toBe(200);
  });

  test("is counted also where it is not told beforehand, and reading stops there", async () => {
    const { receive, secret } = await startRig();
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(bytes(1024 * 1024));
      },
    });
    expect((await receive(streamed(endless, token(secret)))).status).toBe(413);
    expect(pulled).toBeLessThan(12);
  });

  test("is not looked at for somebody without a right", async () => {
    const { receive } = await startRig();
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull() {
          pulled += 1;
        },
      },
      { highWaterMark: 0 },
    );
    expect((await receive(streamed(body, token("not-the-secret-of-anything")))).status).toBe(401);
    expect(pulled).toBe(0);
  });

  test("of all bodies together is bounded", async () => {
    const { receive, secret } = await startRig({ limits: { pendingBytes: 1000 } });
    const open = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(bytes(900)) });
    const first = receive(streamed(open, token(secret)));
    await settle();
    const second = await receive(pushOf(" ".repeat(200), token(secret)));
    expect({ status: second.status, wait: second.headers.get("retry-after") }).toEqual({
      status: 429,
      wait: "1",
    });
    await open.cancel().catch(() => {});
    first.catch(() => {});
  });
});

describe("the time of a body", () => {
  test("is bounded: one that does not end is answered with 408", async () => {
    const clock = createTestClock();
    const { receive, secret } = await startRig({ clock });
    const slow = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(bytes(1)) });
    const answer = receive(streamed(slow, token(secret)));
    await settle();
    await clock.advance(9_999);
    await settle();
    await clock.advance(1);
    expect((await answer).status).toBe(408);
  });

  test("is bounded over real HTTP, and the connection is ended", async () => {
    const clock = createTestClock();
    const { receive, secret } = await startRig({ clock });
    const url = new URL(await listen(receive, { clock }));
    const socket = connect(Number(url.port), url.hostname);
    let answer = "";
    socket.on("data", (chunk) => {
      answer += String(chunk);
    });
    const closed = new Promise((resolve) => socket.once("close", resolve));
    const answered = new Promise((resolve) => socket.once("data", resolve));
    const head = ["POST / HTTP/1.1", "host: x", "content-type: application/json", "content-length: 100"];
    socket.write(`${[...head, `x-a2a-notification-token: ${secret}`].join("\r\n")}\r\n\r\n{`);
    while (clock.pendingCount === 0) await settle();
    await clock.advance(10_000);
    await answered;
    await settle();
    await clock.advance(1_000);
    await closed;
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });

  test("ends with a sender that hangs up", async () => {
    const { receive, secret, errors } = await startRig();
    const gone = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes(1));
        controller.error(new TypeError("hung up"));
      },
    });
    expect((await receive(streamed(gone, token(secret)))).status).toBe(400);
    expect(errors).toEqual([]);
  });
});

describe("a ledger that hangs", () => {
  test("is waited for 10 seconds, then the sender is asked to come again", async () => {
    const clock = createTestClock();
    const hanging: Ledger = { ...createMemoryLedger(), read: () => new Promise(() => {}) };
    const receive = createWebhookReceiver({ ledger: hanging, clock });
    const answer = receive(pushOf(status("t", "WORKING"), token("some-secret-of-somebody")));
    await settle();
    await clock.advance(10_000);
    expect((await answer).status).toBe(503);
  });
});

describe("1 000 notifications at once", () => {
  /** What happened to a task, in order, each step dated. */
  const life = [...Array.from({ length: 9 }, () => "WORKING"), "COMPLETED"];

  async function storm(options: Partial<WebhookOptions>, isOverHttp: boolean) {
    const rig = await startRig({ ...options });
    const tasks = [{ id: rig.handle.id, secret: rig.secret }];
    for (let count = 1; count < 50; count++) {
      const reply = await rig.client.sendMessage("Another one.");
      if (!("task" in reply)) throw new TypeError("found a message, wanted a task");
      const { token: secret = "" } = await reply.task.pushConfigs.create({ url: publicUrl });
      tasks.push({ id: reply.task.id, secret });
    }
    const url = isOverHttp ? await listen(rig.receive) : publicUrl;
    const send = isOverHttp ? fetch : rig.receive;
    // Each step of each task comes twice, in an order of its own.
    const pushes = tasks.flatMap((task) =>
      [...life, ...life].map((state, at) => ({ task, state, at: minute((at % life.length) + 1) })),
    );
    const shuffled = pushes
      .map((push, at) => ({ push, rank: (at * 7919) % 1009 }))
      .sort((a, b) => a.rank - b.rank);
    const statuses = await Promise.all(
      shuffled.map(async ({ push: { task, state, at } }) => {
        const response = await send(pushOf(status(task.id, state, at), token(task.secret), url));
        await response.text();
        return response.status;
      }),
    );
    return { ...rig, tasks, statuses };
  }

  test("are all answered over real HTTP, none is lost, and none is told twice", {
    timeout: 60_000,
  }, async () => {
    const { statuses, updates, errors, tasks, ledger, client } = await storm({}, true);
    expect(statuses.length).toBe(1000);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(errors).toEqual([]);
    const told = updates.map(
      ({ taskId, observation }) => `${taskId} ${observation?.state} ${observation?.timestamp}`,
    );
    expect(new Set(told).size).toBe(told.length);
    for (const { id } of tasks) {
      const ends = updates.filter(
        (update) => update.taskId === id && update.state === "TASK_STATE_COMPLETED",
      );
      expect(ends.length).toBe(1);
      const key = JSON.stringify(["inbox", client.lease.url, "default", id]);
      const record = (await ledger.read(key))?.record;
      const kept = record?.kind === "inbox" ? record.observations.map(({ state }) => state) : [];
      expect(kept).toContain("TASK_STATE_COMPLETED");
    }
  });

  test("are bounded: what is too much is told to come again, and nothing that was taken is lost", async () => {
    const { statuses, updates, errors } = await storm({ limits: { pending: 4 } }, false);
    expect([...new Set(statuses)].sort()).toEqual([200, 429]);
    expect(errors).toEqual([]);
    expect(updates.length).toBeGreaterThan(0);
  });
});
