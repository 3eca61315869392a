import * as z from "zod/mini";
import { isRecord } from "../util/freeze.ts";
import { optional, wireMap, wireObject } from "./schema.ts";

/** An API key in a header, a query parameter or a cookie (4.5.2). */
export interface APIKeySecurityScheme {
  /** Description for people. */
  readonly description?: string;
  /** Where the key goes: `"query"`, `"header"` or `"cookie"`. */
  readonly location: string;
  /** Name of the header, parameter or cookie. */
  readonly name: string;
}

/** HTTP authentication by the `Authorization` header (4.5.3). */
export interface HTTPAuthSecurityScheme {
  /** Description for people. */
  readonly description?: string;
  /** Name of the scheme, `"Bearer"`. */
  readonly scheme: string;
  /** Hint on the token's format, `"JWT"`. */
  readonly bearerFormat?: string;
}

/** One OAuth 2.0 flow: URLs and the scopes on offer (4.5.8 to 4.5.10). */
export interface OAuthFlow {
  /** Where the user agrees. */
  readonly authorizationUrl?: string;
  /** Where a device asks for its code. */
  readonly deviceAuthorizationUrl?: string;
  /** Where tokens are given out. */
  readonly tokenUrl?: string;
  /** Where tokens are renewed. */
  readonly refreshUrl?: string;
  /** Scope names and what each allows. */
  readonly scopes?: Readonly<Record<string, string>>;
  /** Whether PKCE is required. */
  readonly pkceRequired?: boolean;
}

/** OAuth 2.0 (4.5.4). */
export interface OAuth2SecurityScheme {
  /** Description for people. */
  readonly description?: string;
  /** The flows on offer by name: `authorizationCode`, `clientCredentials`, `implicit`, `password`, `deviceCode`. */
  readonly flows: Readonly<Record<string, OAuthFlow>>;
  /** URL of the authorization server's metadata (RFC 8414). */
  readonly oauth2MetadataUrl?: string;
}

/** OpenID Connect (4.5.5). */
export interface OpenIdConnectSecurityScheme {
  /** Description for people. */
  readonly description?: string;
  /** URL of the provider's metadata. */
  readonly openIdConnectUrl: string;
}

/** Mutual TLS (4.5.6). */
export interface MutualTlsSecurityScheme {
  /** Description for people. */
  readonly description?: string;
}

/** How an agent can be authenticated to: one of five, by the member that is there (4.5.1). */
export interface SecurityScheme {
  /** An API key. */
  readonly apiKeySecurityScheme?: APIKeySecurityScheme;
  /** HTTP authentication. */
  readonly httpAuthSecurityScheme?: HTTPAuthSecurityScheme;
  /** OAuth 2.0. */
  readonly oauth2SecurityScheme?: OAuth2SecurityScheme;
  /** OpenID Connect. */
  readonly openIdConnectSecurityScheme?: OpenIdConnectSecurityScheme;
  /** Mutual TLS. */
  readonly mtlsSecurityScheme?: MutualTlsSecurityScheme;
}

/** The scopes asked for under one scheme. */
export interface StringList {
  /** Scope names. */
  readonly list: readonly string[];
}

/** One alternative: all of its schemes together (`SecurityRequirement` of the proto). */
export interface SecurityRequirement {
  /** Schemes by name, each with its scopes. */
  readonly schemes: Readonly<Record<string, StringList>>;
}

const description = optional(z.string());
const text = z.string();

/** Flows by name, each with the members that it must have (4.5.7). */
const requiredUrls = {
  authorizationCode: ["authorizationUrl", "tokenUrl"],
  clientCredentials: ["tokenUrl"],
  implicit: [],
  password: [],
  deviceCode: ["deviceAuthorizationUrl", "tokenUrl"],
} as const;

/** Names of the flows that the spec has. */
export const oauthFlowNames = Object.freeze(Object.keys(requiredUrls));

function flowSchema(required: readonly string[]): z.ZodMiniType<OAuthFlow> {
  const urls = ["authorizationUrl", "deviceAuthorizationUrl", "tokenUrl", "refreshUrl"].map(
    (name) => [name, required.includes(name) ? text : optional(text)] as const,
  );
  const shape = {
    ...Object.fromEntries(urls),
    // The name of a scope counts also where its text is left out.
    scopes: optional(wireMap(text, "")),
    pkceRequired: optional(z.boolean()),
  };
  return wireObject(shape) as z.ZodMiniType<OAuthFlow>;
}

