import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** One request that a server saw. */
export interface SeenRequest {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An answer of a server. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A server on a loopback port that writes down every connection and every request. */
export interface LoggedServer {
  readonly port: number;
  readonly log: readonly SeenRequest[];
  /** Connections that were made, with or without a request. */
  readonly connections: number;
  /** What the next requests are answered with. */
  answer: (request: SeenRequest) => Answer;
}

/** Starts one; it is stopped when the test is over. */
export async function startServer(answer: LoggedServer["answer"] = () => ({})): Promise<LoggedServer> {
  const log: SeenRequest[] = [];
  const state = { port: 0, log, connections: 0, answer };
  const server = createServer(async (incoming, outgoing) => {
    let body = "";
    for await (const chunk of incoming) body += chunk;
    const { method = "", url: path = "", headers } = incoming;
    const seen = { method, host: headers.host ?? "", path, headers, body };
    log.push(seen);
    const { status = 200, headers: own = {}, body: content = {} } = state.answer(seen);
    outgoing.writeHead(status, { "content-type": "application/json", ...own });
    outgoing.end(typeof content === "string" ? content : JSON.stringify(content));
  });
  server.on("connection", () => {
    state.connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  state.port = (server.address() as AddressInfo).port;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return state;
}
