import type { AgentCard, AgentSkill } from "../model/card.ts";
import type { CardChange } from "../model/drift.ts";
import { groupBy } from "../util/group.ts";
import { canonicalJson } from "../util/json.ts";
import { change, isSameJson } from "./change.ts";
import { effectiveModes, requirementsStructure, sortedSet } from "./structure.ts";

interface Entry {
  readonly skill: AgentSkill;
  readonly index: number;
}

const textMembers = ["name", "description", "tags", "examples"] as const;
const structuralMembers = ["id", "inputModes", "outputModes", "securityRequirements"];

/** Skills that came, went or changed; matched by id, several of one id in a stable order. */
export function diffSkills(before: AgentCard, after: AgentCard): CardChange[] {
  const a = byId(before.skills);
  const b = byId(after.skills);
  const changes: CardChange[] = [];
  for (const [id, olds] of a) {
    const news = b.get(id) ?? [];
    olds.forEach((old, position) => {
      const twin = news[position];
      if (twin) changes.push(...diffSkill(old, twin, before, after));
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

function diffSkill(old: Entry, twin: Entry, before: AgentCard, after: AgentCard): CardChange[] {
  const a = old.skill;
  const b = twin.skill;
  const at = (member: string) => ["skills", twin.index, member];
  const changes: CardChange[] = [];
  for (const [member, defaults] of [
    ["inputModes", "defaultInputModes"],
    ["outputModes", "defaultOutputModes"],
  ] as const) {
    if (isSameJson(sortedSet(a[member] ?? []), sortedSet(b[member] ?? []))) continue;
    const was = effectiveModes(a[member], before[defaults]);
    const is = effectiveModes(b[member], after[defaults]);
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
  return [...changes, ...diffUnknown(a, b, at)];
}

function diffUnknown(
  a: AgentSkill,
  b: AgentSkill,
  at: (member: string) => (string | number)[],
): CardChange[] {
  const known = new Set<string>([...textMembers, ...structuralMembers]);
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((name) => !known.has(name));
  const value = (skill: AgentSkill, name: string) => (skill as unknown as Record<string, unknown>)[name];
  return names
    .filter((name) => !isSameJson(value(a, name), value(b, name)))
    .map((name) =>
      change(at(name), "unknown-changed", "cosmetic", { before: value(a, name), after: value(b, name) }),
    );
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

/** Whether some item of `items` is not among `others`. */
function hasOther(items: readonly string[], others: readonly string[]): boolean {
  const known = new Set(others);
  return items.some((item) => !known.has(item));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
