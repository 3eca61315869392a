import type { AgentInterface } from "./card.ts";
import type { JsonObject } from "./schema.ts";
import type { SecuritySchemeKind } from "./security.ts";

/** What the card says of capabilities, as plain yes and no. */
export interface PinnedCapabilities {
  /** Whether the agent streams. */
  readonly streaming: boolean;
  /** Whether the agent sends push notifications. */
  readonly pushNotifications: boolean;
  /** Whether the agent has an extended card. */
  readonly extendedAgentCard: boolean;
  /** URIs of its extensions. */
  readonly extensions: readonly string[];
}

/** The two digests that name a card's content. */
export interface CardDigests {
  /** `sha256:` and hex: over the whole card as received, without its signatures. */
  readonly digest: string;
  /** `sha256-s1:` and hex: over what a plan can depend on. */
  readonly structuralDigest: string;
}

/** An extended card, pinned beside the public one. */
export interface PinnedExtendedCard extends CardDigests {
  /** The card as received. */
  readonly card: JsonObject;
}

/** What a handle was planned against, frozen when the message is sent. */
export interface CardPin extends CardDigests {
  /** The agent's version. */
  readonly version: string;
  /** Protocol version of the chosen interface, `Major.Minor`. */
  readonly protocolVersion: string;
  /** The chosen interface. */
  readonly interface: AgentInterface;
  /** Skill ids in card order. */
  readonly skills: readonly string[];
  /** Capabilities. */
  readonly capabilities: PinnedCapabilities;
  /** Default input media types. */
  readonly inputModes: readonly string[];
  /** Default output media types. */
  readonly outputModes: readonly string[];
  /** Security schemes by name and kind, in order of their names. */
  readonly securitySchemes: readonly { readonly name: string; readonly kind: SecuritySchemeKind }[];
  /** RFC 7638 thumbprint of the key that signed the card, when a signature was verified. */
  readonly signer?: string;
  /** When the pin was taken, RFC 3339. */
  readonly pinnedAt: string;
  /** The extended card, once it was read for this principal: the one that requirements are judged by then. */
  readonly extended?: PinnedExtendedCard;
  /** The card as received, so that a later difference can be told member by member, in another process too. */
  readonly card: JsonObject;
}
