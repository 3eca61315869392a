import type { Clock } from "../util/clock.ts";

/** The part of the platform's `fetch` that is used; the seam for tests, proxies, mutual TLS and other dispatchers. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

/** One HTTP request, with nothing left to defaults. */
export interface HttpRequest {
  /** Absolute URL, used verbatim. */
  readonly url: string;
  /** Method. */
  readonly method: "GET" | "POST" | "DELETE";
  /** Headers, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Body. */
  readonly body?: string;
  /** Cache mode of the platform; card reads ask past every local cache. */
  readonly cache?: RequestCache;
  /** Aborts the exchange, body included. */
  readonly signal: AbortSignal;
  /** Milliseconds until the head of the answer must be there. */
  readonly firstByteMs: number;
}

/** The head of an HTTP answer, and its body still unread. */
export interface HttpResponse {
  /** URL that was called. */
  readonly url: string;
  /** Status. */
  readonly status: number;
  /** Headers. */
  readonly headers: Headers;
  /** Media type in lower case, without parameters; `""` when there is none. */
  readonly mediaType: string;
  /** `Retry-After` in milliseconds from now, seconds and date form, clamped to one hour. */
  readonly retryAfterMs?: number;
  /** The body; `null` when there is none. */
  readonly body: ReadableStream<Uint8Array> | null;
}

/** Sends a request and resolves with the head of the answer. Redirects are not followed. */
export type HttpExchange = (request: HttpRequest) => Promise<HttpResponse>;

/** What an exchange is built on. */
export interface HttpOptions {
  readonly fetch: FetchLike;
  readonly clock: Clock;
}
