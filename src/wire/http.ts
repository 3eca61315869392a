import { createFetch, FetchError } from "ofetch";
import { A2ALeaseError } from "../errors/base.ts";
import { RedirectRefusedError, TimeoutError } from "../errors/transport.ts";
import { createScope, withSignal } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import { secretParameters, secretsIn, strikeSecrets } from "../util/strike.ts";
import { isPlatformTimeout, toConnectionError } from "./failure.ts";
import { readRetryAfter } from "./retry-after.ts";

/** The part of the platform's `fetch` that is used; the seam for tests, proxies, mutual TLS and other dispatchers. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

/** One HTTP request, with nothing left to defaults. */
export interface HttpRequest {
  /** Absolute URL, used verbatim. */
  readonly url: string;
  /** What errors call it, where a server chose it and may have put a secret into it. @default the URL */
  readonly shownUrl?: string;
  /** Method. */
  readonly method: "GET" | "POST" | "DELETE";
  /** Headers, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Secret query parameters: added to the URL as it goes out, and to no URL that is told of. */
  readonly query?: Readonly<Record<string, string>>;
  /** Other secrets that no error about the answer may hold. @default none */
  readonly secrets?: readonly string[];
  /** Body. */
  readonly body?: string;
  /** Cache mode of the platform; card reads ask past every local cache. */
  readonly cache?: "no-cache" | "no-store";
  /** Aborts the exchange until its head is there. Whoever reads the body hands it on to the reading. */
  readonly signal: AbortSignal;
  /** Milliseconds until the head of the answer must be there. */
  readonly firstByteMs: number;
  /**
   * What becomes of a redirect: an error, or the answer as it is, without its body, for a caller that judges the target
   * itself. A redirect that the platform hides or has followed is an error in any case. @default "refuse"
   */
  readonly redirect?: "refuse" | "return";
}

/** The head of an HTTP answer, and its body still unread. */
export interface HttpResponse {
  /** URL that was called, as errors call it. */
  readonly url: string;
  /** Status. */
  readonly status: number;
  /** Headers. */
  readonly headers: Headers;
  /** Media type in lower case, without parameters; `""` when there is none. */
  readonly mediaType: string;
  /** `Retry-After` in milliseconds from now, seconds and date form, clamped to one hour. */
  readonly retryAfterMs?: number;
  /** The body; `null` when there is none. It must be read to its end or cancelled. */
  readonly body: ReadableStream<Uint8Array> | null;
}

/** Sends a request and resolves with the head of the answer. Redirects are not followed. */
export type HttpExchange = (request: HttpRequest) => Promise<HttpResponse>;

/** What an exchange is built on. */
export interface HttpOptions {
  /** The platform's `fetch`, or what stands in for it. */
  readonly fetch: FetchLike;
  /** Time. */
  readonly clock: Clock;
}

/**
 * Makes the one way to the network. Nothing is retried, parsed or followed here.
 *
 * The exchange throws `ConnectionError`, `TimeoutError` of the budget `"first-byte"`, `RedirectRefusedError`, or the
 * reason of the caller's signal, unchanged.
 */
export function createHttp({ fetch, clock }: HttpOptions): HttpExchange {
  const { raw } = createFetch({
    fetch: async (url, init) => checkedResponse(await fetch(String(url), plainInit(init ?? {}))),
  });

  return async function exchange(request) {
    const headers = writeHeaders(request.headers);
    const own = secretsIn(request.headers, { ...secretParameters(request.url), ...request.query });
    const secrets = [...own, ...(request.secrets ?? [])];
    const scope = createScope(clock, [request.signal]);
    const { signal } = scope;
    const sentMs = clock.monotonicMs();
    const shownUrl = shownUrlOf(request);
    const timeout = (budgetMs: number) => new TimeoutError(shownUrl, "first-byte", budgetMs);
    scope.deadline(request.firstByteMs, () => timeout(request.firstByteMs));
    try {
      signal.throwIfAborted();
      const answer = raw<unknown, "stream">(withQuery(request), {
        method: request.method,
        headers,
        ...(request.body === undefined ? {} : { body: request.body }),
        ...(request.cache === undefined ? {} : { cache: request.cache }),
        redirect: "manual",
        signal,
        retry: false,
        responseType: "stream",
        ignoreResponseError: true,
      });
      // A platform that answers after it was told to stop must not keep the connection.
      const drop = (late: Response) => signal.aborted && cancelBody(late);
      answer.then(drop, () => {});
      return readHead(request, await withSignal(answer, signal), { nowMs: clock.now(), secrets });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      // ofetch's own error holds the request with its headers; only what lies below it is looked at.
      const failure = error instanceof FetchError ? error.cause : error;
      if (failure instanceof A2ALeaseError) throw failure;
      if (isPlatformTimeout(failure)) throw timeout(Math.round(clock.monotonicMs() - sentMs));
      throw toConnectionError(shownUrl, failure, "head", secrets);
    } finally {
      scope.release();
    }
  };
}

/** The URL as it goes out. A parameter of the same name that the URL had is replaced: it can't be told from ours. */
function withQuery({ url, query }: HttpRequest): string {
  if (query === undefined || Object.keys(query).length === 0) return url;
  const full = new URL(url);
  for (const [name, value] of Object.entries(query)) full.searchParams.set(name, value);
  return full.href;
}

function shownUrlOf({ url, shownUrl = url }: HttpRequest): string {
  return shownUrl;
}

function readHead(
  request: HttpRequest,
  response: Response,
  { nowMs, secrets }: { readonly nowMs: number; readonly secrets: readonly string[] },
): HttpResponse {
  const { status, headers } = response;
  const isRedirect = status >= 300 && status < 400 && status !== 304;
  const isUnseen = response.redirected || response.type === "opaqueredirect";
  if (isRedirect || isUnseen) cancelBody(response);
  if (isUnseen || (isRedirect && request.redirect !== "return")) {
    const location = response.redirected ? response.url : resolve(headers.get("location"), request.url);
    const shown = location === undefined ? undefined : strikeSecrets(location, secrets);
    throw new RedirectRefusedError(shownUrlOf(request), isUnseen ? 0 : status, shown);
  }
  const retryAfterMs = readRetryAfter(headers.get("retry-after"), nowMs);
  return {
    url: shownUrlOf(request),
    status,
    headers,
    mediaType: (headers.get("content-type") ?? "")
      .replace(/[;,].*$/s, "")
      .trim()
      .toLowerCase(),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    body: isRedirect ? null : response.body,
  };
}

function resolve(location: string | null, base: string): string | undefined {
  return location !== null && URL.canParse(location, base) ? new URL(location, base).href : undefined;
}

function cancelBody(response: Response): void {
  // What cancelling throws says nothing that the caller does not learn anyway.
  response.body?.cancel().catch(() => {});
}

/** The members that a platform knows; those of the library in between stay here. */
function plainInit({ method, headers, body, cache, redirect, signal }: RequestInit): RequestInit {
  const given = Object.entries({ method, headers, body, cache, redirect, signal });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined && value !== null));
}

/** A `fetch` that was handed in may resolve to anything. */
function checkedResponse(response: Response): Response {
  const { status, type, headers } = (response ?? {}) as Partial<Response>;
  if (typeof status === "number" && headers && type !== "error") return response;
  throw new TypeError("fetch gave no response");
}

/** Builds the headers here, since the platform repeats the value of one that it refuses. */
function writeHeaders(given: Readonly<Record<string, string>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    try {
      headers.set(name, value);
    } catch {
      throw new TypeError(`headers: ${JSON.stringify(name)} has a name or a value that no header can have`);
    }
  }
  return headers;
}
