import * as z from "zod/mini";
import { type JsonObject, optional, stringsSchema, wireObject } from "./schema.ts";

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

const flowSchema: z.ZodMiniType<OAuthFlow> = wireObject({
  authorizationUrl: optional(z.string()),
  deviceAuthorizationUrl: optional(z.string()),
  tokenUrl: optional(z.string()),
  refreshUrl: optional(z.string()),
  scopes: optional(z.record(z.string(), z.string())),
  pkceRequired: optional(z.boolean()),
});

const flowNames = ["authorizationCode", "clientCredentials", "implicit", "password", "deviceCode"];
const flowsSchema: z.ZodMiniType<Readonly<Record<string, OAuthFlow>>> = wireObject(
  Object.fromEntries(flowNames.map((name) => [name, optional(flowSchema)])),
) as unknown as z.ZodMiniType<Readonly<Record<string, OAuthFlow>>>;

/** Schema of {@link SecurityScheme}; a scheme of a kind that the spec does not have is kept as it is. */
export const securitySchemeSchema: z.ZodMiniType<SecurityScheme> = wireObject({
  apiKeySecurityScheme: optional(wireObject({ description, location: z.string(), name: z.string() })),
  httpAuthSecurityScheme: optional(
    wireObject({ description, scheme: z.string(), bearerFormat: optional(z.string()) }),
  ),
  oauth2SecurityScheme: optional(
    wireObject({ description, flows: flowsSchema, oauth2MetadataUrl: optional(z.string()) }),
  ),
  openIdConnectSecurityScheme: optional(wireObject({ description, openIdConnectUrl: z.string() })),
  mtlsSecurityScheme: optional(wireObject({ description })),
});

/**
 * Schema of {@link SecurityRequirement}. The proto nests `schemes` and `list`; the prose of 3.1.11 and older cards
 * write `{ "oauth": ["read"] }`. Both are read.
 */
export const securityRequirementSchema: z.ZodMiniType<SecurityRequirement> = z.pipe(
  z.transform((value: unknown) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const { schemes, ...rest } = value as JsonObject;
    if (schemes === undefined || schemes === null) return { schemes: listsOf(rest) };
    return { ...rest, schemes: listsOf(schemes) };
  }),
  z.looseObject({ schemes: z.record(z.string(), z.looseObject({ list: stringsSchema })) }),
);

function listsOf(schemes: unknown): unknown {
  if (typeof schemes !== "object" || schemes === null || Array.isArray(schemes)) return schemes;
  const entries = Object.entries(schemes).map(([name, scopes]) => {
    if (Array.isArray(scopes)) return [name, { list: scopes }];
    if (typeof scopes !== "object" || scopes === null) return [name, scopes ?? { list: [] }];
    return [name, { ...scopes, list: (scopes as JsonObject).list ?? [] }];
  });
  return Object.fromEntries(entries);
}

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
