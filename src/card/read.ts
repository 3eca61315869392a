import {
  type CardAttempt,
  CardAuthError,
  CardUnreachableError,
  CardUnreadableError,
} from "../errors/card.ts";
import { LimitExceededError, RedirectRefusedError, TimeoutError } from "../errors/transport.ts";
import { createScope } from "../util/abort.ts";
import { originOfUrl } from "../util/address.ts";
import type { Clock } from "../util/clock.ts";
import { redactUrl } from "../util/redact.ts";
import { strikeSecrets } from "../util/strike.ts";
import { discardBody, readBytes } from "../wire/body.ts";
import type { HttpExchange, HttpResponse } from "../wire/http.ts";
import type { Limits, Timeouts } from "../wire/limits.ts";
import { protocolVersion } from "../wire/version.ts";
import type { CardAnswer, CardValidators } from "./answer.ts";
import { boundedAuthorizer, type CardAuthorizer, type CardCredentials, noCredentials } from "./authorizer.ts";
import { refuseEcho, secretsOfRead } from "./echo.ts";
import { freshForMs } from "./freshness.ts";
import type { CardGate } from "./gate.ts";

/** Carries out a read, and again where that helps within its budget of time. */
export type CardRetry = <T>(
  read: { url: string; signal: AbortSignal; deadlineMs: number },
  attempt: () => Promise<T>,
) => Promise<T>;

/** What card reads are made with. */
export interface CardReaderOptions {
  readonly http: HttpExchange;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly timeouts: Timeouts;
  /** Budget of one whole read, redirects and credentials included, in milliseconds. */
  readonly totalMs: number;
  /** Tries a read again, where a failure may pass within what is left of the budget. @default it is tried once */
  readonly retry?: CardRetry;
  /** Which card URLs asked to be left alone. */
  readonly gate: CardGate;
  /** On whose behalf. */
  readonly principal: string;
  /** Headers on every read. */
  readonly headers: Readonly<Record<string, string>>;
  /** Credentials for the card. */
  readonly authorize: CardAuthorizer | undefined;
  /** Whether to send credentials unasked. */
  readonly alwaysAuthorize: boolean;
  /** Other secrets that no card and no error about one may hold, as they are known by then. @default none */
  readonly known?: () => readonly string[];
}

/** One read, as the caller wants it. */
export interface CardReadRequest {
  readonly url: string;
  /** Makes the read conditional. */
  readonly validators?: CardValidators | undefined;
  readonly signal: AbortSignal;
}

/** Reads cards by HTTP. Remembers which URL asked for credentials, so that every later read of it is the same. */
export type CardReader = (request: CardReadRequest) => Promise<CardAnswer>;

