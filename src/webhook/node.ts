import { type Clock, systemClock } from "../util/clock.ts";
import { checkOptions } from "../util/options.ts";
import type { WebhookReceiver } from "./receiver.ts";

/** What is used of a request of `node:http`. */
export interface NodeRequest {
  /** HTTP method. */
  readonly method?: string | undefined;
  /** Path with query. */
  readonly url?: string | undefined;
  /** Headers, names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Whether all of it has come in. */
  readonly complete: boolean;
  /** Hears pieces of the body. */
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown;
  /** Hears of the end of the body. */
  on(event: "end", listener: () => void): unknown;
  /** Hears of what broke it. */
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Stops reading. */
  pause(): unknown;
  /** Reads on. */
  resume(): unknown;
  /** Ends the connection. */
  destroy(): unknown;
}

/** What is used of a response of `node:http`. */
export interface NodeResponse {
  /** Whether all of it was handed over. */
  readonly writableFinished: boolean;
  /** Writes the head. */
  writeHead(status: number, headers: Record<string, string>): unknown;
  /** Writes the body and ends it. */
  end(body: string): unknown;
  /** Hears once of an event. */
  once(event: "close", listener: () => void): unknown;
}

/** Settings of {@link toNodeListener}. */
export interface NodeListenerOptions {
  /**
   * How long what is left of a body that nobody wants is let by before the connection is ended, in milliseconds.
   *
   * @default 1 000
   */
  readonly drainMs?: number;
  /** Time. @default the machine's clock */
  readonly clock?: Clock;
}

/**
 * Makes a listener for `createServer` of `node:http` or `node:https`, or a handler for express, of a receiver. It must
 * come before anything that reads bodies.
 *
 * @throws TypeError naming the option for a wrong option.
 */
export function toNodeListener(
  receiver: WebhookReceiver,
  options: NodeListenerOptions = {},
): (request: NodeRequest, response: NodeResponse) => void {
  if (typeof receiver !== "function") throw new TypeError("receiver: wanted what createWebhookReceiver made");
  checkOptions(options, { drainMs: "amount", clock: "object" });
  const { drainMs = 1_000, clock = systemClock } = options;

  async function take(request: NodeRequest, response: NodeResponse): Promise<void> {
    const gone = new AbortController();
    response.once("close", () => {
      if (!response.writableFinished) gone.abort(new DOMException("the sender is gone", "AbortError"));
    });
    const answer = await receiver(requestOf(request, gone.signal));
    const text = await answer.text();
    if (gone.signal.aborted) return;
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(text);
    if (request.complete) return;
    // The sender is still at it: what comes is let by for a moment, so that it gets to read its answer.
    request.resume();
    const cancel = clock.schedule(drainMs, () => {
      if (!request.complete) request.destroy();
    });
    response.once("close", cancel);
  }

  return (request, response) => {
    take(request, response).catch(() => request.destroy());
  };
}

/** Methods that a web `Request` can't have; the answer to them is that of any other one that is not wanted. */
const unsayable = /^(?:CONNECT|TRACE|TRACK)$/i;

function requestOf(request: NodeRequest, signal: AbortSignal): Request {
  const { method: given = "GET" } = request;
  const method = unsayable.test(given) ? "GET" : given;
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    // HTTP/2 has the request line among them, by names that no header can have.
    if (name.startsWith(":")) continue;
    for (const item of [value ?? []].flat()) headers.append(name, item);
  }
  const hasBody = method !== "GET" && method !== "HEAD";
  const init = { method, headers, signal, ...(hasBody ? { body: bodyOf(request), duplex: "half" } : {}) };
  // Only the head and the body of it are looked at, never where it was sent.
  return new Request("http://webhook.invalid/", init as RequestInit);
}

/** The body as it comes in, no faster than it is read; what nobody reads any more is let by. */
function bodyOf(request: NodeRequest): ReadableStream<Uint8Array> {
  let isRead = true;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        request.pause();
        request.on("data", (chunk) => {
          if (!isRead) return;
          request.pause();
          controller.enqueue(new Uint8Array(chunk));
        });
        request.on("end", () => isRead && controller.close());
        request.on("error", (error) => isRead && controller.error(error));
      },
      pull: () => void request.resume(),
      cancel() {
        isRead = false;
        request.resume();
      },
    },
    { highWaterMark: 0 },
  );
}
