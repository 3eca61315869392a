import { TokenRequestError } from "../errors/credentials.ts";
import type { SchemeProvider } from "../model/credentials.ts";
import { authorizationCode, clientCredentials, deviceCode } from "./grants.ts";
import {
  type AuthorizationCodeOptions,
  checkOAuthOptions,
  type DeviceCodeOptions,
  type OAuthOptions,
  type RefreshOptions,
} from "./options.ts";
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
    flow: "clientCredentials",
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
  checkOAuthOptions("oauthAuthorizationCode", options);
  if (typeof options.authorize !== "function") {
    throw new TypeError("oauthAuthorizationCode.authorize: wanted a function");
  }
  if (!URL.canParse(options.redirectUri)) {
    throw new TypeError("oauthAuthorizationCode.redirectUri: wanted an absolute URL");
  }
  return createTokenProvider({
    label: "OAuth 2.0 authorization code",
    flow: "authorizationCode",
    options,
    isShared: false,
    obtain: (grant) => authorizationCode(grant, options),
  });
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
  const { scopes = [] } = options;
  const withOpenId = (asked: readonly string[]) => {
    const wanted = typeof scopes === "function" ? scopes(asked) : scopes;
    return wanted.includes("openid") ? wanted : ["openid", ...wanted];
  };
  const provider = oauthAuthorizationCode({ ...options, discovery: "oidc", scopes: withOpenId });
  const serves: SchemeProvider["serves"] = (scheme) => scheme.openIdConnectSecurityScheme !== undefined;
  const provide = (...given: Parameters<SchemeProvider>) => provider(...given);
  return Object.freeze(Object.assign(provide, { label: "OpenID Connect", serves, fits: takesBearer }));
}

/**
 * Tokens by a code that the user types in on another device (RFC 8628; spec 4.5.10).
 *
 * The provider throws `TokenRequestError` where no token can be had.
 *
 * @throws TypeError naming the option.
 */
export function oauthDeviceCode(options: DeviceCodeOptions): SchemeProvider {
  checkOAuthOptions("oauthDeviceCode", options);
  if (typeof options.onUserCode !== "function") {
    throw new TypeError("oauthDeviceCode.onUserCode: wanted a function");
  }
  return createTokenProvider({
    label: "OAuth 2.0 device code",
    flow: "deviceCode",
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
  if (typeof options.refreshToken !== "string" || options.refreshToken === "") {
    throw new TypeError("oauthRefresh.refreshToken: wanted a text");
  }
  return createTokenProvider({
    label: "OAuth 2.0 refresh token",
    flow: "authorizationCode",
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
