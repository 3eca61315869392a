import type { Clock } from "../util/clock.ts";
import { redactUrl } from "../util/redact.ts";
import type { FetchLike } from "../wire/http.ts";
import type { TokenCache } from "./cache.ts";
import { isSecureUrl, wantedSecureUrl } from "./secure-url.ts";

/** Endpoints that were given beside `tokenUrl`. */
export interface GivenEndpoints {
  readonly authorizationUrl?: string | undefined;
  readonly deviceAuthorizationUrl?: string | undefined;
}

/** What every way to a token takes. */
export interface OAuthOptions {
  /** Identifier of the authorization server, whose metadata is read: https, or http on loopback. */
  readonly issuer?: string;
  /** Which metadata is read from `issuer`. @default that of RFC 8414, and where there is none that of OpenID Connect */
  readonly discovery?: "oauth2" | "oidc";
  /** Token endpoint, https or http on loopback; with it no metadata is read. */
  readonly tokenUrl?: string;
  /**
   * Origins at which the URLs that a card names may be used, where neither `issuer` nor `tokenUrl` is given. A card is
   * the agent's own word: without this it can't say where a secret goes. https, or http on loopback. @default none
   */
  readonly trustCardUrlsAt?: readonly string[];
  /** Identifier of this client. */
  readonly clientId: string;
  /** Its secret, or a function that is asked for it. @default a public client */
  readonly clientSecret?: string | (() => string | Promise<string>);
  /** How the secret is shown: in an `Authorization` header or in the body. @default "basic" */
  readonly clientAuthentication?: "basic" | "post";
  /**
   * Scopes to ask for, or a function that picks them out of those that the card asks for: a card that asks for all there
   * are need not get them. @default none, which leaves it to the server
   */
  readonly scopes?: readonly string[] | ((asked: readonly string[]) => readonly string[]);
  /** Audience that the token is for, for servers that take `audience`. */
  readonly audience?: string;
  /** Resource that the token is for (RFC 8707); the agent's URL keeps a token from being of use elsewhere. */
  readonly resource?: string;
  /** How long before its end a token is no longer used, in milliseconds. @default 30 000, half of its life at most */
  readonly skewMs?: number;
  /** Budget of one request to the server, and of `onRefreshed`, in milliseconds. @default 30 000 */
  readonly timeoutMs?: number;
  /** Where tokens are kept; one that several providers share. @default one of its own */
  readonly cache?: TokenCache;
  /** The platform's fetch, or one of your own. @default globalThis.fetch */
  readonly fetch?: FetchLike;
  /** Time. @default the machine's clock */
  readonly clock?: Clock;
}

/** What is told when a server gave a refresh token, a first one or another one. */
export interface RefreshedToken {
  /** The refresh token that counts from now on; the one before it may be worthless. */
  readonly refreshToken: string;
  /** When the access token ends, in milliseconds since the epoch; absent where the server did not say. */
  readonly expiresAtMs?: number;
}

/** What is taken by the ways to a token that can end in a refresh token. */
export interface RefreshableOptions extends OAuthOptions {
  /**
   * A refresh token that is known from before; it is tried first. It is used once, whatever scopes are asked for, if the
   * server gives another one in its place, and belongs to the first server that takes it.
   */
  readonly refreshToken?: string;
  /**
   * Told of each new refresh token, to be kept. The call waits for it, no longer than `timeoutMs`, and fails with a
   * `TokenRequestError` of the reason `declined` where it fails or is not done by then; the token counts all the same,
   * and the next call goes on with it.
   */
  readonly onRefreshed?: (token: RefreshedToken) => void | Promise<void>;
}

/** Options of the authorization code flow. PKCE is always used (RFC 7636). */
export interface AuthorizationCodeOptions extends RefreshableOptions {
  /** Authorization endpoint, beside `tokenUrl`. */
  readonly authorizationUrl?: string;
  /** Where the server sends the user back to. */
  readonly redirectUri: string;
  /**
   * Takes the user to `url` and resolves to the whole URL that they came back to. It is called once for all calls that
   * wait at that time.
   */
  readonly authorize: (url: string, context: { readonly signal: AbortSignal }) => Promise<string | URL>;
}

/** What the user of another device is asked to do. */
export interface DevicePrompt {
  /** Code to type in. */
  readonly userCode: string;
  /** Where. */
  readonly verificationUri: string;
  /** The same with the code in it. */
  readonly verificationUriComplete?: string;
  /** For how long, in milliseconds. */
  readonly expiresInMs: number;
}

/** Options of the device flow (RFC 8628). */
export interface DeviceCodeOptions extends RefreshableOptions {
  /** Device authorization endpoint, beside `tokenUrl`. */
  readonly deviceAuthorizationUrl?: string;
  /** Shows the user where to type which code. */
  readonly onUserCode: (prompt: DevicePrompt) => void | Promise<void>;
}

/** Options of a refresh token alone. */
export interface RefreshOptions extends RefreshableOptions {
  /** The refresh token to begin with. */
  readonly refreshToken: string;
}

/**
 * Checks what all ways have in common.
 *
 * @throws TypeError naming the option.
 */
export function checkOAuthOptions(maker: string, options: OAuthOptions & GivenEndpoints): void {
  const { issuer, tokenUrl, trustCardUrlsAt, clientId, clientSecret } = options;
  if (typeof clientId !== "string" || clientId === "")
    throw new TypeError(`${maker}.clientId: wanted a text`);
  if (issuer === undefined && tokenUrl === undefined && !trustCardUrlsAt?.length) {
    throw new TypeError(`${maker}: wanted issuer, tokenUrl, or trustCardUrlsAt`);
  }
  const { authorizationUrl, deviceAuthorizationUrl } = options;
  for (const [name, url] of Object.entries({ issuer, tokenUrl, authorizationUrl, deviceAuthorizationUrl })) {
    if (url === undefined) continue;
    if (!URL.canParse(url)) throw new TypeError(`${maker}.${name}: wanted an absolute URL`);
    if (isSecureUrl(url)) continue;
    const shown = new URL(url).username === "" ? redactUrl(url) : `${redactUrl(url)} with a user name`;
    throw new TypeError(`${maker}.${name}: found ${shown}, ${wantedSecureUrl}`);
  }
  for (const origin of trustCardUrlsAt ?? []) {
    if (URL.canParse(origin) && new URL(origin).origin === origin && isSecureUrl(origin)) continue;
    throw new TypeError(`${maker}.trustCardUrlsAt: wanted origins like "https://login.example.com"`);
  }
  const isSecret = ["string", "function", "undefined"].includes(typeof clientSecret) && clientSecret !== "";
  if (!isSecret) throw new TypeError(`${maker}.clientSecret: wanted a text or a function`);
  for (const name of ["skewMs", "timeoutMs"] as const) {
    const value = options[name];
    if (value === undefined || (typeof value === "number" && value >= 0)) continue;
    throw new TypeError(`${maker}.${name}: found ${String(value)}, wanted a number of at least 0`);
  }
}
