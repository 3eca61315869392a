import { TokenRequestError } from "../errors/credentials.ts";
import {
  AddressRefusedError,
  ConnectionError,
  LimitExceededError,
  RedirectRefusedError,
  TimeoutError,
} from "../errors/transport.ts";
import { isRecord } from "../util/freeze.ts";
import { strikeSecrets } from "../util/strike.ts";
import type { HttpResponse } from "../wire/http.ts";

/** Largest answer of an authorization server, in bytes. */
export const maxAnswerBytes = 256 * 1024;

/** What a platform says by a code, in words. */
const meanings: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, "a connection that was refused"],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, "no address for the name of the server"],
  [/^(?:ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, "no connection in time"],
  [/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, "a connection that was cut off"],
  [/^(?:EHOSTUNREACH|ENETUNREACH)$/, "no way to the server"],
  [/CERT|^UNABLE_TO_|^ERR_TLS_|SELF_SIGNED/, "no certificate that can be trusted"],
];

/** What a request to an authorization server failed by. `secrets` is what went out with it; an answer may repeat it. */
export function failureOf(url: string, error: unknown, secrets: readonly string[]): TokenRequestError {
  if (error instanceof RedirectRefusedError) {
    // Where to is not told: the answer may repeat the secret that it was sent.
    const message = "found a redirect, wanted an answer from the server itself";
    return new TokenRequestError(url, { reason: "redirected", message, status: error.status });
  }
  if (error instanceof LimitExceededError) {
    const message = `found an answer of more than ${maxAnswerBytes} bytes`;
    return new TokenRequestError(url, { reason: "too-large", message });
  }
  if (error instanceof AddressRefusedError) {
    const message = "found an address that the way there refuses, wanted one that it lets through";
    return new TokenRequestError(url, { reason: "insecure-url", message, cause: error });
  }
  const words = strikeSecrets(wordsOf(error), secrets);
  const isClean = error instanceof Error && strikeSecrets(error.message, secrets) === error.message;
  const message = `found ${words}, wanted an answer`;
  return new TokenRequestError(url, { reason: "unreachable", message, ...(isClean ? { cause: error } : {}) });
}

function wordsOf(error: unknown): string {
  if (error instanceof TimeoutError) return noAnswer(error.budgetMs);
  if (!(error instanceof ConnectionError)) return "no answer";
  const { systemCode = "", message } = error;
  const [, meaning] = meanings.find(([codes]) => codes.test(systemCode)) ?? [];
  return meaning === undefined ? `that ${message}` : `${meaning} (${systemCode})`;
}

/** That nothing came in time. */
export function noAnswer(budgetMs: number): string {
  return `no answer within ${budgetMs} ms`;
}

/** An answer of a server that can't answer now, with the OAuth error that it may give as the reason. */
export function unavailable(
  { url, status, retryAfterMs }: HttpResponse,
  body: string,
  secrets: readonly string[],
): TokenRequestError {
  const code = codeIn(body);
  const oauthError = code === undefined ? undefined : strikeSecrets(code, secrets);
  const told = oauthError === undefined ? "" : ` with the OAuth error ${oauthError}`;
  const message = `found HTTP ${status}${told}, wanted an answer`;
  return new TokenRequestError(url, { reason: "unreachable", message, status, retryAfterMs, oauthError });
}

/** The code of an OAuth error (RFC 6749, 5.2). */
function codeIn(body: string): string | undefined {
  try {
    const json: unknown = JSON.parse(body);
    const code = isRecord(json) ? json.error : undefined;
    return typeof code === "string" && /^[\x20\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(code) ? code : undefined;
  } catch {
    return undefined;
  }
}
