import type { IncomingMessage, ServerResponse } from "node:http";
import { checkOptions } from "../util/options.ts";
import { concatenate, flattenHeaders, startServer } from "./node-http.ts";

/** Answers a web request, as a webhook receiver does. */
export type WebHandler = (request: Request) => Response | Promise<Response>;

/** Settings of a loopback receiver. */
export interface LoopbackReceiverOptions {
  /** Answers each request. @default an empty 200 */
  readonly handler?: WebHandler;
}

/** One request that a loopback receiver took. */
export interface ReceivedRequest {
  /** HTTP method. */
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  /** Headers, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Body as text, as far as it was read: all of it without a handler, else what the handler read. */
  readonly body: string;
  /** Status of the answer; absent until there is one. */
  readonly status?: number;
  /** What the handler threw; the answer is 500 then. */
  readonly error?: unknown;
}

/** A port of this machine that takes push notifications. */
export interface LoopbackReceiver {
  /** Its URL, `http://127.0.0.1:<port>`; every path below it is answered too. */
  readonly url: string;
  /** The requests so far, in order of arrival. */
  readonly received: readonly ReceivedRequest[];
  /** Hands every further request to another handler; without one the answer is an empty 200. */
  handle(handler?: WebHandler): void;
  /** Stops listening and destroys every connection. */
  close(): Promise<void>;
}

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: Uint8Array[];
  status?: number;
  error?: unknown;
}

const acknowledge: WebHandler = async (request) => {
  await request.arrayBuffer();
  return new Response(null, { status: 200 });
};

/**
 * Listens on a free loopback port and hands each request to a web handler, to see what an agent pushes over a real
 * socket, or to put a webhook receiver behind one. The request's `signal` is aborted when the sender hangs up.
 *
 * @throws TypeError where there is no Node; TypeError naming the option for a wrong option.
 */
export async function createLoopbackReceiver(
  options: LoopbackReceiverOptions = {},
): Promise<LoopbackReceiver> {
  checkOptions(options, { handler: "function" });
  let { handler = acknowledge } = options;
  const entries: Entry[] = [];
  const server = await startServer("createLoopbackReceiver", (node) => {
    node.on("request", (incoming, outgoing) => void take(incoming, outgoing));
  });

  async function take(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = "GET", url: path = "/" } = incoming;
    const entry: Entry = { method, path, headers: flattenHeaders(incoming.headers), chunks: [] };
    entries.push(entry);
    const gone = new AbortController();
    outgoing.once("close", () => {
      if (!outgoing.writableFinished) gone.abort(new DOMException("the sender is gone", "AbortError"));
    });
    try {
      const response = await handler(
        requestOf(server.url, entry, bodyOf(incoming, outgoing, entry.chunks), gone.signal),
      );
      const body = new Uint8Array(await response.arrayBuffer());
      entry.status = response.status;
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      outgoing.end(body);
    } catch (error) {
      entry.error = error;
      if (outgoing.destroyed) return;
      entry.status = 500;
      outgoing.writeHead(500).end();
    }
  }

  return {
    url: server.url,
    get received() {
      return entries.map(({ chunks, ...entry }) =>
        Object.freeze({ ...entry, body: new TextDecoder().decode(concatenate(chunks)) }),
      );
    },
    handle(next = acknowledge) {
      handler = next;
    },
    close: server.close,
  };
}

function requestOf(
  base: string,
  { method, headers, path }: Entry,
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Request {
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(base + path, {
    method,
    headers: { ...headers },
    signal,
    // Node asks for `duplex` with a streamed body, and the platform's types do not have it yet.
    ...(hasBody ? ({ body, duplex: "half" } as RequestInit) : {}),
  });
}

/** The body as it comes in, no faster than it is read; what was read is kept, and what nobody reads is let by. */
function bodyOf(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  kept: Uint8Array[],
): ReadableStream<Uint8Array> {
  let isRead = true;
  const letBy = () => {
    isRead = false;
    incoming.resume();
  };
  outgoing.once("finish", letBy);
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        incoming.pause();
        incoming.on("data", (chunk: Uint8Array) => {
          if (!isRead) return;
          incoming.pause();
          kept.push(chunk);
          controller.enqueue(new Uint8Array(chunk));
        });
        incoming.once("end", () => isRead && controller.close());
        incoming.once("error", (error) => isRead && controller.error(error));
      },
      pull: () => void incoming.resume(),
      cancel: letBy,
    },
    { highWaterMark: 0 },
  );
}