/** Makes a {@link CardReader}. */
export function createCardReader(options: CardReaderOptions): CardReader {
  const authenticated = new Set<string>();
  const { known = () => [] } = options;
  const secretsOf: typeof secretsOfRead = (...read) => [...secretsOfRead(...read), ...known()];
  const keyOf = (url: string) => JSON.stringify([options.principal, url]);

  return async function readCard(asked) {
    const authorize = options.authorize && boundedAuthorizer(options.authorize);
    options.gate.pass(keyOf(asked.url), asked.url);
    const scope = createScope(options.clock, [asked.signal]);
    scope.deadline(options.totalMs, () => new TimeoutError(asked.url, "total", options.totalMs));
    const request = { ...asked, signal: scope.signal };
    try {
      const { retry = (_read, attempt) => attempt(), totalMs: deadlineMs } = options;
      const answer = await retry({ ...request, deadlineMs }, () => readWithin(request, authorize));
      options.gate.clear(keyOf(asked.url));
      return answer;
    } catch (error) {
      options.gate.note(keyOf(asked.url), error);
      throw error;
    } finally {
      scope.release();
    }
  };

  async function readWithin(
    request: CardReadRequest,
    authorize: CardAuthorizer | undefined,
  ): Promise<CardAnswer> {
    const unasked = options.alwaysAuthorize || authenticated.has(request.url);
    const first = authorize && unasked ? await authorize(request) : undefined;
    let sent = first ?? noCredentials;
    let response = await exchange(request, sent);
    if (authorize && (response.status === 401 || response.status === 403)) {
      const challenge = response.headers.get("www-authenticate");
      const context = { ...request, challenge: challenge ?? "", ...(first ? { refused: first } : {}) };
      const credentials = await authorize(context);
      if (credentials) {
        discardBody(response);
        sent = credentials;
        response = await exchange(request, credentials);
        if (response.status < 400) authenticated.add(request.url);
      }
    }
    return answerOf(request, response, sent);
  }

  /** One exchange, with redirects followed within the origin. */
  async function exchange(
    request: CardReadRequest,
    { headers: secret, query }: CardCredentials,
  ): Promise<HttpResponse> {
    const headers = { ...requestHeaders(options.headers, request.validators), ...secret };
    let url = request.url;
    let shownUrl = url;
    for (let hops = 0; ; hops++) {
      const response = await options.http({
        ...{ url, shownUrl },
        method: "GET",
        headers,
        ...(query === undefined ? {} : { query }),
        // No local cache may answer for the server; with "no-store" the platform adds nothing of its own.
        cache: request.validators ? "no-cache" : "no-store",
        signal: request.signal,
        firstByteMs: options.timeouts.firstByteMs,
        redirect: "return",
      });
      if (response.status < 300 || response.status >= 400 || response.status === 304) return response;
      const location = response.headers.get("location");
      const target = location !== null && URL.canParse(location, url) ? new URL(location, url) : undefined;
      discardBody(response);
      const shown = target && strikeSecrets(target.href, secretsOf(url, headers, query));
      const isFollowed =
        target && originOfUrl(target) === new URL(url).origin && hops < options.limits.redirects;
      if (!isFollowed) throw new RedirectRefusedError(shownUrl, response.status, shown);
      url = target.href;
      // The server chose it, and knows what came with the request.
      shownUrl = shown ?? url;
    }
  }

  async function answerOf(
    request: CardReadRequest,
    response: HttpResponse,
    sent: CardCredentials,
  ): Promise<CardAnswer> {
    const { status } = response;
    const secrets = secretsOf(request.url, { ...options.headers, ...sent.headers }, sent.query);
    const validators = validatorsOf(response.headers);
    const age = ageOf(response.headers);
    if (status === 304 && request.validators) {
      discardBody(response);
      return { kind: "not-modified", validators, freshForMs: freshnessOf(response), ...age };
    }
    if (status >= 200 && status < 300 && status !== 204) {
      return {
        kind: "card",
        bytes: await readCardBytes(request, response, sent),
        validators,
        mediaType: strikeSecrets(response.mediaType, secrets),
        secrets,
        freshForMs: freshnessOf(response),
        ...age,
      };
    }
    discardBody(response);
    if (status === 404 || status === 405 || status === 410) return { kind: "absent", status };
    if (status === 401 || status === 403) {
      const challenge = response.headers.get("www-authenticate");
      const shown = challenge === null ? undefined : strikeSecrets(challenge, secrets);
      throw new CardAuthError(request.url, status, shown, [attemptOf(request.url, status)]);
    }
    const { retryAfterMs } = response;
    throw new CardUnreachableError(request.url, {
      status,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  }

  function freshnessOf(response: HttpResponse): number {
    // What a 304 leaves out it leaves as it was; its own freshness is all that it renews (RFC 9111, 4.3.4).
    return freshForMs(200, Object.fromEntries(response.headers), options.clock.now());
  }

  async function readCardBytes(
    request: CardReadRequest,
    response: HttpResponse,
    sent: CardCredentials,
  ): Promise<Uint8Array> {
    try {
      const bytes = await readBytes(response, {
        limit: "cardBytes",
        maxBytes: options.limits.cardBytes,
        idleMs: options.timeouts.idleMs,
        clock: options.clock,
        signal: request.signal,
      });
      refuseEcho(bytes, { url: request.url, own: options.headers, sent, known: known() });
      return bytes;
    } catch (error) {
      if (!(error instanceof LimitExceededError)) throw error;
      throw new CardUnreadableError(request.url, "too-large", `found more than ${error.max} bytes`);
    }
  }
}

/** One entry of the list of URLs tried. */
export function attemptOf(url: string, status?: number): CardAttempt {
  return Object.freeze({ url: redactUrl(url), ...(status === undefined ? {} : { status }) });
}

function requestHeaders(
  own: Readonly<Record<string, string>>,
  validators: CardValidators | undefined,
): Record<string, string> {
  const headers: Record<string, string> = { accept: "application/json", ...own };
  headers["a2a-version"] = protocolVersion;
  if (!validators) headers["cache-control"] = "no-cache";
  if (validators?.etag !== undefined) headers["if-none-match"] = validators.etag;
  else if (validators?.lastModified !== undefined) headers["if-modified-since"] = validators.lastModified;
  return headers;
}

function validatorsOf(headers: Headers): CardValidators {
  const etag = headers.get("etag");
  const lastModified = headers.get("last-modified");
  return { ...(etag === null ? {} : { etag }), ...(lastModified === null ? {} : { lastModified }) };
}

function ageOf(headers: Headers): { ageSeconds?: number } {
  const age = headers.get("age") ?? "";
  return /^\d{1,10}$/.test(age) ? { ageSeconds: Number(age) } : {};
}
