import { TokenRequestError } from "../errors/credentials.ts";
import { LimitExceededError, RedirectRefusedError } from "../errors/transport.ts";
import { createScope } from "../util/abort.ts";
import { isLoopback } from "../util/address.ts";
import { type Clock, systemClock } from "../util/clock.ts";
import { discardBody, readBytes } from "../wire/body.ts";
import { createHttp, type FetchLike, type HttpResponse } from "../wire/http.ts";
import type { OAuthOptions } from "./options.ts";

/** Largest answer of an authorization server, in bytes. */
const maxAnswerBytes = 256 * 1024;

/** The platform's fetch, looked up at each call. */
const platformFetch: FetchLike = (url, init) => globalThis.fetch(url, init);

/** A `fetch` to authorization servers: checked URLs, no redirects, bounded answers, typed errors. */
export type TokenFetch = (
  url: string,
  init: {
    readonly method?: string;
    readonly headers?: RequestInit["headers"];
    readonly body?: unknown;
    readonly signal?: AbortSignal | null | undefined;
  },
) => Promise<Response>;

/** Time, as the options say. */
export function clockOf({ clock }: OAuthOptions): Clock {
  return clock ?? systemClock;
}

/** Makes the way to authorization servers. What it throws is a `TokenRequestError`, or the reason of the signal. */
export function createTokenFetch(options: OAuthOptions, signal: AbortSignal): TokenFetch {
  const clock = clockOf(options);
  const { timeoutMs = 30_000 } = options;
  const http = createHttp({ fetch: options.fetch ?? platformFetch, clock });

  return async function send(url, { method, headers, body }) {
    requireSecure(url);
    const scope = createScope(clock, [signal]);
    const message = `found no answer within ${timeoutMs} ms, wanted one`;
    scope.deadline(timeoutMs, () => new TokenRequestError(url, { reason: "unreachable", message }));
    try {
      const response = await http({
        url,
        method: method === "POST" ? "POST" : "GET",
        headers: Object.fromEntries(new Headers(headers)),
        ...(body === undefined || body === null ? {} : { body: String(body) }),
        cache: "no-store",
        signal: scope.signal,
        firstByteMs: timeoutMs,
      });
      if (response.status >= 500 || response.status === 429) throw unavailable(response);
      const bytes = await readBytes(response, {
        clock,
        signal: scope.signal,
        idleMs: timeoutMs,
        maxBytes: maxAnswerBytes,
        limit: "token answer",
      });
      const content = [204, 205, 304].includes(response.status) ? null : (bytes as BodyInit);
      return new Response(content, { status: response.status, headers: response.headers });
    } catch (error) {
      if (error instanceof TokenRequestError || signal.aborted) throw error;
      throw failureOf(url, error);
    } finally {
      scope.release();
    }
  };
}

function unavailable(response: HttpResponse): TokenRequestError {
  const { url, status, retryAfterMs } = response;
  discardBody(response);
  const message = `found HTTP ${status}, wanted an answer`;
  return new TokenRequestError(url, { reason: "unreachable", message, status, retryAfterMs });
}

function failureOf(url: string, error: unknown): TokenRequestError {
  if (error instanceof RedirectRefusedError) {
    // Where to is not told: the answer may repeat the secret that it was sent.
    const message = "found a redirect, wanted an answer from the server itself";
    return new TokenRequestError(url, { reason: "redirected", message, status: error.status });
  }
  if (error instanceof LimitExceededError) {
    const message = `found an answer of more than ${maxAnswerBytes} bytes`;
    return new TokenRequestError(url, { reason: "too-large", message });
  }
  const message = "found no answer, wanted one";
  return new TokenRequestError(url, { reason: "unreachable", message, cause: error });
}

/**
 * Refuses a URL that a secret must not go to: anything but https, unless it is loopback.
 *
 * @throws TokenRequestError of the reason `insecure-url`.
 */
export function requireSecure(url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isSecure = parsed?.protocol === "https:" || (parsed?.protocol === "http:" && isLoopback(parsed));
  if (isSecure && !parsed.username && !parsed.password) return;
  const message = "found a URL that is not https, or has a user name, wanted https (or http on loopback)";
  throw new TokenRequestError(url, { reason: "insecure-url", message });
}
