import type { ChosenRequirement, CredentialRequirements } from "../model/credentials.ts";
import { type SecurityRequirement, type SecurityScheme, securitySchemeKind } from "../model/security.ts";
import { own } from "../util/freeze.ts";

/** What a choice is made from: a card, or what a credentials function was asked with. */
export type RequirementSource =
  | CredentialRequirements
  | {
      readonly securityRequirements?: readonly SecurityRequirement[];
      readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
    };

/**
 * Chooses the first alternative, in the card's order, of which the caller has credentials for every scheme (4.5, 7.3).
 * A pure function.
 *
 * @param has - whether there are credentials for a scheme; a name that the card does not define has no scheme.
 * @returns `undefined` where there is none; an alternative without schemes needs nothing and is always met.
 */
export function chooseRequirement(
  source: RequirementSource,
  has: (name: string, scheme: SecurityScheme | undefined) => boolean,
): ChosenRequirement | undefined {
  const { alternatives, schemes } = requirementsIn(source);
  const found = alternatives.find((item) =>
    Object.keys(item.schemes).every((name) => has(name, own(schemes, name))),
  );
  return found && describeRequirement(found, schemes);
}

/** A requirement with the kinds of its schemes. */
export function describeRequirement(
  requirement: SecurityRequirement,
  schemes: Readonly<Record<string, SecurityScheme>>,
): ChosenRequirement {
  const named = Object.entries(requirement.schemes).map(([name, { list }]) => {
    const scheme = own(schemes, name);
    return Object.freeze({
      name,
      kind: scheme ? securitySchemeKind(scheme) : ("unknown" as const),
      scopes: Object.freeze([...list]),
    });
  });
  return Object.freeze({ schemes: Object.freeze(named) });
}

/** A requirement in words: `oauth (oauth2: read write) and key (apiKey)`. */
export function requirementText({ schemes }: ChosenRequirement): string {
  if (schemes.length === 0) return "nothing";
  const texts = schemes.map(({ name, kind, scopes }) =>
    scopes.length === 0 ? `${name} (${kind})` : `${name} (${kind}: ${scopes.join(" ")})`,
  );
  return texts.join(" and ");
}

function requirementsIn(source: RequirementSource): CredentialRequirements {
  if ("alternatives" in source) return source;
  return { alternatives: source.securityRequirements ?? [], schemes: source.securitySchemes ?? {} };
}
