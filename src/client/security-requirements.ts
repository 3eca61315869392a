import type { AgentCard } from "../model/card.ts";
import type { CredentialRequirements } from "../model/credentials.ts";
import type { SecurityRequirement } from "../model/security.ts";

/** Most alternatives that are looked at; a card could make their number explode. */
const maxAlternatives = 64;

/**
 * What a card asks for, for a call that needs some of its skills: the card's requirements and those of each skill
 * (4.4.1, 4.4.5). A skill that names none adds none.
 */
export function requirementsOf(
  card: AgentCard | undefined,
  skills: readonly string[] = [],
): CredentialRequirements {
  const needed = (card?.skills ?? []).filter(({ id }) => skills.includes(id));
  const lists = [card?.securityRequirements ?? [], ...needed.map((skill) => skill.securityRequirements ?? [])]
    .filter((list) => list.length > 0)
    .map((list) => list.slice(0, maxAlternatives));
  const [first = [], ...others] = lists;
  const alternatives = others.reduce(joined, first);
  return Object.freeze({ alternatives: Object.freeze(alternatives), schemes: card?.securitySchemes ?? {} });
}

/** Whether every alternative needs some scheme. */
export function asksForCredentials({ alternatives }: CredentialRequirements): boolean {
  return alternatives.length > 0 && !alternatives.some(({ schemes }) => Object.keys(schemes).length === 0);
}

/** Each of one list with each of another, as far as they are looked at; no more of them are made. */
function joined(
  ones: readonly SecurityRequirement[],
  others: readonly SecurityRequirement[],
): readonly SecurityRequirement[] {
  const rows = ones.slice(0, Math.ceil(maxAlternatives / others.length));
  const pairs = rows.flatMap((one) => others.map((other) => [one, other] as const));
  return pairs.slice(0, maxAlternatives).map(([one, other]) => both(one, other));
}

/** Two requirements as one: all schemes of both, with the scopes of both. */
function both(one: SecurityRequirement, other: SecurityRequirement): SecurityRequirement {
  const scopes = new Map<string, Set<string>>();
  for (const { schemes } of [one, other]) {
    for (const [name, { list }] of Object.entries(schemes)) {
      scopes.set(name, new Set([...(scopes.get(name) ?? []), ...list]));
    }
  }
  return { schemes: Object.fromEntries([...scopes].map(([name, list]) => [name, { list: [...list] }])) };
}
