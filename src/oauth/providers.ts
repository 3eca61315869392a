import { TokenRequestError } from "../errors/credentials.ts";
import type { SchemeProvider } from "../model/credentials.ts";
import { kindText } from "../util/found.ts";
import { checkOAuthOptions, checkText } from "./check.ts";
import { authorizationCode, clientCredentials, deviceCode } from "./grants.ts";
import type { AuthorizationCodeOptions, DeviceCodeOptions, OAuthOptions, RefreshOptions } from "./options.ts";
import { createTokenProvider, takesBearer } from "./token-provider.ts";

/**
 * Tokens by client credentials (RFC 6749, 4.4; spec 4.5.9): for a program that acts on its own behalf.
 *
 * The provider throws `TokenRequestError` where no token can be had.
 *
 * @throws TypeError naming the option.
 */
export function oauthClientCredentials(options: OAuthOptions): SchemeProvider {
  checkOAuthOptions("oauthClientCredentials", options);
  return createTokenProvider({
    label: "OAuth 2.0 client credentials",
    flows: ["clientCredentials"],
    usualScopes: "asked",
    options,
    isShared: true,
    obtain: clientCredentials,
  });
}

/**
 * Tokens by an authorization code with PKCE (RFC 6749, 4.1; spec 4.5.8): for a program that acts for a user who is there.
 * A refresh token, where the server gives one, is used from then on.
 *
 * The provider throws `TokenRequestError` where no token can be had.
 *
 * @throws TypeError naming the option.
 */
export function oauthAuthorizationCode(options: AuthorizationCodeOptions): SchemeProvider {
  return signIn("oauthAuthorizationCode", options);
}

function signIn(
  maker: string,
  options: AuthorizationCodeOptions,
  more: { readonly ownScopes?: readonly string[] } = {},
): SchemeProvider {
  checkOAuthOptions(maker, options, "authorizationUrl");
  const { authorize, redirectUri } = options;
  checkHook(`${maker}.authorize`, authorize);
  checkText(`${maker}.redirectUri`, redirectUri, "an absolute URL");
  if (!URL.canParse(redirectUri)) throw new TypeError(`${maker}.redirectUri: wanted an absolute URL`);
  return createTokenProvider({
    label: "OAuth 2.0 authorization code",
    flows: ["authorizationCode"],
    usualScopes: "asked",
    ...more,
    options,
    isShared: false,
    obtain: (grant) => authorizationCode(grant, options),
  });
}

function checkHook(option: string, hook: unknown): void {
  if (typeof hook !== "function")
    throw new TypeError(`${option}: found ${kindText(hook)}, wanted a function`);
}

/**
 * Tokens for a user who signs in at an OpenID Connect provider (spec 4.5.5): the authorization code flow with the
 * provider's own metadata and the scope `openid`. The ID token is checked, and the access token is what agents get.
 *
 * Throws as {@link oauthAuthorizationCode} does.
 */
export function openIdConnect(
  options: AuthorizationCodeOptions & { readonly issuer: string },
): SchemeProvider {
  const provider = signIn("openIdConnect", { ...options, discovery: "oidc" }, { ownScopes: ["openid"] });
  const { flows = [] } = provider;
  const serves: SchemeProvider["serves"] = (scheme) => scheme.openIdConnectSecurityScheme !== undefined;
  const provide = (...given: Parameters<SchemeProvider>) => provider(...given);
  return Object.freeze(Object.assign(provide, { label: "OpenID Connect", flows, serves, fits: takesBearer }));
}

/**
 * Tokens by a code that the user types in on another device (RFC 8628; spec 4.5.10).
 *
 * The provider throws `TokenRequestError` where no token can be had.
 *
 * @throws TypeError naming the option.
 */
export function oauthDeviceCode(options: DeviceCodeOptions): SchemeProvider {
  checkOAuthOptions("oauthDeviceCode", options, "deviceAuthorizationUrl");
  checkHook("oauthDeviceCode.onUserCode", options.onUserCode);
  return createTokenProvider({
    label: "OAuth 2.0 device code",
    flows: ["deviceCode"],
    usualScopes: "asked",
    options,
    isShared: false,
    obtain: (grant) => deviceCode(grant, options),
  });
}

/**
 * Tokens by a refresh token that was had before (RFC 6749, 6). Each new one takes the place of the last in memory, for
 * all scopes, and `onRefreshed` is told of it. None is used twice, so one refresh token wants one provider.
 *
 * The provider throws `TokenRequestError` where no token can be had.
 *
 * @throws TypeError naming the option.
 */
export function oauthRefresh(options: RefreshOptions): SchemeProvider {
  checkOAuthOptions("oauthRefresh", options);
  checkText("oauthRefresh.refreshToken", options.refreshToken);
  return createTokenProvider({
    label: "OAuth 2.0 refresh token",
    // Those that may end in a refresh token.
    flows: ["authorizationCode", "deviceCode", "password"],
    usualScopes: "none",
    options,
    isShared: false,
    obtain: async ({ server }, refusal) => {
      if (refusal) throw refusal;
      const message = "found a refresh token that counts no more, wanted another one";
      const url = server.token_endpoint ?? server.issuer;
      throw new TokenRequestError(url, { reason: "refused", message, oauthError: "invalid_grant" });
    },
  });
}
