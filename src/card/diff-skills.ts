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
  for (const [id, olds] of a) {
    const news = b.get(id) ?? [];
    olds.forEach((old, position) => {
      const twin = news[position];
      if (twin) changes.push(...diffSkill(old, twin, compared));
      else changes.push(change(["skills", old.index], "skill-removed", "breaking", { before: old.skill }));
    });
  }
  for (const [id, news] of b) {
    for (const { skill, index } of news.slice(a.get(id)?.length ?? 0)) {
      changes.push(change(["skills", index], "skill-added", "additive", { after: skill }));
    }
  }
  return changes;
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
  const entries = skills.map((skill, index) => ({ skill, index }));
  const groups = groupBy(entries, (entry) => entry.skill.id);
  for (const group of groups.values()) {
    if (group.length < 2) continue;
    const texts = new Map(group.map((entry) => [entry, canonicalJson(entry.skill)]));
    group.sort((x, y) => compare(texts.get(x) ?? "", texts.get(y) ?? ""));
  }
  return groups;
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

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
