/** Node's own modules, asked for at run time: an import would not pass a bundler for browsers, where `fetch` works. */
const { process } = globalThis as {
  process?: { getBuiltinModule?: (id: "node:http") => typeof import("node:http") | undefined };
};

/** A server on a free loopback port. */
export interface LoopbackServer {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** Stops listening and destroys every connection. */
  close(): Promise<void>;
}

/**
 * Starts a server on a free loopback port. `what` names who asked.
 *
 * @throws TypeError where there is no Node.
 */
export async function startServer(
  what: string,
  listen: (server: import("node:http").Server) => void,
): Promise<LoopbackServer> {
  const http = process?.getBuiltinModule?.("node:http");
  if (!http) throw new TypeError(`${what} needs Node 20.19 or newer; what works by fetch works everywhere`);
  const server = http.createServer();
  // The client's pool would race with a server that drops idle connections.
  server.keepAliveTimeout = 0;
  const sockets = new Set<{ destroy(): void }>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  listen(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      return closed;
    },
  };
}

/** The headers of a message with one text for each name. */
export function flattenHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(", ") : value,
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** Puts chunks together. */
export function concatenate(chunks: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
