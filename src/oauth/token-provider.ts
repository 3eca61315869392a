import { TokenRequestError } from "../errors/credentials.ts";
import type { CredentialContext, SchemeProvider } from "../model/credentials.ts";
import type { SecurityScheme } from "../model/security.ts";
import { withSignal } from "../util/abort.ts";
import { type Instant, readInstant } from "../util/clock.ts";
import { type AccessToken, createTokenCache, isFresh, type TokenEntry, tokenKey } from "./cache.ts";
import { type Flight, startFlight } from "./flight.ts";
import { type Grant, type GrantedToken, refresh } from "./grants.ts";
import type { OAuthOptions, RefreshableOptions } from "./options.ts";
import { chooseServer, type GivenEndpoints, type ServerChoice } from "./server.ts";
import { clockOf, createTokenFetch } from "./transport.ts";

/** One way to a token. */
export interface TokenWay {
  /** What it is, in words. */
  readonly label: string;
  /** Its name among the flows of a card. */
  readonly flow: string;
  readonly options: OAuthOptions & Partial<RefreshableOptions> & GivenEndpoints;
  /** Whether its tokens are the client's own, so that every provider of the same client may use them. */
  readonly isShared: boolean;
  /** Obtains a token from the beginning. */
  readonly obtain: (grant: Grant) => Promise<GrantedToken>;
}

let providers = 0;

/** Makes a provider of bearer tokens: kept until they end or are refused, and asked for once for all who wait. */
export function createTokenProvider(way: TokenWay): SchemeProvider {
  const { options, flow } = way;
  const clock = clockOf(options);
  const cache = options.cache ?? createTokenCache();
  const { skewMs = 30_000, clientId, audience, resource, refreshToken: initial } = options;
  providers += 1;
  // Tokens of a user are for the provider that the user agreed to, whoever shares the cache.
  const owner = way.isShared ? "" : `${providers}`;

  async function provide(context: CredentialContext) {
    const { clientSecret } = options;
    const secret = typeof clientSecret === "function" ? await clientSecret() : clientSecret;
    const server = chooseServer(options, flow, context);
    const scopes = scopesOf(options, context);
    const key = tokenKey({ flow, server: server.key, clientId, scopes, audience, resource, secret, owner });
    const entry = cache.entry(key);
    if (!("refreshToken" in entry)) entry.refreshToken = initial;
    const refused = context.refused?.headers?.authorization;
    if (entry.token && refused === `Bearer ${entry.token.value}`) entry.token = undefined;
    const { token } = entry;
    if (token && isFresh(token, clock, skewMs)) return bearerOf(token);
    entry.flight ??= startToken({ entry, server, secret, scopes });
    return bearerOf(await entry.flight.join(context.signal));
  }

  function startToken(asked: Asked): Flight<AccessToken> {
    const { entry } = asked;
    const flight = startFlight(
      (signal) => obtain(asked, signal),
      () => {
        if (entry.flight === flight) entry.flight = undefined;
      },
    );
    return flight;
  }

  async function obtain({ entry, server, secret, scopes }: Asked, signal: AbortSignal): Promise<AccessToken> {
    const send = createTokenFetch(options, signal);
    const grant: Grant = { server: await server.load(send), options, secret, scopes, send, clock, signal };
    const { refreshToken } = entry;
    if (refreshToken !== undefined) {
      // Once it left it may be worthless: what comes for it is kept, though nobody should wait any more.
      const lasting = { ...grant, send: createTokenFetch(options, endless), signal: endless };
      entry.renewal ??= renew(entry, lasting, refreshToken);
      const renewed = await withSignal(entry.renewal, signal);
      if (renewed) return renewed;
    }
    const since = readInstant(clock);
    return keep(entry, await way.obtain(grant), since);
  }

  /** A token by the refresh token, if that still counts. */
  async function renew(entry: TokenEntry, grant: Grant, refreshToken: string) {
    const since = readInstant(clock);
    try {
      return await keep(entry, await refresh(grant, refreshToken), since);
    } catch (error) {
      const isOver = error instanceof TokenRequestError && error.oauthError === "invalid_grant";
      if (!isOver) throw error;
      entry.refreshToken = undefined;
      return undefined;
    } finally {
      entry.renewal = undefined;
    }
  }

  async function keep(entry: TokenEntry, granted: GrantedToken, since: Instant): Promise<AccessToken> {
    const { accessToken, lifetimeMs, refreshToken } = granted;
    const token = Object.freeze({ value: accessToken, since, lifetimeMs });
    entry.token = token;
    if (refreshToken !== undefined && refreshToken !== entry.refreshToken) {
      entry.refreshToken = refreshToken;
      const isBounded = Number.isFinite(lifetimeMs);
      const expiry = isBounded ? { expiresAtMs: since.wallMs + lifetimeMs } : {};
      await options.onRefreshed?.({ refreshToken, ...expiry });
    }
    return token;
  }

  return Object.freeze(
    Object.assign((context: CredentialContext) => provide(context), {
      label: way.label,
      serves: ({ oauth2SecurityScheme, openIdConnectSecurityScheme }: SecurityScheme) =>
        Boolean(oauth2SecurityScheme ?? openIdConnectSecurityScheme),
      fits: takesBearer,
    }),
  );
}

/** Whether a scheme takes a bearer token; a card may well say no more of it than that. */
export function takesBearer(scheme: SecurityScheme): boolean {
  const { oauth2SecurityScheme, openIdConnectSecurityScheme, httpAuthSecurityScheme } = scheme;
  const isBearer = httpAuthSecurityScheme?.scheme.toLowerCase() === "bearer";
  return isBearer || Boolean(oauth2SecurityScheme ?? openIdConnectSecurityScheme);
}

/** One request for a token, for all who wait. */
interface Asked {
  readonly entry: TokenEntry;
  readonly server: ServerChoice;
  readonly secret: string | undefined;
  readonly scopes: readonly string[];
}

/** The signal of what nobody may end; its own budgets do. */
const endless = new AbortController().signal;

function scopesOf({ scopes = [] }: OAuthOptions, { scheme }: CredentialContext): readonly string[] {
  return typeof scopes === "function" ? scopes(scheme?.scopes ?? []) : scopes;
}

function bearerOf({ value }: AccessToken) {
  return { headers: { authorization: `Bearer ${value}` } };
}
