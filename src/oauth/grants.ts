import * as oauth from "oauth4webapi";
import { TokenRequestError } from "../errors/credentials.ts";
import { sleep } from "../util/abort.ts";
import { type Clock, type Instant, readInstant } from "../util/clock.ts";
import { kindText } from "../util/found.ts";
import { toTokenError } from "./failure.ts";
import { askHook } from "./hook.ts";
import type { AuthorizationCodeOptions, DeviceCodeOptions, OAuthOptions } from "./options.ts";
import { requireSecure } from "./secure-url.ts";
import type { TokenFetch } from "./transport.ts";

/** What one request for a token is made with. */
export interface Grant {
  readonly server: oauth.AuthorizationServer;
  readonly options: OAuthOptions;
  readonly secret: string | undefined;
  readonly scopes: readonly string[];
  readonly send: TokenFetch;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** What a server gave. */
export interface GrantedToken {
  readonly accessToken: string;
  /** How long it lives from `since` on, in milliseconds. */
  readonly lifetimeMs: number;
  /** When the request left that brought it. What came before it, a user's time above all, is no part of its life. */
  readonly since: Instant;
  readonly refreshToken?: string;
}

/** Longest token that is taken, in characters. */
const maxTokenLength = 16_384;
/** Longest time that a user of another device is waited for, in seconds, and the bounds of the pauses between two looks. */
const device = Object.freeze({ longestSeconds: 3_600, firstSeconds: 5, slowerSeconds: 5, mostSeconds: 60 });

/** Client credentials (RFC 6749, 4.4). Throws as all grants do: `TokenRequestError`, or the reason of the signal. */
export async function clientCredentials(grant: Grant): Promise<GrantedToken> {
  return exchange(grant, [], async (client, auth, options) => {
    const { server } = grant;
    const response = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      auth,
      parametersOf(grant),
      options,
    );
    return oauth.processClientCredentialsResponse(server, client, response);
  });
}

/** A refresh token for an access token (RFC 6749, 6). */
export async function refresh(grant: Grant, refreshToken: string): Promise<GrantedToken> {
  return exchange(grant, [refreshToken], async (client, auth, options) => {
    const { server } = grant;
    const additionalParameters = parametersOf(grant);
    const asked = { ...options, additionalParameters };
    const response = await oauth.refreshTokenGrantRequest(server, client, auth, refreshToken, asked);
    return oauth.processRefreshTokenResponse(server, client, response);
  });
}

