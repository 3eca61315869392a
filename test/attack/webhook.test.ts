import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
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
