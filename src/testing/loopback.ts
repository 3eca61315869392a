import type { IncomingMessage, ServerResponse } from "node:http";
import type { AgentHandler, AgentOutcome } from "./exchange.ts";
import { concatenate, flattenHeaders, startServer } from "./node-http.ts";

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

/**
 * Serves a handler over HTTP on a free loopback port.
 *
 * @throws TypeError where there is no Node.
 */
export async function listenOnLoopback(handle: AgentHandler): Promise<AgentListener> {
  const busy = new Set<object>();

  async function take(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
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
        url: server.url + path,
        baseUrl: server.url,
        path,
        headers: flattenHeaders(incoming.headers),
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
  }

  const server = await startServer("listen", (node) => {
    node.on("request", (incoming, outgoing) => void take(incoming, outgoing));
  });
  return {
    url: server.url,
    get openSocketCount() {
      return busy.size;
    },
    close: server.close,
  };
}