/** Authorization code with PKCE and a state of its own for each time (RFC 6749, 4.1; RFC 7636; RFC 9207). */
export async function authorizationCode(
  grant: Grant,
  { redirectUri, authorize }: AuthorizationCodeOptions,
): Promise<GrantedToken> {
  const { server, options, signal, scopes } = grant;
  const endpoint = server.authorization_endpoint;
  if (endpoint === undefined)
    throw missing(server, "authorization endpoint", "authorizationUrl beside tokenUrl");
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const nonce = scopes.includes("openid") ? oauth.generateRandomNonce() : undefined;
  const url = new URL(endpoint);
  const parameters = {
    ...Object.fromEntries(parametersOf(grant)),
    response_type: "code",
    client_id: options.clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...(nonce === undefined ? {} : { nonce }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const given = await askHook({
    name: "authorize",
    wanted: "the whole URL that the user came back to",
    url: endpoint,
    signal,
    ask: () => authorize(url.href, { signal }),
    wrong: (found) => (found instanceof URL || canParse(found) ? undefined : noUrlText(found)),
  });
  const callback = new URL(given);
  const code = callback.searchParams.get("code") ?? "";
  return exchange(grant, [code, verifier].filter(Boolean), async (client, auth, http) => {
    const valid = oauth.validateAuthResponse(server, client, callback, state);
    const response = await oauth.authorizationCodeGrantRequest(
      ...([server, client, auth, valid, redirectUri, verifier, http] as const),
    );
    const expected = nonce === undefined ? {} : { expectedNonce: nonce, requireIdToken: true };
    return oauth.processAuthorizationCodeResponse(server, client, response, expected);
  });
}

/** A code that the user types in on another device (RFC 8628). */
export async function deviceCode(grant: Grant, { onUserCode }: DeviceCodeOptions): Promise<GrantedToken> {
  const { server, clock, signal } = grant;
  const endpoint = server.device_authorization_endpoint;
  if (endpoint === undefined) {
    throw missing(server, "device authorization endpoint", "deviceAuthorizationUrl beside tokenUrl");
  }
  const askedMs = clock.monotonicMs();
  const started = await attempt(grant, [], async (client, auth, options) => {
    const response = await oauth.deviceAuthorizationRequest(
      server,
      client,
      auth,
      parametersOf(grant),
      options,
    );
    return oauth.processDeviceAuthorizationResponse(server, client, response);
  });
  requireSecure(started.verification_uri);
  const { verification_uri_complete: complete } = started;
  if (complete !== undefined) requireSecure(complete);
  const expiresInMs = Math.min(started.expires_in, device.longestSeconds) * 1_000;
  const prompt = {
    userCode: started.user_code,
    verificationUri: started.verification_uri,
    ...(complete === undefined ? {} : { verificationUriComplete: complete }),
    expiresInMs,
  };
  const ask = () => onUserCode(prompt);
  await askHook({ name: "onUserCode", wanted: "the code shown to the user", url: endpoint, signal, ask });
  const untilMs = askedMs + expiresInMs;
  let seconds = Math.min(Math.max(started.interval ?? device.firstSeconds, 1), device.mostSeconds);
  while (clock.monotonicMs() < untilMs) {
    await sleep(clock, seconds * 1_000, signal);
    try {
      return await exchange(grant, [started.device_code], async (client, auth, options) => {
        const { device_code } = started;
        const response = await oauth.deviceCodeGrantRequest(server, client, auth, device_code, options);
        return oauth.processDeviceCodeResponse(server, client, response);
      });
    } catch (error) {
      const code = error instanceof TokenRequestError ? error.oauthError : undefined;
      if (code === "slow_down") seconds = Math.min(seconds + device.slowerSeconds, device.mostSeconds);
      else if (code !== "authorization_pending") throw error;
    }
  }
  const message = `found no word of the user within ${expiresInMs} ms`;
  throw new TokenRequestError(endpoint, { reason: "expired", message });
}

type Ask<T> = (
  client: oauth.Client,
  auth: oauth.ClientAuth,
  options: oauth.TokenEndpointRequestOptions,
) => Promise<T>;

/** One request for a token, and what its answer holds. */
async function exchange(
  grant: Grant,
  secrets: readonly string[],
  ask: Ask<oauth.TokenEndpointResponse>,
): Promise<GrantedToken> {
  const since = readInstant(grant.clock);
  const answer = await attempt(grant, secrets, ask);
  const { access_token: accessToken, expires_in: seconds, refresh_token: refreshToken } = answer;
  const isText = /^[\x21-\x7e]+$/.test(accessToken) && accessToken.length <= maxTokenLength;
  if (answer.token_type !== "bearer" || !isText) {
    const message = "found a token that is no bearer token, wanted one that a header can carry";
    throw new TokenRequestError(tokenUrlOf(grant), { reason: "malformed", message });
  }
  const lifetimeMs = seconds === undefined ? Number.POSITIVE_INFINITY : seconds * 1_000;
  return { accessToken, lifetimeMs, since, ...(refreshToken === undefined ? {} : { refreshToken }) };
}

async function attempt<T>(grant: Grant, secrets: readonly string[], ask: Ask<T>): Promise<T> {
  const { options, secret, send, server } = grant;
  if (server.token_endpoint === undefined) throw missing(server, "token endpoint", "tokenUrl");
  const bySecret = options.clientAuthentication === "post" ? oauth.ClientSecretPost : oauth.ClientSecretBasic;
  const auth = secret === undefined ? oauth.None() : bySecret(secret);
  const known = [...(secret === undefined ? [] : [secret]), ...secrets];
  try {
    return await ask({ client_id: options.clientId }, auth, {
      [oauth.customFetch]: send as never,
      [oauth.allowInsecureRequests]: true,
    });
  } catch (error) {
    throw toTokenError(tokenUrlOf(grant), error, { secrets: known });
  }
}

function parametersOf({ options, scopes }: Grant): URLSearchParams {
  const { audience, resource } = options;
  const given = Object.entries({ scope: scopes.join(" ") || undefined, audience, resource });
  return new URLSearchParams(given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

function canParse(given: unknown): boolean {
  return typeof given === "string" && URL.canParse(given);
}

function noUrlText(given: unknown): string {
  const isText = typeof given === "string" && given !== "";
  return isText ? "a text that is no absolute URL" : kindText(given);
}

/** Where a server is known, and one of its endpoints is not. */
function missing(server: oauth.AuthorizationServer, what: string, option: string): TokenRequestError {
  const message = `found no ${what} of it, wanted one in the metadata of issuer, or the option ${option}`;
  return new TokenRequestError(server.issuer, { reason: "discovery", message });
}

function tokenUrlOf({ server }: Grant): string {
  return server.token_endpoint ?? server.issuer;
}
