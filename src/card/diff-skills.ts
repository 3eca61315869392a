import type { AgentCard, AgentSkill } from "../model/card.ts";
import type { CardChange } from "../model/drift.ts";
import { groupBy } from "../util/group.ts";
import { canonicalJson } from "../util/json.ts";
import { change, diffUnknown, isSameJson } from "./change.ts";
import { effectiveModes, requirementsStructure, sortedSet } from "./structure.ts";

interface Entry {
  readonly skill: AgentSkill;
  readonly index: number;
}

const textMembers = ["name", "description", "tags", "examples"] as const;
const knownMembers = [...textMembers, "id", "inputModes", "outputModes", "securityRequirements"];

/** Skills that came, went or changed; matched by id, several of one id in a stable order. */
export function diffSkills(before: AgentCard, after: AgentCard): CardChange[] {
  const a = byId(before.skills);
  const b = byId(after.skills);
  const changes: CardChange[] = [];
  const compared = { before, after, setOf: createSets() };
  for (const id of new Set([...a.keys(), ...b.keys()])) {
    const { pairs, gone, fresh } = pairUp(a.get(id) ?? [], b.get(id) ?? []);
    for (const [old, twin] of pairs) changes.push(...diffSkill(old, twin, compared));
    // What a call needs of an id is asked for by all skills that have it.
    const isKept = a.has(id) && b.has(id);
    for (const { skill, index } of gone) {
      changes.push(change(["skills", index], "skill-removed", "breaking", { before: skill }));
    }
    for (const { skill, index } of fresh) {
      changes.push(change(["skills", index], "skill-added", "additive", { after: skill }));
      if (isKept) changes.push(...secured({ skill, index }));
    }
  }
  return changes;
}

/** What a skill that came beside another of its id makes calls ask for; one that goes takes that away with it. */
function secured({ skill: { securityRequirements: after }, index }: Entry): CardChange[] {
  if (requirementsStructure(after).length === 0) return [];
  return [change(["skills", index, "securityRequirements"], "security-changed", "security", { after })];
}

interface Compared {
  readonly before: AgentCard;
  readonly after: AgentCard;
  readonly setOf: (items: readonly string[]) => ReadonlySet<string>;
}

function diffSkill(old: Entry, twin: Entry, { before, after, setOf }: Compared): CardChange[] {
  const a = old.skill;
  const b = twin.skill;
  const at = (member: string) => ["skills", twin.index, member];
  const changes: CardChange[] = [];
  for (const [member, defaults] of [
    ["inputModes", "defaultInputModes"],
    ["outputModes", "defaultOutputModes"],
  ] as const) {
    if (isSameJson(sortedSet(a[member] ?? []), sortedSet(b[member] ?? []))) continue;
    const was = setOf(effectiveModes(a[member], before[defaults]));
    const is = setOf(effectiveModes(b[member], after[defaults]));
    const lost = hasOther(was, is);
    const gained = hasOther(is, was);
    const impact = lost ? "breaking" : gained ? "additive" : "cosmetic";
    changes.push(change(at(member), "skill-changed", impact, { before: a[member], after: b[member] }));
  }
  if (
    !isSameJson(requirementsStructure(a.securityRequirements), requirementsStructure(b.securityRequirements))
  ) {
    changes.push(
      change(at("securityRequirements"), "security-changed", "security", {
        before: a.securityRequirements,
        after: b.securityRequirements,
      }),
    );
  }
  for (const member of textMembers) {
    if (isSameJson(a[member], b[member])) continue;
    changes.push(change(at(member), "text-changed", "cosmetic", { before: a[member], after: b[member] }));
  }
  return [...changes, ...diffUnknown(["skills", twin.index], knownMembers, { before: a, after: b })];
}

function byId(skills: readonly AgentSkill[]): Map<string, Entry[]> {
  return groupBy(
    skills.map((skill, index) => ({ skill, index })),
    (entry) => entry.skill.id,
  );
}

interface Pairing {
  readonly pairs: readonly (readonly [Entry, Entry])[];
  readonly gone: readonly Entry[];
  readonly fresh: readonly Entry[];
}

/** Pairs skills of one id: those that are equal, then those of one structure, then the rest as they stand. */
function pairUp(olds: readonly Entry[], news: readonly Entry[]): Pairing {
  const pairs: (readonly [Entry, Entry])[] = [];
  let gone = olds;
  let fresh = news;
  const pairBy = (keyOf: (entry: Entry) => string) => {
    // Taken from the end, so that each is found in constant time.
    const waiting = groupBy([...fresh].reverse(), (entry) => keyOf(entry));
    const taken = new Set<Entry>();
    gone = gone.filter((old) => {
      const twin = waiting.get(keyOf(old))?.pop();
      if (!twin) return true;
      taken.add(twin);
      pairs.push([old, twin]);
      return false;
    });
    fresh = fresh.filter((entry) => !taken.has(entry));
  };
  if (olds.length > 1 || news.length > 1) {
    pairBy((entry) => canonicalJson(entry.skill));
    pairBy((entry) => structureOf(entry.skill));
  }
  pairBy((entry) => entry.skill.id);
  return { pairs, gone, fresh };
}

/** What a plan can depend on of one skill, beside its id. */
function structureOf({ inputModes = [], outputModes = [], securityRequirements }: AgentSkill): string {
  return canonicalJson([
    sortedSet(inputModes),
    sortedSet(outputModes),
    requirementsStructure(securityRequirements),
  ]);
}

/** Makes sets of lists, each list's once: many skills share the card's default ones. */
function createSets(): Compared["setOf"] {
  const sets = new Map<readonly string[], ReadonlySet<string>>();
  return (items) => {
    const set = sets.get(items) ?? new Set(items);
    sets.set(items, set);
    return set;
  };
}

/** Whether some item of `items` is not among `others`. */
function hasOther(items: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  for (const item of items) if (!others.has(item)) return true;
  return false;
}
