import { type AgentHandler, type AgentOutcome, type AgentRequest, SimulatedSocketError } from "./exchange.ts";

/** The platform's `fetch`, as far as an agent in the same process can stand in for it. */
export type AgentFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

const nullBodyStatuses = new Set([204, 205, 304]);
const redirectStatuses = new Set([301, 302, 303, 307, 308]);
const validators = ["if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range"];
const mostRedirects = 20;

interface Outgoing {
  readonly url: URL;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/**
 * Makes a `fetch` that reaches a handler without a network. It keeps to what Node's `fetch` does where a client could
 * trip over it: the cache headers that it adds by itself, redirects that it follows unless told not to, an abort that
 * rejects with the signal's reason also in the middle of a body, and `TypeError: fetch failed` with a coded cause.
 */
export function createAgentFetch(baseUrl: string, handle: AgentHandler): AgentFetch {
  return async (input, init) => {
    // The signal is kept out of the Request: one that lives long would collect a listener from each.
    const request = new Request(input, { ...init, signal: null });
    const signal = init?.signal ?? (input instanceof Request ? input.signal : new AbortController().signal);
    if (signal.aborted) throw signal.reason;
    let outgoing: Outgoing = {
      url: new URL(request.url),
      method: request.method.toUpperCase(),
      headers: withCacheHeaders(Object.fromEntries(request.headers), request.cache),
      body: request.body ? await request.text() : "",
    };
    for (let hops = 0; ; hops++) {
      const { url, method, headers, body } = outgoing;
      const path = url.pathname + url.search;
      const sent: AgentRequest = { method, url: url.href, baseUrl, path, headers, body, signal };
      const response = toResponse(await handle(sent), url.href, hops > 0);
      const location = response.headers.get("location");
      if (!redirectStatuses.has(response.status) || location === null || request.redirect === "manual") {
        return response;
      }
      if (request.redirect === "error" || hops === mostRedirects) {
        throw new TypeError("fetch failed", { cause: new SimulatedSocketError("UNEXPECTED_REDIRECT") });
      }
      outgoing = redirected(outgoing, response.status, new URL(location, url));
    }
  };
}

function redirected({ url, method, headers, body }: Outgoing, status: number, target: URL): Outgoing {
  const { authorization: _authorization, cookie: _cookie, ...foreignHeaders } = headers;
  const kept = target.origin === url.origin ? headers : foreignHeaders;
  const becomesGet = status === 303 || (status < 303 && method === "POST");
  return becomesGet
    ? { url: target, method: "GET", headers: kept, body: "" }
    : { url: target, method, headers: kept, body };
}

/** The headers that `fetch` adds by its cache mode; a conditional request counts as `no-store` by itself. */
function withCacheHeaders(headers: Record<string, string>, mode: RequestCache): Record<string, string> {
  const isConditional = mode === "default" && validators.some((name) => name in headers);
  if (mode === "no-cache") return { "cache-control": "max-age=0", ...headers };
  if (mode !== "no-store" && mode !== "reload" && !isConditional) return headers;
  return { pragma: "no-cache", "cache-control": "no-cache", ...headers };
}

function toResponse(outcome: AgentOutcome, url: string, isRedirected: boolean): Response {
  if (outcome.kind !== "answer") {
    const code = outcome.kind === "reset" ? "ECONNRESET" : outcome.code;
    throw new TypeError("fetch failed", { cause: new SimulatedSocketError(code) });
  }
  const { status, headers, body } = outcome;
  // Bytes, since `Response` would give a text a content type that the script did not; and a copy over a plain buffer,
  // which is what the type of a body asks for.
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const content = bytes instanceof Uint8Array ? new Uint8Array(bytes) : bytes;
  const response = new Response(nullBodyStatuses.has(status) ? null : content, {
    status,
    headers: { ...headers },
  });
  // The constructor takes neither, and a client may look at both.
  Object.defineProperty(response, "url", { value: url });
  Object.defineProperty(response, "redirected", { value: isRedirected });
  return response;
}
