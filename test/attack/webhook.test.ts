import { connect } from "node:net";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import { createMemoryLedger, type Ledger } from "a2a-lease";
import { describe, expect, test } from "vitest";
import { createWrittenLedger } from "../ledger/written.ts";
import { listen, minute, publicUrl, pushOf, startRig, status, token } from "../webhook/rig.ts";

/** What a server writes back to these bytes before it or we close. */
function talk(url: string, text: string): Promise<string> {
  const { port, hostname } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let answer = "";
    socket.on("data", (chunk) => {
      answer += String(chunk);
      socket.end();
    });
    socket.on("error", () => resolve(answer));
    socket.on("close", () => resolve(answer));
    socket.write(text);
  });
}

describe("over real HTTP", () => {
  test.each(["TRACE", "HEAD", "OPTIONS", "PUT", "GET", "DELETE", "PROPFIND"])(
    "%s is answered with 405",
    async (method) => {
      const { receive } = await startRig();
      const url = await listen(receive);
      const answer = await talk(url, `${method} / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 405 [\s\S]*allow: POST/);
    },
  );

  test("a compressed body is refused as that, and what says that it is none is taken", async () => {
    const { receive, handle, secret } = await startRig();
    const url = await listen(receive);
    const text = JSON.stringify(status(handle.id, "WORKING", minute(1)));
    const send = (body: BodyInit, coding: string) =>
      fetch(url, {
        method: "POST",
        body,
        headers: { "content-type": "application/json", "content-encoding": coding, ...token(secret) },
      });
    const refused = await send(gzipSync(text), "gzip");
    expect([refused.status, refused.headers.get("accept-encoding")]).toEqual([415, "identity"]);
    expect((await send(text, "identity")).status).toBe(200);
  });
});

describe("a notification", () => {
  test.each<[string, (secret: string, taskId: string) => object]>([
    ["its state", (secret, id) => status(id, secret, minute(1))],
    ["its time", (secret, id) => status(id, "WORKING", `${minute(1)} ${secret}`)],
    ["the id of its task", (secret) => status(`task-${secret}`, "WORKING", minute(1))],
    [
      "a member that can't be read",
      (secret, id) => ({ statusUpdate: { taskId: id, status: secret, contextId: 1 } }),
    ],
  ])("that repeats its secret in %s is refused, and shows nowhere", async (_where, make) => {
    const { ledger, written } = createWrittenLedger();
    const { receive, handle, secret, updates, errors } = await startRig({ ledger });
    const answer = await receive(pushOf(make(secret, handle.id), token(secret)));

    expect(answer.status).toBe(422);
    expect(updates).toEqual([]);
    expect(errors).toMatchObject([{ code: "MALFORMED_RESPONSE" }]);
    const shown = [inspect(errors, { depth: 12 }), JSON.stringify([errors, written]), await answer.text()];
    expect(shown.join()).not.toContain(secret);
  });

  test("that a failing ledger has kept all the same is told once, when its sender tries again", async () => {
    const inner = createMemoryLedger();
    let isFailing = false;
    const ledger: Ledger = {
      ...inner,
      async write(key, record, revision) {
        const entry = await inner.write(key, record, revision);
        if (isFailing && record.kind === "inbox") throw new TypeError("the connection broke");
        return entry;
      },
    };
    const { receive, handle, secret, updates } = await startRig({ ledger });
    const push = async () =>
      (await receive(pushOf(status(handle.id, "WORKING", minute(1)), token(secret)))).status;
    isFailing = true;
    expect([await push(), updates.length]).toEqual([503, 0]);
    isFailing = false;
    expect([await push(), updates.length]).toEqual([200, 1]);
    expect([await push(), updates.length]).toEqual([200, 1]);
  });

  test.each<[string, (id: string, long: string) => unknown]>([
    ["time", (id, long) => status(id, "WORKING", long)],
    ["state", (id, long) => status(id, long, minute(1))],
    ["context", (id, long) => status(id, "WORKING", minute(1), { contextId: long })],
    ["task", (_id, long) => status(long, "WORKING", minute(1))],
    [
      "context of an artifact",
      (id, long) => ({
        artifactUpdate: { taskId: id, contextId: long, artifact: { artifactId: "a", parts: [] } },
      }),
    ],
  ])("with a %s of a megabyte is refused, and leaves nothing of it in the ledger", async (_what, bodyOf) => {
    const { ledger, written } = createWrittenLedger();
    const { receive, handle, secret, updates } = await startRig({ ledger });
    const answer = await receive(pushOf(bodyOf(handle.id, "x".repeat(1024 * 1024)), token(secret)));
    expect({ status: answer.status, updates }).toEqual({ status: 422, updates: [] });
    expect((await answer.text()).length).toBeLessThan(1_000);
    expect(Math.max(...written.map(({ length }) => length))).toBeLessThan(100_000);
  });
});

describe("what the caller hands in", () => {
  test("a waitUntil that throws changes nothing of the answer, and is told", async () => {
    const failure = new TypeError("no worker");
    const waitUntil = () => {
      throw failure;
    };
    const { receive, handle, secret, errors, updates } = await startRig({ waitUntil });
    const answer = await receive(pushOf(status(handle.id, "WORKING", minute(1)), token(secret)));
    expect({ status: answer.status, errors, count: updates.length }).toEqual({
      status: 200,
      errors: [failure],
      count: 1,
    });
  });

  test("headers with the names of HTTP/2 are left aside", async () => {
    const { receive, handle, secret } = await startRig();
    const seen: number[] = [];
    const { toNodeListener } = await import("a2a-lease/webhook");
    const text = JSON.stringify(status(handle.id, "WORKING", minute(1)));
    const done = new Promise<void>((resolve) => {
      const request = {
        method: "POST",
        url: publicUrl,
        headers: { ":path": "/", "content-type": "application/json", ...token(secret) },
        complete: true,
        on(event: string, listener: (chunk?: unknown) => void) {
          if (event === "data") listener(new TextEncoder().encode(text));
          if (event === "end") setImmediate(listener);
        },
        pause() {},
        resume() {},
        destroy: resolve,
      };
      const response = {
        writableFinished: true,
        writeHead: (code: number) => void seen.push(code),
        end: () => resolve(),
        once() {},
      };
      toNodeListener(receive)(request as never, response);
    });
    await done;
    expect(seen).toEqual([200]);
  });
});
