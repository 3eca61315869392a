/**
 * `a2a-lease/oauth`: providers of tokens for the `credentials` of a client, by OAuth 2.0 and OpenID Connect. Wants the
 * package `oauth4webapi` beside it.
 *
 * @packageDocumentation
 */
export { createTokenCache, TokenCache } from "./oauth/cache.ts";
export type {
  AuthorizationCodeOptions,
  DeviceCodeOptions,
  DevicePrompt,
  OAuthOptions,
  RefreshableOptions,
  RefreshedToken,
  RefreshOptions,
} from "./oauth/options.ts";
export {
  oauthAuthorizationCode,
  oauthClientCredentials,
  oauthDeviceCode,
  oauthRefresh,
  openIdConnect,
} from "./oauth/providers.ts";
