import type {
  CredentialContext,
  CredentialProvider,
  RequestCredentials,
  SchemeProvider,
} from "../model/credentials.ts";
import type { SecurityScheme } from "../model/security.ts";
import { kindText } from "../util/found.ts";
import { isOpenHeader } from "../util/strike.ts";
import { askFunction, faultOf } from "./fault.ts";

/**
 * A secret: the text, or a function that is asked for it before each request; what it keeps is its own matter. Where it
 * gives `undefined`, there is none for this: `createCredentials` tries the next alternative of the card, and a provider
 * that is used alone sends nothing. Anything else that it gives is an `AuthenticationError`, and so is what it throws.
 */
export type SecretSource =
  | string
  | ((context: CredentialContext) => string | undefined | Promise<string | undefined>);

/** Where an API key goes, where the card should not decide that. */
export interface ApiKeyOptions {
  /** Where it goes. @default what the card's scheme says */
  readonly in?: "header" | "query" | "cookie";
  /** Name of the header, parameter or cookie. @default what the card's scheme says */
  readonly name?: string;
}

/** What HTTP basic authentication is made of. */
export interface BasicCredentials {
  /** User name; a colon can't be in it. */
  readonly username: string;
  /** Password. */
  readonly password: SecretSource;
}

/**
 * An API key in a header, a query parameter or a cookie (4.5.2). Used alone, or where the card has no such scheme, it
 * wants `in` and `name`.
 *
 * @throws TypeError for wrong options.
 */
export function apiKey(key: SecretSource, options: ApiKeyOptions = {}): SchemeProvider {
  checkSecret("apiKey", key);
  const { in: place, name } = options;
  if (place !== undefined && !["header", "query", "cookie"].includes(place)) {
    throw new TypeError(`apiKey: found in ${JSON.stringify(place)}, wanted header, query or cookie`);
  }
  const serves = ({ apiKeySecurityScheme: scheme }: SecurityScheme) =>
    scheme !== undefined &&
    (place === undefined || scheme.location === place) &&
    (name === undefined || scheme.name.toLowerCase() === name.toLowerCase());

  async function provide(context: CredentialContext): Promise<RequestCredentials | undefined> {
    const schemes = context.scheme ? [context.scheme.scheme] : fittingSchemes(context, serves);
    const scheme = schemes.length === 1 ? schemes[0]?.apiKeySecurityScheme : undefined;
    const where = { location: place ?? scheme?.location, name: name ?? scheme?.name };
    const secret = await secretOf("apiKey()", key, context);
    if (secret === undefined) return undefined;
    if (where.location === undefined || where.name === undefined) {
      const found = `${schemes.length > 1 ? "several API keys" : "no API key"} among the schemes of the card`;
      throw faultOf(context, found, "one that says where it goes, or the options in and name");
    }
    return placeKey(context, where.location, where.name, secret);
  }
  // Under a scheme's own name, a place of the caller's goes before that of the card.
  const fits = ({ apiKeySecurityScheme: scheme }: SecurityScheme) => scheme !== undefined;
  const provider = Object.freeze(Object.assign(provide, { label: "API key", serves, fits }));
  if (place === undefined || name === undefined) unplaced.add(provider);
  return provider;
}

/** API keys of which only a card says where they go. */
const unplaced = new WeakSet<CredentialProvider>();

/** Whether a provider is of no use for a scheme that the card does not define. */
export function isUnplaced(provider: CredentialProvider): boolean {
  return unplaced.has(provider);
}

/** A bearer token: HTTP bearer, and a token of OAuth 2.0 or OpenID Connect that was obtained elsewhere. */
export function bearer(token: SecretSource): SchemeProvider {
  checkSecret("bearer", token);
  return schemeProvider(
    async (context) => {
      const secret = await secretOf("bearer()", token, context);
      return secret === undefined ? undefined : { headers: { authorization: `Bearer ${secret}` } };
    },
    "bearer",
    (scheme) =>
      isHttp(scheme, "bearer") || Boolean(scheme.oauth2SecurityScheme ?? scheme.openIdConnectSecurityScheme),
  );
}

