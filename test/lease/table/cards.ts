import type {
  AgentCard,
  AgentCardSignature,
  AgentExtension,
  AgentInterface,
  AgentSkill,
} from "../../../src/model/card.ts";
import type { JsonObject } from "../../../src/model/schema.ts";
import type { SecurityScheme } from "../../../src/model/security.ts";

/** A card as its JSON. */
export type CardJson = AgentCard & JsonObject;

/** Makes another card out of one; the one is left as it is. */
export type Edit = (card: CardJson) => CardJson;

/** The JSON-RPC interface of the base card, with other members. */
export function rpc(members: Partial<AgentInterface> & JsonObject = {}): AgentInterface {
  return { url: "https://agent.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0", ...members };
}

/** An HTTP+JSON interface. */
export const rest: AgentInterface = {
  url: "https://agent.example/v1",
  protocolBinding: "HTTP+JSON",
  protocolVersion: "1.0",
};

/** A skill by its id, with other members. */
export function skill(id: string, members: Partial<AgentSkill> & JsonObject = {}): AgentSkill {
  return { id, name: `Skill ${id}`, description: `Does ${id}`, tags: ["text"], ...members };
}

/** An extension at `https://ext.example/<name>`, with other members. */
export function extension(name: string, members: Partial<AgentExtension> = {}): AgentExtension {
  return { uri: `https://ext.example/${name}`, ...members };
}

/** An OAuth 2.0 scheme of client credentials with these scopes and their texts. */
export function oauth2(scopes: Readonly<Record<string, string>>): SecurityScheme {
  return {
    oauth2SecurityScheme: {
      flows: { clientCredentials: { tokenUrl: "https://auth.example/token", scopes } },
    },
  };
}

/** An OpenID Connect scheme at a host. */
export function openId(host: string, description?: string): SecurityScheme {
  const url = { openIdConnectUrl: `https://${host}/.well-known/openid-configuration` };
  return { openIdConnectSecurityScheme: description === undefined ? url : { ...url, description } };
}

/** An API key in a header. */
export const apiKey: SecurityScheme = { apiKeySecurityScheme: { location: "header", name: "X-Key" } };

/**
 * The card that every row starts from: one JSON-RPC interface, streaming and push, two media types each way, the skills
 * `summarize` and `translate`, an OpenID Connect scheme that calls need and an API key that they do not.
 */
export const baseCard: CardJson = {
  name: "Atlas",
  description: "Index of 1547 documents",
  version: "2.1.0",
  provider: { organization: "Example", url: "https://example.com" },
  supportedInterfaces: [rpc()],
  capabilities: { streaming: true, pushNotifications: true },
  defaultInputModes: ["text/plain", "application/pdf"],
  defaultOutputModes: ["text/plain", "application/json"],
  skills: [skill("summarize"), skill("translate")],
  securitySchemes: { login: openId("auth.example"), key: apiKey },
  securityRequirements: [{ schemes: { login: { list: ["read", "write"] } } }],
};

const aSignature: AgentCardSignature = { protected: "eyJhbGciOiJFUzI1NiJ9", signature: "c2lnbmF0dXJl" };

/** Edits by name. A member that is set to `undefined` is taken away. */
export const edit = {
  /** Sets members of the card itself. */
  card: (members: JsonObject): Edit => {
    return (card) => withMembers(card, members);
  },
  /** Sets members of the capabilities. */
  can: (members: JsonObject): Edit => {
    return (card) => ({ ...card, capabilities: withMembers(card.capabilities, members) });
  },
  /** Lists these extensions and no others. */
  extensions: (...extensions: readonly AgentExtension[]): Edit => edit.can({ extensions }),
  /** Lists these interfaces and no others. */
  interfaces: (...supportedInterfaces: readonly AgentInterface[]): Edit => edit.card({ supportedInterfaces }),
  /** Takes these media types, and no others, by default. */
  takes: (...defaultInputModes: readonly string[]): Edit => edit.card({ defaultInputModes }),
  /** Gives these media types, and no others, by default. */
  gives: (...defaultOutputModes: readonly string[]): Edit => edit.card({ defaultOutputModes }),
  /** Lists these skills and no others. */
  skills: (...skills: readonly AgentSkill[]): Edit => edit.card({ skills }),
  /** Lists one more skill, last. */
  newSkill: (added: AgentSkill): Edit => {
    return (card) => ({ ...card, skills: [...card.skills, added] });
  },
  /** Changes a skill that is listed. */
  skill: (id: string) => ({
    /** Takes it away. */
    gone: ((card) => ({ ...card, skills: card.skills.filter((item) => item.id !== id) })) satisfies Edit,
    /** Sets members of it. */
    has: (members: JsonObject): Edit => {
      return (card) => ({
        ...card,
        skills: card.skills.map((item) => (item.id === id ? withMembers(item, members) : item)),
      });
    },
  }),
  /** Sets security schemes by name. */
  schemes: (schemes: Readonly<Record<string, JsonObject | SecurityScheme | null | undefined>>): Edit => {
    return (card) => ({ ...card, securitySchemes: withMembers(card.securitySchemes ?? {}, schemes) });
  },
  /** Needs one of these alternatives for a call, each of scopes by scheme. */
  needsAuth: (...alternatives: readonly Readonly<Record<string, readonly string[]>>[]): Edit => {
    return edit.card({ securityRequirements: alternatives.map(requirement) });
  },
  /** Bears a signature; whose it is, the row says. */
  signed: ((card) => ({ ...card, signatures: [aSignature] })) satisfies Edit,
  /** Bears no signature. */
  unsigned: (({ signatures: _gone, ...card }) => card as CardJson) satisfies Edit,
};

/** One alternative of security requirements, of scopes by scheme. */
export function requirement(scopes: Readonly<Record<string, readonly string[]>>) {
  return { schemes: Object.fromEntries(Object.entries(scopes).map(([name, list]) => [name, { list }])) };
}

/** The card that some edits make of another. */
export function edited(card: CardJson, edits: readonly Edit[]): CardJson {
  return edits.reduce((before, apply) => apply(before), card);
}

function withMembers<T extends object>(value: T, members: JsonObject): T {
  const kept = Object.entries({ ...value, ...members }).filter(([, member]) => member !== undefined);
  return Object.fromEntries(kept) as T;
}
