import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createTestCard } from "a2a-lease/testing";

const status = { state: "TASK_STATE_WORKING", timestamp: "2026-01-01T00:00:00Z" };

/** One answer to a subscription: its beginning is sent once, the rest again and again until the reader leaves. */
interface Flood {
  /** Whether it begins with the task, as it should. */
  readonly begins: boolean;
  /** What comes next; a task of that name asks for it. */
  readonly next: (frame: (result: object) => string, count: number) => string;
  /** How often; for ever without. */
  readonly times?: number;
}

const filler = "x".repeat(64 * 1024);

/** Streams that never end, or never should have begun. */
export const floods: Readonly<Record<string, Flood>> = {
  "an endless line": { begins: true, next: (_, count) => (count === 0 ? "data: " : filler) },
  "an endless line without a field": { begins: true, next: () => filler },
  "an event of 64 MiB": {
    begins: true,
    next: (_, count) => (count === 0 ? "data: " : count === 1025 ? "\n\n" : filler),
    times: 1026,
  },
  "an endless event of many lines": { begins: true, next: () => `data: ${filler}\n` },
  "endless comments": { begins: true, next: () => ": still here\n\n".repeat(1_000) },
  "endless comments and no event": { begins: false, next: () => ":\n".repeat(5_000) },
  "endless wishes for a pause": { begins: true, next: () => "retry: 10\n\n".repeat(1_000) },
  "endless lines of no field": { begins: true, next: () => "<p>\n".repeat(1_000) },
  "endless events of no use": { begins: true, next: () => "data: {}\n\n".repeat(1_000) },
  "endless pings": { begins: true, next: () => "event: ping\ndata: ping\n\n".repeat(1_000) },
  "a million pieces of nothing": {
    begins: true,
    next: (frame) =>
      frame({
        artifactUpdate: { taskId: "t", append: true, artifact: { artifactId: "a", parts: [{ text: "" }] } },
      }).repeat(1_000),
    times: 1_000,
  },
  "a million artifacts without parts": {
    begins: true,
    next: (frame, count) =>
      Array.from({ length: 1_000 }, (_, at) =>
        frame({ artifactUpdate: { taskId: "t", artifact: { artifactId: `${count}-${at}`, parts: [] } } }),
      ).join(""),
    times: 1_000,
  },
  "an artifact whose metadata grows": {
    begins: true,
    next: (frame, count) =>
      frame({
        artifactUpdate: {
          ...{ taskId: "t", append: count > 0 },
          artifact: { artifactId: "a", parts: [], [`member${count}`]: filler },
        },
      }),
  },
  "events of another task": {
    begins: true,
    next: (frame) => frame({ statusUpdate: { taskId: "another", status } }).repeat(100),
  },
  "endless repetitions": {
    begins: true,
    next: (frame) => frame({ statusUpdate: { taskId: "t", status } }).repeat(1_000),
  },
};

/** A raw server, as fast as its reader, whose tasks are named after the flood that a subscription brings. */
export async function startHostileServer(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const { port } = server.address() as AddressInfo;
    let body = "";
    for await (const chunk of request) body += chunk;
    if (request.method === "GET") {
      const url = `http://127.0.0.1:${port}/rpc`;
      const supportedInterfaces = [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
      response.setHeader("content-type", "application/json");
      return void response.end(JSON.stringify(createTestCard({ supportedInterfaces })));
    }
    const { id, method, params } = JSON.parse(body);
    const task = { id: params.id, status };
    const answer = (result: object) => JSON.stringify({ jsonrpc: "2.0", id, result });
    const frame = (result: object) =>
      `data: ${answer(result).replaceAll('"taskId":"t"', `"taskId":"${task.id}"`)}\n\n`;
    if (method === "GetTask") {
      response.setHeader("content-type", "application/json");
      return void response.end(answer(task));
    }
    response.setHeader("content-type", "text/event-stream");
    const flood = floods[task.id];
    if (!flood)
      return void response.end(frame({ task: { ...task, status: { state: "TASK_STATE_COMPLETED" } } }));
    if (flood.begins) response.write(frame({ task }));
    await pour(response, flood, frame);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function pour(
  response: ServerResponse,
  { next, times = Number.POSITIVE_INFINITY }: Flood,
  frame: (result: object) => string,
): Promise<void> {
  for (let count = 0; count < times && !response.destroyed; count++) {
    if (response.write(next(frame, count))) continue;
    const go = new AbortController();
    await Promise.race(["drain", "close"].map((name) => once(response, name, { signal: go.signal }))).catch(
      () => {},
    );
    go.abort();
  }
  response.end();
}
