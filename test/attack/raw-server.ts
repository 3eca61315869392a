import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** What a server was asked, all of it. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** What it answers. */
export interface RawAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A server on a loopback port that answers with anything and keeps a log of all that it was sent. */
export async function createRawServer(answer: (request: RawRequest) => RawAnswer = () => ({ status: 500 })) {
  const log: RawRequest[] = [];
  const settings = { answer };
  const server = createServer(async (incoming, outgoing) => {
    let body = "";
    for await (const chunk of incoming) body += chunk;
    const { method = "", url = "", headers } = incoming;
    const request = { method, path: url, headers, body };
    log.push(request);
    const { status = 200, headers: own = {}, body: content = "" } = settings.answer(request);
    const text = typeof content === "string" ? content : JSON.stringify(content);
    outgoing.writeHead(status, { "content-type": "application/json", connection: "close", ...own }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    log,
    settings,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

/** A raw server. */
export type RawServer = Awaited<ReturnType<typeof createRawServer>>;

/** Where the card of a server is. */
export const cardPath = "/.well-known/agent-card.json";

/** A card that wants credentials of one kind, with its interfaces. */
export function cardOf(urls: readonly string[], more: Readonly<Record<string, unknown>> = {}) {
  return {
    ...{ name: "T", description: "t", version: "1", capabilities: { streaming: true }, skills: [] },
    ...{ defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"] },
    supportedInterfaces: urls.map((url) => ({ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" })),
    ...more,
  };
}

let tasks = 0;

/** The answer to a send: a task of its own that is done. What is no call is not found. */
export function taskAnswer({ body }: RawRequest): RawAnswer {
  if (!body.startsWith("{")) return { status: 404 };
  tasks += 1;
  const { id } = JSON.parse(body) as { id: number };
  const status = { state: "TASK_STATE_COMPLETED", timestamp: "2026-01-01T00:00:00Z" };
  return { body: { jsonrpc: "2.0", id, result: { task: { id: `t${tasks}`, contextId: "c1", status } } } };
}
