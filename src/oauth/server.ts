import * as oauth from "oauth4webapi";
import { TokenRequestError } from "../errors/credentials.ts";
import type { CredentialContext } from "../model/credentials.ts";
import type { OAuthFlow } from "../model/security.ts";
import { judgeAddress, originOfUrl } from "../util/address.ts";
import { kindText } from "../util/found.ts";
import { isRecord, own } from "../util/freeze.ts";
import { redactUrl } from "../util/redact.ts";
import { toTokenError } from "./failure.ts";
import type { GivenEndpoints, OAuthOptions } from "./options.ts";
import { requireSecure } from "./secure-url.ts";
import type { TokenFetch } from "./transport.ts";

/** An authorization server, before anybody asked it anything. */
export interface ServerChoice {
  /** Names it in the keys of tokens. */
  readonly key: string;
  /** The URL that it is known by: its token endpoint, or its issuer. */
  readonly url: string;
  /** Its metadata, given or read. */
  readonly load: (send: TokenFetch) => Promise<oauth.AuthorizationServer>;
}

const oidcPath = "/.well-known/openid-configuration";

/**
 * Which server a token comes from. The caller's options decide; only where they name none, and only at an origin that
 * they allow, do the URLs of the card count.
 *
 * @throws TokenRequestError for URLs of a card at an origin that the caller did not allow, or that are not https.
 */
export function chooseServer(
  options: OAuthOptions & GivenEndpoints,
  flows: readonly string[],
  { scheme, origin }: CredentialContext,
): ServerChoice {
  const { issuer, tokenUrl, discovery, trustCardUrlsAt = [] } = options;
  if (tokenUrl !== undefined) return given({ ...options, tokenUrl }, issuer);
  if (issuer !== undefined) return discovered(issuer, discovery);
  const offered = scheme?.scheme.oauth2SecurityScheme?.flows ?? {};
  const named = flows.map((flow) => own(offered, flow)).find((flow) => flow !== undefined);
  const oidcUrl = scheme?.scheme.openIdConnectSecurityScheme?.openIdConnectUrl;
  const urls = named ? urlsOf(named) : oidcUrl === undefined ? [] : [oidcUrl];
  const stray = urls.find((url) => !trustCardUrlsAt.includes(originOfUrl(url) ?? ""));
  if (stray !== undefined) {
    const message = `found on the agent card, wanted a URL at ${trustCardUrlsAt.join(" or ")}`;
    throw new TokenRequestError(stray, { reason: "origin", message });
  }
  if (named?.tokenUrl !== undefined) return given({ ...named, tokenUrl: named.tokenUrl }, undefined);
  if (oidcUrl?.endsWith(oidcPath)) return discovered(oidcUrl.slice(0, -oidcPath.length), "oidc");
  const message = `found no URL for the flow ${flows.join(" or ")} on the agent card, wanted one`;
  throw new TokenRequestError(origin, { reason: "discovery", message });
}

function urlsOf({ tokenUrl, authorizationUrl, deviceAuthorizationUrl }: OAuthFlow): readonly string[] {
  return [tokenUrl, authorizationUrl, deviceAuthorizationUrl].filter((url) => url !== undefined);
}

function given(
  { tokenUrl, authorizationUrl, deviceAuthorizationUrl }: GivenEndpoints & { readonly tokenUrl: string },
  issuer: string | undefined,
): ServerChoice {
  const server = {
    issuer: issuer ?? originOfUrl(tokenUrl) ?? tokenUrl,
    token_endpoint: tokenUrl,
    ...(authorizationUrl === undefined ? {} : { authorization_endpoint: authorizationUrl }),
    ...(deviceAuthorizationUrl === undefined
      ? {}
      : { device_authorization_endpoint: deviceAuthorizationUrl }),
  };
  // The caller named these URLs, or the origins at which they are: only the way to them counts.
  for (const url of endpointsOf(server)) requireSecure(url);
  return { key: JSON.stringify(["given", server]), url: tokenUrl, load: async () => server };
}

function discovered(issuer: string, discovery: OAuthOptions["discovery"]): ServerChoice {
  requireSecure(issuer);
  return {
    key: JSON.stringify(["issuer", new URL(issuer).href]),
    url: issuer,
    async load(send) {
      const url = new URL(issuer);
      try {
        const ask = (algorithm: "oauth2" | "oidc") =>
          oauth.discoveryRequest(url, {
            algorithm,
            [oauth.customFetch]: send,
            [oauth.allowInsecureRequests]: true,
          });
        const first = await ask(discovery ?? "oauth2");
        const isElsewhere = discovery === undefined && first.status === 404;
        const response = isElsewhere ? await ask("oidc") : first;
        await checkIssuer(response.clone(), issuer);
        return judged(await oauth.processDiscoveryResponse(url, response), issuer);
      } catch (error) {
        throw toTokenError(issuer, error, { secrets: [], reason: "discovery" });
      }
    },
  };
}

/** The endpoints of a server that are asked, or shown to a user. */
function endpointsOf(server: oauth.AuthorizationServer): readonly string[] {
  const { token_endpoint, authorization_endpoint, device_authorization_endpoint } = server;
  const all: Readonly<Record<string, unknown>> = {
    token_endpoint,
    authorization_endpoint,
    device_authorization_endpoint,
  };
  return Object.entries(all).flatMap(([name, url]) => {
    if (url === undefined) return [];
    if (typeof url === "string") return [url];
    // Metadata is read as it came.
    const message = `found ${kindText(url)} as the ${name} in its metadata, wanted a URL`;
    throw new TokenRequestError(server.issuer, { reason: "discovery", message });
  });
}

/** Metadata that says it is another server's is none of this one. What can't be read is told by who reads it. */
async function checkIssuer(response: Response, issuer: string): Promise<void> {
  const body: unknown = await response.json().catch(() => undefined);
  const told = isRecord(body) ? body.issuer : undefined;
  if (response.status !== 200 || typeof told !== "string") return;
  if (URL.canParse(told) && new URL(told).href === new URL(issuer).href) return;
  const message = `found the issuer ${redactUrl(told)} in its metadata, wanted ${redactUrl(issuer)}`;
  throw new TokenRequestError(issuer, { reason: "discovery", message });
}

/** Metadata may name any URL: none may be less safe than the issuer itself, nor lead from outside to a place inside. */
function judged(server: oauth.AuthorizationServer, issuer: string): oauth.AuthorizationServer {
  const from = new URL(issuer);
  for (const url of endpointsOf(server)) {
    requireSecure(url);
    const kind = judgeAddress(new URL(url));
    const isSameHost = new URL(url).hostname === from.hostname;
    if (isSameHost || kind === "public" || kind === judgeAddress(from)) continue;
    const message = `found a ${kind} address in what ${from.origin} says of itself, wanted one on the open internet`;
    throw new TokenRequestError(url, { reason: "insecure-url", message });
  }
  return server;
}
