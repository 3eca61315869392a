import type { AgentCard } from "../model/card.ts";
import type { CardChange } from "../model/drift.ts";
import type { JsonObject } from "../model/schema.ts";
import { own } from "../util/freeze.ts";
import { jsonPointer } from "../util/json.ts";
import { change, isSameJson } from "./change.ts";
import { diffCapabilities } from "./diff-capabilities.ts";
import { diffInterfaces } from "./diff-interfaces.ts";
import { diffSecurity, diffSignatures } from "./diff-security.ts";
import { diffSkills } from "./diff-skills.ts";
import { type CardInput, cardFromInput } from "./parse.ts";

const texts = ["name", "description", "provider", "documentationUrl", "iconUrl"];

/**
 * Every difference between two cards, in card order: interfaces, capabilities, modes, skills, security, texts, unknown
 * members.
 *
 * @throws CardUnreadableError and CardInvalidError for what is no agent card.
 */
export function diffCards(before: CardInput, after: CardInput): readonly CardChange[] {
  const a = cardFromInput(before);
  const b = cardFromInput(after);
  return diffReadCards({ json: a.json, card: a.card() }, { json: b.json, card: b.card() });
}

/** A card's JSON beside its typed view. */
export interface DiffSide {
  readonly json: JsonObject;
  readonly card: AgentCard;
}

/** {@link diffCards} for cards that are already read. */
export function diffReadCards(before: DiffSide, after: DiffSide): readonly CardChange[] {
  const a = before.card;
  const b = after.card;
  const found = [
    ...diffInterfaces(a, b),
    ...diffCapabilities(a, b),
    ...diffModes("defaultInputModes", a.defaultInputModes, b.defaultInputModes),
    ...diffModes("defaultOutputModes", a.defaultOutputModes, b.defaultOutputModes),
    ...diffSkills(a, b),
    ...diffSecurity(a, b),
    ...diffSignatures(a, b),
    ...(a.version === b.version
      ? []
      : [change(["version"], "version-changed", "cosmetic", { before: a.version, after: b.version })]),
  ];
  return Object.freeze([...found, ...diffRest(before.json, after.json, found)]);
}

/** Media types that came or went. */
function diffModes(
  member: "defaultInputModes" | "defaultOutputModes",
  before: readonly string[],
  after: readonly string[],
): CardChange[] {
  const was = new Set(before);
  const is = new Set(after);
  const removed = before.flatMap((mode, index) =>
    is.has(mode) ? [] : [change([member, index], "mode-removed", "breaking", { before: mode })],
  );
  const added = after.flatMap((mode, index) =>
    was.has(mode) ? [] : [change([member, index], "mode-added", "additive", { after: mode })],
  );
  return [...removed, ...added];
}

/**
 * Root members that differ in a way that no finer comparison named: texts, members that the spec does not have, and
 * spellings of the same thing (`null` and absent, another order), which the content digest counts as well.
 */
function diffRest(before: JsonObject, after: JsonObject, found: readonly CardChange[]): CardChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => name !== "signatures",
  );
  const named = new Set(found.map((item) => item.pointer.split("/", 2)[1]));
  return names
    .filter((name) => !named.has(jsonPointer([name]).slice(1)))
    .flatMap((name) => {
      const values = { before: own(before, name), after: own(after, name) };
      if (isSameJson(values.before, values.after)) return [];
      return [change([name], texts.includes(name) ? "text-changed" : "unknown-changed", "cosmetic", values)];
    });
}
