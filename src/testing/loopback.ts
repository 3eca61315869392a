import type { AgentHandler, AgentOutcome } from "./exchange.ts";

/** A scripted agent on a port of this machine. */
export interface AgentListener {
  /** Its URL, `http://127.0.0.1:<port>`. */
  readonly url: string;
  /**
   * Connections that carry a request which is not answered in full. What a client's pool keeps open beside them does
   * not count. The port learns that a caller left a moment after the caller knows it: await the 0.
   */
  readonly openSocketCount: number;
  /** Stops listening and destroys every connection. */
  close(): Promise<void>;
}

/** Node's own modules, asked for at run time: an import would not pass a bundler for browsers, where `fetch` works. */
const { process } = globalThis as {
  process?: { getBuiltinModule?: (id: "node:http") => typeof import("node:http") | undefined };
};

/**
 * Serves a handler over HTTP on a free loopback port.
 *
 * @throws TypeError where there is no Node.
 */
export async function listenOnLoopback(handle: AgentHandler): Promise<AgentListener> {
  const http = process?.getBuiltinModule?.("node:http");
  if (!http) throw new TypeError("listen needs Node 20.19 or newer; the agent's fetch works everywhere");
  const server = http.createServer();
  // The client's pool would race with a server that drops idle connections.
  server.keepAliveTimeout = 0;
  const sockets = new Set<{ destroy(): void }>();
  const busy = new Set<object>();
  let url = "";

  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });

  server.on("request", async (incoming, outgoing) => {
    const gone = new AbortController();
    const { socket } = incoming;
    busy.add(socket);
    outgoing.once("close", () => {
      busy.delete(socket);
      if (outgoing.writableFinished) return;
      gone.abort(new DOMException("the caller is gone", "AbortError"));
      socket.destroy();
    });
    outgoing.sendDate = false;
    try {
      const chunks: Uint8Array[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      const path = incoming.url ?? "/";
      const outcome = await handle({
        method: incoming.method ?? "GET",
        url: url + path,
        baseUrl: url,
        path,
        headers: flatten(incoming.headers),
        body: new TextDecoder().decode(concatenate(chunks)),
        signal: gone.signal,
      });
      await send(outcome);
    } catch (error) {
      if (gone.signal.aborted) return;
      // A mistake in a script; the caller sees what went wrong instead of a connection that hangs.
      outgoing.statusCode = 500;
      outgoing.end(`the script failed: ${error}`);
    }

    async function send(outcome: AgentOutcome): Promise<void> {
      if (outcome.kind !== "answer") return void socket.resetAndDestroy();
      outgoing.writeHead(outcome.status, { ...outcome.headers });
      const { body } = outcome;
      if (!(body instanceof ReadableStream)) return void outgoing.end(body);
      outgoing.flushHeaders();
      try {
        for await (const chunk of body) {
          await new Promise<void>((resolve) => outgoing.write(chunk, () => resolve()));
        }
        outgoing.end();
      } catch {
        socket.destroy();
      }
    }
  });

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;

  return {
    url,
    get openSocketCount() {
      return busy.size;
    },
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      return closed;
    },
  };
}

function flatten(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(", ") : value,
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function concatenate(chunks: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
