/** What a plan needs from the card. Everything left out is not needed. */
export interface CardRequirements {
  /** Ids of skills that must be there. */
  readonly skills?: readonly string[];
  /** Whether the agent must stream. */
  readonly streaming?: boolean;
  /** Whether the agent must send push notifications. */
  readonly pushNotifications?: boolean;
  /** Media types that must be accepted, by the required skills or, without any, by the card's default modes. */
  readonly inputModes?: readonly string[];
  /** Media types that must be produced, likewise. */
  readonly outputModes?: readonly string[];
  /** URIs of extensions that the card must list. */
  readonly extensions?: readonly string[];
  /** Names of security schemes that must be there. */
  readonly securitySchemes?: readonly string[];
}

/** Requirements that are lists, and those that are yes or no. */
export const requirementKinds = Object.freeze({
  lists: ["skills", "inputModes", "outputModes", "extensions", "securitySchemes"],
  flags: ["streaming", "pushNotifications"],
} as const);

/** Name of one kind of requirement. */
export type RequirementName = keyof CardRequirements | "requiredExtension";

/** One requirement that a card does not meet. */
export interface UnmetRequirement {
  /** Which kind. `requiredExtension` is the agent's own demand, that the caller did not declare. */
  readonly requirement: RequirementName;
  /** What was wanted: a skill id, a media type, a URI, a scheme name, or `true`. */
  readonly wanted: string | boolean;
  /** What the card offers in its place. */
  readonly offered: readonly string[] | boolean;
}