const flowsSchema = fromCase(
  "flow",
  wireObject(
    Object.fromEntries(
      Object.entries(requiredUrls).map(([name, urls]) => [name, optional(flowSchema(urls))]),
    ),
  ) as unknown as z.ZodMiniType<Readonly<Record<string, OAuthFlow>>>,
);

/** Schema of {@link SecurityScheme}; a scheme of a kind that the spec does not have is kept as it is. */
export const securitySchemeSchema: z.ZodMiniType<SecurityScheme> = fromCase(
  "scheme",
  wireObject({
    apiKeySecurityScheme: optional(wireObject({ description, location: text, name: text })),
    httpAuthSecurityScheme: optional(wireObject({ description, scheme: text, bearerFormat: optional(text) })),
    oauth2SecurityScheme: optional(
      wireObject({ description, flows: flowsSchema, oauth2MetadataUrl: optional(text) }),
    ),
    openIdConnectSecurityScheme: optional(wireObject({ description, openIdConnectUrl: text })),
    mtlsSecurityScheme: optional(wireObject({ description })),
  }),
);

/**
 * Reads `{ [member]: { $case, value } }` as `{ [$case]: value }`: the inner form of a one-of, which servers of the
 * official JavaScript SDK put on their cards as it is.
 */
function fromCase<T>(member: string, schema: z.ZodMiniType<T>): z.ZodMiniType<T> {
  return z.pipe(
    z.transform((value: unknown) => {
      const found = caseOf(value, member);
      if (!found || !isRecord(value)) return value;
      const { [member]: _inner, ...rest } = value;
      return { ...rest, [found.name]: found.value };
    }),
    schema,
  ) as unknown as z.ZodMiniType<T>;
}

/** The one-of in its inner form that stands under a member, if one does. */
export function caseOf(value: unknown, member: string): { name: string; value: unknown } | undefined {
  const inner = isRecord(value) ? value[member] : undefined;
  if (!isRecord(inner) || typeof inner.$case !== "string" || inner.$case === "__proto__") return undefined;
  return { name: inner.$case, value: inner.value };
}

/**
 * Schema of {@link SecurityRequirement}. The proto nests `schemes` and `list`; the prose of 3.1.11 and older cards
 * write `{ "oauth": ["read"] }`. Both are read, so the shape is checked here, where the paths are still those of the
 * card.
 */
export const securityRequirementSchema: z.ZodMiniType<SecurityRequirement> = z.pipe(
  z.transform((value: unknown, context) => {
    const issue = (path: (string | number)[], input: unknown, wanted: string) =>
      void context.issues.push({ code: "invalid_type", expected: wanted as "object", path, input });
    if (!isRecord(value)) return issue([], value, "object");
    const { schemes, ...rest } = value;
    const isNested = schemes !== undefined && schemes !== null;
    if (isNested && !isRecord(schemes)) return issue(["schemes"], schemes, "object");
    const read = Object.entries(isRecord(schemes) ? schemes : rest).map(([name, scopes]) => {
      const at = isNested ? ["schemes", name] : [name];
      const list = isRecord(scopes) ? (scopes.list ?? []) : (scopes ?? []);
      const listAt = isRecord(scopes) ? [...at, "list"] : at;
      if (!Array.isArray(list)) issue(listAt, list, isNested && !isRecord(scopes) ? "object" : "array");
      else {
        list.forEach((scope, index) => {
          if (typeof scope !== "string") issue([...listAt, index], scope, "string");
        });
      }
      return [name, { ...(isRecord(scopes) ? scopes : {}), list }] as const;
    });
    return { ...(isNested ? rest : {}), schemes: Object.fromEntries(read) };
  }),
  z.custom<SecurityRequirement>(),
);

/** Kind of a security scheme, as pins and differences name it. */
export type SecuritySchemeKind = "apiKey" | "http" | "oauth2" | "openIdConnect" | "mutualTLS" | "unknown";

/** Which kind a scheme is, by the member that is there. */
export function securitySchemeKind(scheme: SecurityScheme): SecuritySchemeKind {
  if (scheme.apiKeySecurityScheme) return "apiKey";
  if (scheme.httpAuthSecurityScheme) return "http";
  if (scheme.oauth2SecurityScheme) return "oauth2";
  if (scheme.openIdConnectSecurityScheme) return "openIdConnect";
  return scheme.mtlsSecurityScheme ? "mutualTLS" : "unknown";
}
