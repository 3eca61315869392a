import type { Clock } from "../util/clock.ts";
import type { FetchLike } from "../wire/http.ts";
import type { TokenCache } from "./cache.ts";

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
  /**
   * Token endpoint, https or http on loopback; with it no metadata is read, so that the authorization code flow wants
   * `authorizationUrl` beside it, and the device flow `deviceAuthorizationUrl`.
   */
  readonly tokenUrl?: string;
  /**
   * Origins at which the URLs that a card names may be used, where neither `issuer` nor `tokenUrl` is given. A card is
   * the agent's own word: without this it can't say where a secret goes. https, or http on loopback. @default none
   */
  readonly trustCardUrlsAt?: readonly string[];
  /** Identifier of this client. */
  readonly clientId: string;
  /** Its secret, or a function that is asked for it and gives a text. @default a public client */
  readonly clientSecret?: string | (() => string | Promise<string>);
  /** How the secret is shown: in an `Authorization` header or in the body. @default "basic" */
  readonly clientAuthentication?: "basic" | "post";
  /**
   * Scopes to ask for, or a function that picks them out of those that the card asks for: a card that asks for all there
   * are need not get them. An empty list asks for none, which leaves it to the server.
   *
   * @default those that the card asks for in the requirement that was chosen, at most 100; for `oauthRefresh` none, which
   * means those that the refresh token has (RFC 6749, 6)
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
   * server gives another one in its place, and belongs to the first server that takes it. @default none
   */
  readonly refreshToken?: string | undefined;
  /**
   * Told of each new refresh token, to be kept. The call waits for it, no longer than `timeoutMs`, and fails with a
   * `TokenRequestError` of the reason `not-kept` where it fails or is not done by then; the token counts all the same,
   * and the next call goes on with it. What it resolves to does not matter.
   */
  readonly onRefreshed?: (token: RefreshedToken) => void | Promise<void>;
}

/** Options of the authorization code flow. PKCE is always used (RFC 7636). */
export interface AuthorizationCodeOptions extends RefreshableOptions {
  /** Authorization endpoint, beside `tokenUrl`, and wanted there; else it comes from the metadata of `issuer`. */
  readonly authorizationUrl?: string;
  /** Where the server sends the user back to. */
  readonly redirectUri: string;
  /**
   * Takes the user to `url` and resolves to the whole URL that they came back to, with its query. It is called once for
   * all calls that wait at that time. Where it throws or gives something else, `TokenRequestError` says so.
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
  /** Device authorization endpoint, beside `tokenUrl`, and wanted there; else it comes from the metadata of `issuer`. */
  readonly deviceAuthorizationUrl?: string;
  /**
   * Shows the user where to type which code. The server is asked whether they did once this is done, so it should not wait
   * for them; what it resolves to does not matter.
   */
  readonly onUserCode: (prompt: DevicePrompt) => void | Promise<void>;
}

/** Options of a refresh token alone. */
export interface RefreshOptions extends RefreshableOptions {
  /** The refresh token to begin with. */
  readonly refreshToken: string;
}