/**
 * HTTP basic authentication (RFC 7617), in UTF-8.
 *
 * @throws TypeError for a user name with a colon.
 */
export function basic({ username, password }: BasicCredentials): SchemeProvider {
  checkSecret("basic.password", password);
  if (typeof username !== "string" || username.includes(":")) {
    throw new TypeError("basic.username: wanted a text without a colon");
  }
  return schemeProvider(
    async (context) => {
      const secret = await secretOf("basic()", password, context);
      if (secret === undefined) return undefined;
      const bytes = new TextEncoder().encode(`${username}:${secret}`);
      return { headers: { authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` } };
    },
    "basic",
    (scheme) => isHttp(scheme, "basic"),
  );
}

/**
 * Mutual TLS (4.5.6): the certificate is on the connection, which a `fetch` of your own makes; there is nothing to add
 * to a request. It says that requirements with such a scheme can be met.
 */
export function mutualTls(): SchemeProvider {
  return schemeProvider(
    async () => ({ headers: {} }),
    "mutual TLS",
    (scheme) => scheme.mtlsSecurityScheme !== undefined,
  );
}

/** A provider that says what it can serve. */
function schemeProvider(
  provide: CredentialProvider,
  label: string,
  serves: (scheme: SecurityScheme) => boolean,
): SchemeProvider {
  return Object.freeze(Object.assign((context: CredentialContext) => provide(context), { label, serves }));
}

function isHttp({ httpAuthSecurityScheme }: SecurityScheme, name: string): boolean {
  return httpAuthSecurityScheme?.scheme.toLowerCase() === name;
}

/** The schemes of the card that the key fits, for a provider that is used alone. */
function fittingSchemes(
  { requirements }: CredentialContext,
  serves: (scheme: SecurityScheme) => boolean,
): readonly SecurityScheme[] {
  return Object.values(requirements.schemes).filter(serves);
}

/**
 * Headers that frame a request, beside those that say what is asked for and are no secret to anybody: a card that puts a
 * key into one of either wants something else than a key.
 */
const framing = /^(?:host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect)$/i;

function placeKey(
  context: CredentialContext,
  location: string,
  name: string,
  secret: string,
): RequestCredentials {
  // A card could name anything here: what would break out of a header or a cookie is no name.
  const isHeaderForKeys = !framing.test(name) && !isOpenHeader(name);
  const isToken = /^[!#$%&'*+.^_`|~\w-]{1,200}$/.test(name);
  if (location === "query" && name !== "" && name.length <= 200) return { query: { [name]: secret } };
  if (location === "header" && isToken && isHeaderForKeys)
    return { headers: { [name.toLowerCase()]: secret } };
  if (location === "cookie" && isToken && !/[\s;,"\\]/.test(secret)) {
    return { headers: { cookie: `${name}=${secret}` } };
  }
  throw faultOf(
    context,
    `an API key for ${JSON.stringify(location.slice(0, 50))}, where it can't be put`,
    "a header, a query parameter or a cookie for it",
  );
}

async function secretOf(
  maker: string,
  source: SecretSource,
  context: CredentialContext,
): Promise<string | undefined> {
  if (typeof source === "string") return source;
  const who = `the function of ${maker}`;
  const wanted = "a text or undefined";
  const secret: unknown = await askFunction(context, { who, wanted }, () => source(context));
  if (secret === undefined || (typeof secret === "string" && secret !== "")) return secret;
  throw faultOf(context, `that ${who} gave ${kindText(secret)}`, wanted);
}

/** An environment that lacks a secret gives an empty text as a rule, and the message says which it is. */
function checkSecret(option: string, source: SecretSource): void {
  if (typeof source === "function" || (typeof source === "string" && source !== "")) return;
  throw new TypeError(`${option}: found ${kindText(source)}, wanted a text that is not empty, or a function`);
}
