import * as z from "zod/mini";
import { type JsonObject, jsonObjectSchema, optional, stringsSchema, wireMap, wireObject } from "./schema.ts";
import {
  type SecurityRequirement,
  type SecurityScheme,
  securityRequirementSchema,
  securitySchemeSchema,
} from "./security.ts";

/** One way to reach the agent: URL, binding, protocol version (4.4.6). */
export interface AgentInterface {
  /** Absolute URL; for gRPC `host:port`. */
  readonly url: string;
  /** Binding: `"JSONRPC"`, `"HTTP+JSON"`, `"GRPC"`, or the URI of a custom one. */
  readonly protocolBinding: string;
  /** Opaque routing identifier that every request then carries. */
  readonly tenant?: string;
  /** Protocol version, `"1.0"`. */
  readonly protocolVersion: string;
}

/** Who runs the agent (4.4.2). */
export interface AgentProvider {
  /** Website. */
  readonly url: string;
  /** Name of the organization. */
  readonly organization: string;
}

/** A protocol extension on the card (4.4.4). */
export interface AgentExtension {
  /** URI that names the extension. */
  readonly uri: string;
  /** Description for people. */
  readonly description?: string;
  /** Whether a client must support it. */
  readonly required?: boolean;
  /** Settings of the extension. */
  readonly params?: JsonObject;
}

/** What the agent can do beyond the basics (4.4.3). */
export interface AgentCapabilities {
  /** Whether it streams. */
  readonly streaming?: boolean;
  /** Whether it sends push notifications. */
  readonly pushNotifications?: boolean;
  /** Its extensions. */
  readonly extensions?: readonly AgentExtension[];
  /** Whether it shows more of its card to an authenticated client. */
  readonly extendedAgentCard?: boolean;
}

/** One thing the agent is good at (4.4.5). */
export interface AgentSkill {
  /** Identifier. */
  readonly id: string;
  /** Name for people. */
  readonly name: string;
  /** Description for people. */
  readonly description: string;
  /** Keywords. */
  readonly tags: readonly string[];
  /** Example prompts. */
  readonly examples?: readonly string[];
  /** Input media types in place of the card's default ones; empty means the default. */
  readonly inputModes?: readonly string[];
  /** Output media types in place of the card's default ones; empty means the default. */
  readonly outputModes?: readonly string[];
  /** What this skill needs for authentication, alternatives. */
  readonly securityRequirements?: readonly SecurityRequirement[];
}

/** A JSON Web Signature over the card (4.4.7). */
export interface AgentCardSignature {
  /** Protected header, base64url. */
  readonly protected: string;
  /** Signature, base64url. */
  readonly signature: string;
  /** Unprotected header. */
  readonly header?: JsonObject;
}

/** What an agent says of itself (4.4.1). */
export interface AgentCard {
  /** Name for people. */
  readonly name: string;
  /** Description for people. */
  readonly description: string;
  /** Ways to reach the agent, the preferred one first. */
  readonly supportedInterfaces: readonly AgentInterface[];
  /** Who runs the agent. */
  readonly provider?: AgentProvider;
  /** Version of the agent. */
  readonly version: string;
  /** URL of documentation. */
  readonly documentationUrl?: string;
  /** What the agent can do beyond the basics. */
  readonly capabilities: AgentCapabilities;
  /** Ways to authenticate, by name. */
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  /** What a call needs for authentication, alternatives. */
  readonly securityRequirements?: readonly SecurityRequirement[];
  /** Input media types of all skills that name none. */
  readonly defaultInputModes: readonly string[];
  /** Output media types of all skills that name none. */
  readonly defaultOutputModes: readonly string[];
  /** What the agent is good at. */
  readonly skills: readonly AgentSkill[];
  /** Signatures over the card. */
  readonly signatures?: readonly AgentCardSignature[];
  /** URL of an icon. */
  readonly iconUrl?: string;
}

const text = z.string();
const list = <T>(item: z.ZodMiniType<T>) => optional(z.array(item));

const interfaceSchema: z.ZodMiniType<AgentInterface> = wireObject({
  url: text,
  protocolBinding: text,
  tenant: optional(text),
  protocolVersion: text,
});

const extensionSchema: z.ZodMiniType<AgentExtension> = wireObject({
  uri: text,
  description: optional(text),
  required: optional(z.boolean()),
  params: optional(jsonObjectSchema),
});

const capabilitiesSchema: z.ZodMiniType<AgentCapabilities> = wireObject({
  streaming: optional(z.boolean()),
  pushNotifications: optional(z.boolean()),
  extensions: list(extensionSchema),
  extendedAgentCard: optional(z.boolean()),
});

const skillSchema: z.ZodMiniType<AgentSkill> = wireObject({
  id: text,
  name: text,
  description: text,
  tags: z._default(stringsSchema, () => []),
  examples: optional(stringsSchema),
  inputModes: optional(stringsSchema),
  outputModes: optional(stringsSchema),
  securityRequirements: list(securityRequirementSchema),
});

const signatureSchema: z.ZodMiniType<AgentCardSignature> = wireObject({
  protected: text,
  signature: text,
  header: optional(jsonObjectSchema),
});

/**
 * Schema of {@link AgentCard}. `skills` and the default modes become `[]` where they are left out, as agents in the
 * field do; everything else that is REQUIRED must be there. The list of interfaces is judged elsewhere, since its
 * absence is how an older card shows.
 */
export const agentCardSchema: z.ZodMiniType<AgentCard> = wireObject({
  name: text,
  description: text,
  supportedInterfaces: z._default(z.array(interfaceSchema), () => []),
  provider: optional(wireObject({ url: text, organization: text })),
  version: text,
  documentationUrl: optional(text),
  capabilities: capabilitiesSchema,
  securitySchemes: optional(wireMap(securitySchemeSchema)),
  securityRequirements: list(securityRequirementSchema),
  defaultInputModes: z._default(stringsSchema, () => []),
  defaultOutputModes: z._default(stringsSchema, () => []),
  skills: z._default(z.array(skillSchema), () => []),
  signatures: list(signatureSchema),
  iconUrl: optional(text),
});
