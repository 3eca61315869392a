import { kindText } from "../util/found.ts";
import { redactUrl } from "../util/redact.ts";
import type { GivenEndpoints, OAuthOptions, RefreshableOptions } from "./options.ts";
import { noScopes } from "./scopes.ts";
import { isSecureUrl, wantedSecureUrl } from "./secure-url.ts";

/** Names of the options that are the endpoints of one flow. */
export type FlowEndpoint = keyof GivenEndpoints;

/**
 * Checks what all ways have in common.
 *
 * @param endpoint - the endpoint that the flow needs beside the token endpoint.
 * @throws TypeError naming the option.
 */
export function checkOAuthOptions(
  maker: string,
  options: OAuthOptions & GivenEndpoints & Partial<RefreshableOptions>,
  endpoint?: FlowEndpoint,
): void {
  const { issuer, tokenUrl, trustCardUrlsAt, clientId, clientSecret, refreshToken, scopes } = options;
  checkText(`${maker}.clientId`, clientId);
  if (issuer === undefined && tokenUrl === undefined && !trustCardUrlsAt?.length) {
    throw new TypeError(`${maker}: wanted issuer, tokenUrl, or trustCardUrlsAt`);
  }
  checkUrls(maker, options, endpoint);
  for (const origin of trustCardUrlsAt ?? []) {
    if (URL.canParse(origin) && new URL(origin).origin === origin && isSecureUrl(origin)) continue;
    throw new TypeError(`${maker}.trustCardUrlsAt: wanted origins like "https://login.example.com"`);
  }
  if (clientSecret !== undefined && typeof clientSecret !== "function") {
    checkText(`${maker}.clientSecret`, clientSecret, "a text or a function that gives one");
  }
  const { audience, resource } = options;
  for (const [name, text] of Object.entries({ audience, resource, refreshToken })) {
    if (text !== undefined) checkText(`${maker}.${name}`, text);
  }
  const wrong = scopes === undefined || typeof scopes === "function" ? undefined : noScopes(scopes);
  if (wrong !== undefined) {
    throw new TypeError(
      `${maker}.scopes: found ${wrong}, wanted a list of texts or a function that gives one`,
    );
  }
  for (const name of ["skewMs", "timeoutMs"] as const) {
    const value = options[name];
    if (value === undefined || (typeof value === "number" && value >= 0)) continue;
    throw new TypeError(`${maker}.${name}: found ${String(value)}, wanted a number of at least 0`);
  }
}

/** A text that was left out of an environment comes as an empty one as a rule, and the message says which it is. */
export function checkText(option: string, given: unknown, wanted = "a text that is not empty"): void {
  if (typeof given === "string" && given !== "") return;
  throw new TypeError(`${option}: found ${kindText(given)}, wanted ${wanted}`);
}

function checkUrls(
  maker: string,
  { issuer, tokenUrl, authorizationUrl, deviceAuthorizationUrl }: OAuthOptions & GivenEndpoints,
  endpoint: FlowEndpoint | undefined,
): void {
  const given = { issuer, tokenUrl, authorizationUrl, deviceAuthorizationUrl };
  for (const [name, url] of Object.entries(given)) {
    if (url === undefined) continue;
    if (!URL.canParse(url)) {
      const found =
        (url as unknown) === "" || typeof url !== "string" ? kindText(url) : "a text that is none";
      throw new TypeError(`${maker}.${name}: found ${found}, wanted an absolute URL`);
    }
    if (isSecureUrl(url)) continue;
    const shown = new URL(url).username === "" ? redactUrl(url) : `${redactUrl(url)} with a user name`;
    throw new TypeError(`${maker}.${name}: found ${shown}, ${wantedSecureUrl}`);
  }
  if (endpoint === undefined || (tokenUrl === undefined) === (given[endpoint] === undefined)) return;
  const [found, lacking] = tokenUrl === undefined ? [endpoint, "tokenUrl"] : ["tokenUrl", endpoint];
  throw new TypeError(`${maker}: found ${found} without ${lacking}, wanted both of them, or issuer alone`);
}
