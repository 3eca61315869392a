import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { createClient, LimitExceededError } from "a2a-lease";
import { createTestCard } from "a2a-lease/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { interfacesAt } from "./hostile-world.ts";

type Part = "card" | "call" | "keys";

/**
 * An agent on a real port; one of its parts never ends an answer. `hungUp` resolves once the other side has closed the
 * connection of that answer.
 */
async function startEndless(endless: Part, begin: (response: ServerResponse) => void, piece: string) {
  let hangUp = () => {};
  const hungUp = new Promise<void>((resolve) => {
    hangUp = resolve;
  });
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const part: Part = request.method === "POST" ? "call" : request.url === "/jwks" ? "keys" : "card";
    if (part !== endless) return void response.end(JSON.stringify(card));
    begin(response);
    response.on("close", hangUp);
    const pour = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on("drain", pour);
    pour();
  });
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const header = Buffer.from(JSON.stringify({ alg: "ES256", kid: "k", jku: `${url}/jwks` })).toString(
    "base64url",
  );
  const card = createTestCard({
    ...interfacesAt(`${url}/rpc`),
    ...(endless === "keys" ? { signatures: [{ protected: header, signature: "AAAA" }] } : {}),
  });
  return { url, hungUp };
}

const head = (status: number, type: string) => (response: ServerResponse) =>
  void response.writeHead(status, { "content-type": type });

describe("a body that never ends is let go of at its limit, and its connection with it", () => {
  test("a card", async () => {
    const { url, hungUp } = await startEndless("card", head(200, "application/json"), " ".repeat(10_000));
    const error = await caught(createClient(url));
    expect(error).toMatchObject({ name: "CardUnreadableError", reason: "too-large" });
    await hungUp;
  });

  test("a key set", async () => {
    const { url, hungUp } = await startEndless("keys", head(200, "application/json"), " ".repeat(10_000));
    const client = await createClient(url, { signatures: { jkuOrigins: [url] } });
    expect(client.lease.signature?.signatures[0]?.problem).toBe("keys-too-large");
    await hungUp;
  });

  test("an answer", async () => {
    const { url, hungUp } = await startEndless("call", head(200, "application/json"), " ".repeat(10_000));
    const client = await createClient(url, { limits: { responseBytes: 100_000 } });
    const error = await caught(client.getTask({ id: "t" }), LimitExceededError);
    expect(error).toMatchObject({ limit: "responseBytes", max: 100_000 });
    await hungUp;
  });

  test("an answer that is an error, of which the status counts", async () => {
    const { url, hungUp } = await startEndless("call", head(418, "text/plain"), "x".repeat(10_000));
    const client = await createClient(url);
    expect(await caught(client.getTask({ id: "t" }))).toMatchObject({ name: "HttpStatusError", status: 418 });
    await hungUp;
  });

  test("an event", async () => {
    const { url, hungUp } = await startEndless(
      "call",
      head(200, "text/event-stream"),
      "data: x\n".repeat(1_000),
    );
    const client = await createClient(url, { limits: { eventBytes: 100_000 } });
    const error = await caught(read(await client.subscribeToTask({ id: "t" })), LimitExceededError);
    expect(error).toMatchObject({ limit: "eventBytes", max: 100_000 });
    await hungUp;
  });

  test("a comment, which is no event", async () => {
    const { url, hungUp } = await startEndless("call", head(200, "text/event-stream"), ":x".repeat(5_000));
    const client = await createClient(url, { limits: { eventBytes: 100_000 } });
    const error = await caught(read(await client.subscribeToTask({ id: "t" })), LimitExceededError);
    expect(error).toMatchObject({ limit: "eventBytes", max: 100_000 });
    await hungUp;
  });
});

async function read(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}
