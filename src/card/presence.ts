/** Which members the messages of a card have, and which of them are written where they are empty (8.4.1, 5.7). */

/** How a member is kept where it is empty, or is not there at all. */
export type Presence =
  /** REQUIRED: always written. */
  | "required"
  /** Marked `optional`, or a message: written where it is set. */
  | "explicit"
  /** Everything else: written where it differs from its default. */
  | "implicit";

/** What a member holds. A name is that of another message. */
export type MemberType =
  | { readonly kind: "text" | "flag" | "texts" | "json" | "text-map" }
  | { readonly kind: "message" | "messages" | "message-map"; readonly message: MessageName };

/** One member of a message. */
export interface MemberFacts {
  readonly presence: Presence;
  readonly type: MemberType;
}

/** A message of the card. */
export type MessageName =
  | "AgentCard"
  | "AgentInterface"
  | "AgentProvider"
  | "AgentCapabilities"
  | "AgentExtension"
  | "AgentSkill"
  | "SecurityRequirement"
  | "StringList"
  | "SecurityScheme"
  | "APIKeySecurityScheme"
  | "HTTPAuthSecurityScheme"
  | "OAuth2SecurityScheme"
  | "OpenIdConnectSecurityScheme"
  | "MutualTlsSecurityScheme"
  | "OAuthFlows"
  | "AuthorizationCodeOAuthFlow"
  | "ClientCredentialsOAuthFlow"
  | "LegacyOAuthFlow"
  | "DeviceCodeOAuthFlow";

type Members = Readonly<Record<string, MemberFacts>>;

const plain = (presence: Presence, kind: "text" | "flag" | "texts" | "json" | "text-map"): MemberFacts => ({
  presence,
  type: { kind },
});
const nested = (
  presence: Presence,
  kind: "message" | "messages" | "message-map",
  message: MessageName,
): MemberFacts => ({ presence, type: { kind, message } });

const requiredText = plain("required", "text");
const requiredTexts = plain("required", "texts");
const requiredTextMap = plain("required", "text-map");
const text = plain("implicit", "text");
const texts = plain("implicit", "texts");
const optionalText = plain("explicit", "text");
const optionalFlag = plain("explicit", "flag");
const requirements = nested("implicit", "messages", "SecurityRequirement");

/** The members of every message of a card. */
export const messageMembers: Readonly<Record<MessageName, Members>> = Object.freeze({
  AgentCard: {
    name: requiredText,
    description: requiredText,
    supportedInterfaces: nested("required", "messages", "AgentInterface"),
    provider: nested("explicit", "message", "AgentProvider"),
    version: requiredText,
    documentationUrl: optionalText,
    capabilities: nested("required", "message", "AgentCapabilities"),
    securitySchemes: nested("implicit", "message-map", "SecurityScheme"),
    securityRequirements: requirements,
    defaultInputModes: requiredTexts,
    defaultOutputModes: requiredTexts,
    skills: nested("required", "messages", "AgentSkill"),
    iconUrl: optionalText,
  },
  AgentInterface: {
    url: requiredText,
    protocolBinding: requiredText,
    tenant: text,
    protocolVersion: requiredText,
  },
  AgentProvider: { url: requiredText, organization: requiredText },
  AgentCapabilities: {
    streaming: optionalFlag,
    pushNotifications: optionalFlag,
    extensions: nested("implicit", "messages", "AgentExtension"),
    extendedAgentCard: optionalFlag,
  },
  AgentExtension: {
    uri: text,
    description: text,
    required: plain("implicit", "flag"),
    params: plain("explicit", "json"),
  },
  AgentSkill: {
    id: requiredText,
    name: requiredText,
    description: requiredText,
    tags: requiredTexts,
    examples: texts,
    inputModes: texts,
    outputModes: texts,
    securityRequirements: requirements,
  },
  SecurityRequirement: { schemes: nested("implicit", "message-map", "StringList") },
  StringList: { list: texts },
  SecurityScheme: {
    apiKeySecurityScheme: nested("explicit", "message", "APIKeySecurityScheme"),
    httpAuthSecurityScheme: nested("explicit", "message", "HTTPAuthSecurityScheme"),
    oauth2SecurityScheme: nested("explicit", "message", "OAuth2SecurityScheme"),
    openIdConnectSecurityScheme: nested("explicit", "message", "OpenIdConnectSecurityScheme"),
    mtlsSecurityScheme: nested("explicit", "message", "MutualTlsSecurityScheme"),
  },
  APIKeySecurityScheme: { description: text, location: requiredText, name: requiredText },
  HTTPAuthSecurityScheme: { description: text, scheme: requiredText, bearerFormat: text },
  OAuth2SecurityScheme: {
    description: text,
    flows: nested("required", "message", "OAuthFlows"),
    oauth2MetadataUrl: text,
  },
  OpenIdConnectSecurityScheme: { description: text, openIdConnectUrl: requiredText },
  MutualTlsSecurityScheme: { description: text },
  OAuthFlows: {
    authorizationCode: nested("explicit", "message", "AuthorizationCodeOAuthFlow"),
    clientCredentials: nested("explicit", "message", "ClientCredentialsOAuthFlow"),
    implicit: nested("explicit", "message", "LegacyOAuthFlow"),
    password: nested("explicit", "message", "LegacyOAuthFlow"),
    deviceCode: nested("explicit", "message", "DeviceCodeOAuthFlow"),
  },
  AuthorizationCodeOAuthFlow: {
    authorizationUrl: requiredText,
    tokenUrl: requiredText,
    refreshUrl: text,
    scopes: requiredTextMap,
    pkceRequired: plain("implicit", "flag"),
  },
  ClientCredentialsOAuthFlow: { tokenUrl: requiredText, refreshUrl: text, scopes: requiredTextMap },
  // The implicit and the password flow: deprecated, and nothing of them is REQUIRED.
  LegacyOAuthFlow: {
    authorizationUrl: text,
    tokenUrl: text,
    refreshUrl: text,
    scopes: plain("implicit", "text-map"),
  },
  DeviceCodeOAuthFlow: {
    deviceAuthorizationUrl: requiredText,
    tokenUrl: requiredText,
    refreshUrl: text,
    scopes: requiredTextMap,
  },
});
