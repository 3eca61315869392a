import { effectiveModes } from "../card/structure.ts";
import type { AgentCard } from "../model/card.ts";
import { type CardRequirements, requirementKinds, type UnmetRequirement } from "../model/requirements.ts";
import { checkKind, checkOptions, type OptionKinds } from "../util/options.ts";

const kinds: OptionKinds<CardRequirements> = Object.freeze({
  skills: "list",
  streaming: "flag",
  pushNotifications: "flag",
  inputModes: "list",
  outputModes: "list",
  extensions: "list",
  securitySchemes: "list",
});

/**
 * Checks requirements: one that is misspelt would not be enforced.
 *
 * @param option - what they are called, for messages.
 * @throws TypeError naming what is wrong.
 */
export function checkRequirements(requires: CardRequirements | undefined, option = "requires"): void {
  checkOptions(requires, kinds, option);
  for (const list of requirementKinds.lists) {
    const wrong = (requires?.[list] ?? []).find((item: unknown) => typeof item !== "string");
    if (wrong !== undefined) throw new TypeError(`${option}.${list}: wanted a list of texts`);
  }
  checkExtensions(`${option}.extensions`, requires?.extensions);
}

/**
 * Checks URIs of extensions: they go out in one header, with a comma between them (3.2.6).
 *
 * @throws TypeError naming the option.
 */
export function checkExtensions(option: string, found: readonly string[] | undefined): void {
  checkKind(option, found, "list");
  const wrong = found?.find((uri) => typeof uri !== "string" || !/^[\x21-\x2b\x2d-\x7e]+$/.test(uri));
  if (wrong === undefined) return;
  throw new TypeError(`${option}: found ${JSON.stringify(wrong)}, wanted a URI without commas and spaces`);
}

/** Every requirement of a plan that a card does not meet, and what the card offers in its place. */
export function unmetRequirements(
  card: AgentCard,
  requirements: CardRequirements,
  declaredExtensions: readonly string[] = [],
): readonly UnmetRequirement[] {
  const unmet: UnmetRequirement[] = [];
  const skillIds = new Set(card.skills.map((skill) => skill.id));
  for (const wanted of requirements.skills ?? []) {
    if (!skillIds.has(wanted)) unmet.push({ requirement: "skills", wanted, offered: [...skillIds] });
  }
  for (const capability of requirementKinds.flags) {
    if (requirements[capability] === true && card.capabilities[capability] !== true) {
      unmet.push({ requirement: capability, wanted: true, offered: false });
    }
  }
  unmet.push(
    ...unmetModes(card, requirements, "inputModes"),
    ...unmetModes(card, requirements, "outputModes"),
  );
  const extensions = card.capabilities.extensions ?? [];
  const uris = new Set(extensions.map((extension) => extension.uri));
  for (const wanted of requirements.extensions ?? []) {
    if (!uris.has(wanted)) unmet.push({ requirement: "extensions", wanted, offered: [...uris] });
  }
  const schemes = card.securitySchemes ?? {};
  for (const wanted of requirements.securitySchemes ?? []) {
    if (Object.hasOwn(schemes, wanted)) continue;
    unmet.push({ requirement: "securitySchemes", wanted, offered: Object.keys(schemes) });
  }
  const declared = new Set([...declaredExtensions, ...(requirements.extensions ?? [])]);
  for (const { uri, required } of extensions) {
    // 3.3.4: the agent refuses a client that did not declare a required extension; better here than after sending.
    if (required && !declared.has(uri)) {
      unmet.push({ requirement: "requiredExtension", wanted: uri, offered: [...declared] });
    }
  }
  return Object.freeze(unmet);
}

/** Two sets of requirements as one: what either needs. */
export function joinRequirements(a: CardRequirements, b: CardRequirements): CardRequirements {
  const joined: Record<string, unknown> = {};
  for (const list of requirementKinds.lists) {
    const items = [...new Set([...(a[list] ?? []), ...(b[list] ?? [])])];
    if (items.length > 0) joined[list] = Object.freeze(items);
  }
  for (const flag of requirementKinds.flags) {
    if (a[flag] || b[flag]) joined[flag] = true;
  }
  return Object.freeze(joined);
}

/** Media types that none of the plan's skills, or without any the card itself, can do. */
function unmetModes(
  card: AgentCard,
  requirements: CardRequirements,
  member: "inputModes" | "outputModes",
): UnmetRequirement[] {
  const wanted = requirements[member] ?? [];
  if (wanted.length === 0) return [];
  const defaults = member === "inputModes" ? card.defaultInputModes : card.defaultOutputModes;
  const required = new Set(requirements.skills ?? []);
  const skills = card.skills.filter((skill) => required.has(skill.id));
  // Skills that name no modes share the card's list: each list is looked at once.
  const offers = new Set(skills.map((skill) => effectiveModes(skill[member], defaults)));
  if (offers.size === 0) offers.add(defaults);
  return wanted.flatMap((mode) => {
    // A list that the card leaves empty promises nothing and forbids nothing.
    const lacking = [...offers].find(
      (offer) => offer.length > 0 && !offer.some((range) => matchesMode(range, mode)),
    );
    return lacking === undefined ? [] : [{ requirement: member, wanted: mode, offered: lacking }];
  });
}

/** Whether a media range of a card covers a media type; parameters and case do not count. */
export function matchesMode(range: string, mode: string): boolean {
  const [type = "", subtype] = bare(range);
  const [wantedType = "", wantedSubtype] = bare(mode);
  if (type === "*" || wantedType === "*") return true;
  // Cards, and plans, of older agents say "text" for every text type.
  const isRange = [subtype, wantedSubtype].some((name) => name === undefined || name === "*");
  return type === wantedType && (isRange || subtype === wantedSubtype);
}

function bare(mode: string): string[] {
  return (mode.split(";")[0] ?? "").trim().toLowerCase().split("/");
}
