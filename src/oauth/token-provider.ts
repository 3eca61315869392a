import { TokenRequestError } from "../errors/credentials.ts";
import type { CredentialContext, SchemeProvider } from "../model/credentials.ts";
import type { SecurityScheme } from "../model/security.ts";
import { withSignal } from "../util/abort.ts";
import { kindText } from "../util/found.ts";
import { createUuid } from "../util/uuid.ts";
import { type AccessToken, createTokenCache, isFresh, type TokenEntry, tokenKey } from "./cache.ts";
import { createChains, type RefreshChain } from "./chain.ts";
import { type Flight, startFlight } from "./flight.ts";
import { type Grant, type GrantedToken, refresh } from "./grants.ts";
import { askHook } from "./hook.ts";
import type { GivenEndpoints, OAuthOptions, RefreshableOptions } from "./options.ts";
import { tellRefreshed } from "./refreshed.ts";
import { scopesFor } from "./scopes.ts";
import { chooseServer, type ServerChoice } from "./server.ts";
import { clockOf, createTokenFetch } from "./transport.ts";

/** One way to a token. */
export interface TokenWay {
  /** What it is, in words. */
  readonly label: string;
  /** Its names among the flows of a card: the first one that the card has counts. */
  readonly flows: readonly [string, ...string[]];
  /** Scopes that it asks for, whatever is asked of it. */
  readonly ownScopes?: readonly string[];
  /** Scopes asked for where the caller says nothing of them: those that the card asks for, or none. */
  readonly usualScopes: "asked" | "none";
  readonly options: OAuthOptions & Partial<RefreshableOptions> & GivenEndpoints;
  /** Whether its tokens are the client's own, so that every provider of the same client may use them. */
  readonly isShared: boolean;
  /** Obtains a token from the beginning; `refusal` is why a refresh token that counts would not do. */
  readonly obtain: (grant: Grant, refusal: TokenRequestError | undefined) => Promise<GrantedToken>;
}

/** Makes a provider of bearer tokens: kept until they end or are refused, and asked for once for all who wait. */
export function createTokenProvider(way: TokenWay): SchemeProvider {
  const { options, flows } = way;
  const clock = clockOf(options);
  const cache = options.cache ?? createTokenCache();
  const { skewMs = 30_000, clientId, audience, resource } = options;
  const chains = createChains(options.refreshToken);
  let clearings = cache.clearings;
  // Tokens of a user are for the provider that the user agreed to, whoever shares the cache: one of another copy of this
  // library too, so that counting won't do.
  const owner = way.isShared ? "" : createUuid();

  async function provide(context: CredentialContext) {
    const server = chooseServer(options, flows, context);
    const secret = await secretOf(options, server.url, context.signal);
    const scopes = await scopesFor(way, server.url, context);
    const asked = { flow: flows[0], server: server.key, clientId, scopes, audience, resource, owner };
    const entry = cache.entry(tokenKey({ ...asked, secret }));
    if (clearings !== cache.clearings) chains.forget();
    clearings = cache.clearings;
    // What a user agreed to outlives the secret of the client.
    const agreed = chains.agreed(tokenKey({ ...asked, secret: undefined }));
    const refused = context.refused?.headers?.authorization;
    if (entry.token && refused === `Bearer ${entry.token.value}`) entry.token = undefined;
    const { token } = entry;
    if (token && isFresh(token, clock, skewMs)) return bearerOf(token);
    entry.flight ??= startToken({ entry, server, secret, scopes, agreed });
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

  async function obtain(asked: Asked, signal: AbortSignal): Promise<AccessToken> {
    const { entry, server, secret, scopes, agreed } = asked;
    const send = createTokenFetch(options, signal, secret);
    const grant: Grant = { server: await server.load(send), options, secret, scopes, send, clock, signal };
    let refusal: TokenRequestError | undefined;
    const chain = [agreed, chains.given].find((item) => !way.isShared && item.isAlive(server.key));
    if (chain) {
      // Once it left it may be worthless: what comes for it is kept, though nobody should wait any more.
      const lasting = { ...grant, send: createTokenFetch(options, endless, secret), signal: endless };
      entry.renewal ??= renew(asked, lasting, chain);
      try {
        const renewed = await withSignal(entry.renewal, signal);
        if (renewed) return renewed;
      } catch (error) {
        const isNarrow = error instanceof TokenRequestError && error.oauthError === "invalid_scope";
        if (!isNarrow || signal.aborted) throw error;
        refusal = error;
      }
    }
    const granted = await way.obtain(grant, refusal);
    if (granted.refreshToken !== undefined) agreed.begin(server.key, granted.refreshToken);
    return keep(asked, granted);
  }

  /** A token by a refresh token, if one still counts. */
  async function renew(asked: Asked, grant: Grant, chain: RefreshChain) {
    const use = (refreshToken: string) => refresh(grant, refreshToken);
    try {
      return await chain.exchange(asked.server.key, use, (granted) => keep(asked, granted));
    } finally {
      asked.entry.renewal = undefined;
    }
  }

  async function keep(asked: Asked, granted: GrantedToken): Promise<AccessToken> {
    const { accessToken, lifetimeMs, since } = granted;
    const token = Object.freeze({ value: accessToken, since, lifetimeMs });
    asked.entry.token = token;
    await tellRefreshed(asked.server.url, options, granted);
    return token;
  }

  return Object.freeze(
    Object.assign((context: CredentialContext) => provide(context), {
      label: way.label,
      flows: Object.freeze([...flows]),
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
  /** The refresh tokens of what a user agreed to for the same. */
  readonly agreed: RefreshChain;
}

/** The signal of what nobody may end; its own budgets do. */
const endless = new AbortController().signal;

/** The secret of the client, asked for anew each time where it is a function. */
async function secretOf(
  { clientSecret }: OAuthOptions,
  url: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (typeof clientSecret !== "function") return clientSecret;
  // Without one, the client would pass for one that has no secret.
  const wrong = (given: unknown) => (typeof given === "string" && given !== "" ? undefined : kindText(given));
  return askHook({ name: "clientSecret", wanted: "a text", url, signal, ask: clientSecret, wrong });
}

function bearerOf({ value }: AccessToken) {
  return { headers: { authorization: `Bearer ${value}` } };
}
