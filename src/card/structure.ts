import type { AgentCard, AgentInterface, AgentSkill } from "../model/card.ts";
import type { JsonObject } from "../model/schema.ts";
import {
  type OAuthFlow,
  oauthFlowNames,
  type SecurityRequirement,
  type SecurityScheme,
  securitySchemeKind,
} from "../model/security.ts";
import { isRecord } from "../util/freeze.ts";
import { canonicalJson } from "../util/json.ts";

/**
 * The structure of a card: what a plan can depend on. Interfaces in card order; everything else in an order of its
 * own; text, icons and unknown members left out; null, absent, false, `[]` and an empty tenant all the same.
 */
export function cardStructure(card: AgentCard): JsonObject {
  const { capabilities } = card;
  return prune({
    interfaces: card.supportedInterfaces.map(interfaceStructure),
    streaming: capabilities.streaming,
    pushNotifications: capabilities.pushNotifications,
    extendedAgentCard: capabilities.extendedAgentCard,
    // Parameters are the extension's own data, where false and absent may differ: they are kept as they are.
    extensions: byText(
      (capabilities.extensions ?? [])
        .filter((extension) => extension.required === true)
        .map((extension) => ({ uri: extension.uri, params: verbatim(extension.params) })),
      (extension) => [extension.uri, canonicalJson(extension.params?.value ?? null)],
    ),
    defaultInputModes: sortedSet(card.defaultInputModes),
    defaultOutputModes: sortedSet(card.defaultOutputModes),
    skills: byText(skillStructures(card), (skill) => [skill.id, canonicalJson(prune(skill))]),
    securitySchemes: Object.fromEntries(
      Object.entries(card.securitySchemes ?? {}).map(([name, scheme]) => [name, schemeStructure(scheme)]),
    ),
    securityRequirements: requirementsStructure(card.securityRequirements),
  });
}

/** The structure of one interface: what makes it another way to reach the agent. */
export function interfaceStructure(entry: AgentInterface): JsonObject {
  return {
    url: entry.url,
    binding: entry.protocolBinding.toUpperCase(),
    version: majorMinor(entry.protocolVersion),
    tenant: entry.tenant === "" ? undefined : entry.tenant,
  };
}

/** `Major.Minor` of a protocol version; a patch is ignored (3.6). */
export function majorMinor(version: string): string {
  return /^\d+\.\d+(?=\.|$)/.exec(version)?.[0] ?? version;
}

/**
 * The structure of the skills: ids, the media types in force, what each needs for authentication. Media types that are
 * the card's default ones, named or not, are left out, since the card's structure has them once: written out for every
 * skill, a card of one megabyte could make gigabytes.
 */
function skillStructures(card: AgentCard) {
  const inputModes = modesBeside(card.defaultInputModes);
  const outputModes = modesBeside(card.defaultOutputModes);
  return card.skills.map((skill: AgentSkill) => ({
    id: skill.id,
    inputModes: inputModes(skill.inputModes),
    outputModes: outputModes(skill.outputModes),
    securityRequirements: requirementsStructure(skill.securityRequirements),
  }));
}

function modesBeside(
  defaults: readonly string[],
): (own: readonly string[] | undefined) => string[] | undefined {
  const usual = canonicalJson(sortedSet(defaults));
  return (own) => {
    if (!own || own.length === 0) return undefined;
    const modes = sortedSet(own);
    return canonicalJson(modes) === usual ? undefined : modes;
  };
}

/** A skill's own media types, or the card's default ones where it names none. */
export function effectiveModes(
  own: readonly string[] | undefined,
  defaults: readonly string[],
): readonly string[] {
  return own && own.length > 0 ? own : defaults;
}

/** The structure of security requirements: alternatives in a fixed order, scopes sorted. */
export function requirementsStructure(
  requirements: readonly SecurityRequirement[] | undefined,
): JsonObject[] {
  const alternatives = (requirements ?? []).map((requirement) => ({
    schemes: Object.fromEntries(
      Object.entries(requirement.schemes).map(([name, scopes]) => [name, { list: sortedSet(scopes.list) }]),
    ),
  }));
  return byText(alternatives, (alternative) => [canonicalJson(alternative)]);
}

/** The structure of a security scheme: without descriptions, and with the names of scopes in place of their texts. */
export function schemeStructure(scheme: SecurityScheme): JsonObject {
  // A scheme of a kind that the spec does not have is known by nothing but its members, so all of them count.
  if (securitySchemeKind(scheme) === "unknown") return withoutDescription(scheme) as JsonObject;
  const { apiKeySecurityScheme, httpAuthSecurityScheme, oauth2SecurityScheme, openIdConnectSecurityScheme } =
    scheme;
  return prune({
    apiKey: apiKeySecurityScheme && {
      location: apiKeySecurityScheme.location,
      name: apiKeySecurityScheme.name,
    },
    http: httpAuthSecurityScheme && {
      scheme: httpAuthSecurityScheme.scheme,
      bearerFormat: httpAuthSecurityScheme.bearerFormat,
    },
    oauth2: oauth2SecurityScheme && {
      metadataUrl: oauth2SecurityScheme.oauth2MetadataUrl,
      flows: Object.fromEntries(
        oauthFlowNames.map((name) => [name, flowStructure(oauth2SecurityScheme.flows[name])]),
      ),
    },
    openIdConnect: openIdConnectSecurityScheme && { url: openIdConnectSecurityScheme.openIdConnectUrl },
    mtls: scheme.mtlsSecurityScheme && {},
  });
}

function flowStructure(flow: OAuthFlow | undefined) {
  if (!flow) return undefined;
  return {
    authorizationUrl: flow.authorizationUrl,
    deviceAuthorizationUrl: flow.deviceAuthorizationUrl,
    tokenUrl: flow.tokenUrl,
    refreshUrl: flow.refreshUrl,
    scopes: Object.keys(flow.scopes ?? {}).sort(),
    pkceRequired: flow.pkceRequired,
  };
}

/** The distinct texts of a list, in order of their UTF-16 code units. */
export function sortedSet(items: readonly string[]): string[] {
  return [...new Set(items)].sort();
}

/** Holds a value that pruning must not look into. */
class Verbatim {
  constructor(readonly value: unknown) {}
}

function verbatim(value: unknown): Verbatim | undefined {
  return value === undefined ? undefined : new Verbatim(value);
}

function prune(value: JsonObject): JsonObject {
  return (pruned(value) ?? {}) as JsonObject;
}

function pruned(value: unknown): unknown {
  if (value instanceof Verbatim) return value.value;
  if (value === null || value === false) return undefined;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => pruned(item) ?? {});
  if (!isRecord(value)) return value;
  const kept: [string, unknown][] = [];
  for (const name of Object.keys(value)) {
    const member = pruned(value[name]);
    if (member !== undefined) kept.push([name, member]);
  }
  return Object.fromEntries(kept);
}

/** Sorts by texts, the first of each item before its second, in order of their UTF-16 code units. */
function byText<T>(items: readonly T[], texts: (item: T) => readonly string[]): T[] {
  return items
    .map((item) => ({ item, texts: texts(item) }))
    .sort((a, b) => compareText(a.texts[0], b.texts[0]) || compareText(a.texts[1], b.texts[1]))
    .map(({ item }) => item);
}

function compareText(a = "", b = ""): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function withoutDescription(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDescription);
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([name]) => name !== "description");
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutDescription(member)]));
}
