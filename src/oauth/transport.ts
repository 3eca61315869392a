import { TokenRequestError } from "../errors/credentials.ts";
import { createScope } from "../util/abort.ts";
import { type Clock, systemClock } from "../util/clock.ts";
import { secretsIn } from "../util/strike.ts";
import { readBeginning, readBytes } from "../wire/body.ts";
import { createHttp, type FetchLike } from "../wire/http.ts";
import type { OAuthOptions } from "./options.ts";
import { requireSecure } from "./secure-url.ts";
import { failureOf, maxAnswerBytes, noAnswer, unavailable } from "./unreachable.ts";

/** How much is read of the answer of a server that can't answer now, in bytes, and how long its silence may be. */
const beginning = Object.freeze({ maxBytes: 16 * 1024, idleMs: 1_000 });

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

/**
 * Makes the way to authorization servers. What it throws is a `TokenRequestError`, or the reason of the signal.
 *
 * @param secret - the secret of the client, which no error repeats.
 */
export function createTokenFetch(
  options: OAuthOptions,
  signal: AbortSignal,
  secret: string | undefined,
): TokenFetch {
  const clock = clockOf(options);
  const { timeoutMs = 30_000 } = options;
  const http = createHttp({ fetch: options.fetch ?? platformFetch, clock });

  return async function send(url, { method, headers: given, body: content }) {
    requireSecure(url);
    const headers = Object.fromEntries(new Headers(given));
    const body = content === undefined || content === null ? undefined : String(content);
    const secrets = [...secretsOf(headers, body), ...(secret === undefined ? [] : [secret])];
    const scope = createScope(clock, [signal]);
    const message = `found ${noAnswer(timeoutMs)}, wanted one`;
    scope.deadline(timeoutMs, () => new TokenRequestError(url, { reason: "unreachable", message }));
    try {
      const response = await http({
        url,
        method: method === "POST" ? "POST" : "GET",
        headers,
        ...(body === undefined ? {} : { body }),
        cache: "no-store",
        signal: scope.signal,
        firstByteMs: timeoutMs,
      });
      const reading = {
        clock,
        signal: scope.signal,
        idleMs: timeoutMs,
        maxBytes: maxAnswerBytes,
        limit: "token answer",
      };
      if (response.status >= 500 || response.status === 429) {
        // Its status is worth more than its words, which are not waited for long.
        const words = readBeginning(response, { ...reading, ...beginning });
        throw unavailable(response, await words.catch(() => ""), secrets);
      }
      const bytes = await readBytes(response, reading);
      const isEmpty = [204, 205, 304].includes(response.status);
      return new Response(isEmpty ? null : (bytes as BodyInit), {
        status: response.status,
        headers: response.headers,
      });
    } catch (error) {
      if (error instanceof TokenRequestError || signal.aborted) throw error;
      throw failureOf(url, error, secrets);
    } finally {
      scope.release();
    }
  };
}

/** What a request carries that nobody else should see. */
function secretsOf(headers: Readonly<Record<string, string>>, body: string | undefined): readonly string[] {
  const form = new URLSearchParams(body);
  return [...secretsIn(headers), ...secretFields.flatMap((name) => form.getAll(name))];
}
const secretFields = ["client_secret", "refresh_token", "code", "code_verifier", "device_code"];
