import { AuthenticationError } from "../errors/auth.ts";
import { CredentialMissingError } from "../errors/credentials.ts";
import type {
  ChosenRequirement,
  CredentialContext,
  CredentialProvider,
  CredentialRequirements,
  GivenCredentials,
  RequestCredentials,
  RequestedScheme,
} from "../model/credentials.ts";
import { own } from "../util/freeze.ts";
import { ambiguity, assignRequirement, type ProvidersByScheme, quoted } from "./assign.ts";
import { challengeSchemes, schemeOfChallenge } from "./challenge.ts";
import { describeRequirement, requirementText } from "./choose.ts";

/**
 * Makes credentials out of providers for single security schemes. For each request the first alternative of the card's
 * requirements is chosen of which every scheme has a provider (7.3): the one under the scheme's name; else the one under
 * the name of its kind (`"apiKey"`, `"http"`, `"oauth2"`, `"openIdConnect"`, `"mutualTLS"`); else, of those under names
 * that are neither a kind nor another scheme of the card, the only one that can serve it.
 *
 * A provider under the name of a scheme that is of another kind is never asked, nor is one of several that could serve
 * the same scheme, or one that could serve two schemes of one alternative: such a secret goes where somebody names it.
 *
 * A card that asks for nothing gets nothing, unless it refuses the call: then the one that can serve what its challenge
 * names is asked, or the only one where it names nothing.
 *
 * The provider throws `CredentialMissingError` where no alternative can be met, with the `problems` of those that were
 * passed over, and what the providers throw.
 *
 * @throws TypeError for what is no provider.
 */
export function createCredentials(providers: ProvidersByScheme): CredentialProvider {
  for (const [name, provider] of Object.entries(providers)) {
    if (typeof provider !== "function") throw new TypeError(`credentials.${name}: wanted a provider`);
  }

  return async function provide(context) {
    const { requirements, challenge } = context;
    const { schemes } = requirements;
    if (requirements.alternatives.every((item) => Object.keys(item.schemes).length === 0)) {
      return challenge === undefined ? undefined : answerChallenge(providers, context);
    }
    // Once refused, an alternative that needs nothing is no answer.
    const alternatives = requirements.alternatives.filter(
      (item) => challenge === undefined || Object.keys(item.schemes).length > 0,
    );
    const problems: string[] = [];
    for (const item of alternatives) {
      const assigned = assignRequirement(providers, item, schemes);
      if (!assigned.ok) {
        problems.push(...assigned.problems);
        continue;
      }
      const chosen = describeRequirement(item, schemes);
      const parts = chosen.schemes.map(({ name, scopes }) => {
        const scheme = own(schemes, name) ?? {};
        return { provider: own(assigned.providers, name), asked: { name, scheme, scopes } };
      });
      return gather(context, chosen, parts);
    }
    throw missing(providers, context.origin, { requirements: { alternatives, schemes }, problems });
  };
}

/** Asks one provider for each scheme and lays what they give side by side. */
async function gather(
  context: CredentialContext,
  requirement: ChosenRequirement,
  parts: readonly { readonly provider: CredentialProvider | undefined; readonly asked: RequestedScheme }[],
): Promise<GivenCredentials> {
  const given = await Promise.all(
    parts.map(async ({ provider, asked }) => {
      const secrets = await provider?.({ ...context, scheme: asked });
      if (secrets) return secrets;
      const found = `no credentials for the scheme ${asked.name}`;
      throw new AuthenticationError(context.origin, { challenge: context.challenge, found, requirement });
    }),
  );
  return Object.freeze({ ...given.reduce(merge, {}), requirement });
}

function merge(one: RequestCredentials, other: RequestCredentials): RequestCredentials {
  const headers: Record<string, string> = { ...one.headers };
  for (const [name, value] of Object.entries(other.headers ?? {})) {
    const lower = name.toLowerCase();
    const before = own(headers, lower);
    // Cookies of two schemes share one header; any other header can have one value.
    headers[lower] = lower === "cookie" && before !== undefined ? `${before}; ${value}` : value;
  }
  return { headers, query: { ...one.query, ...other.query } };
}

/** The card does not say what it wants, or is what is to be read: the challenge does. */
async function answerChallenge(
  providers: ProvidersByScheme,
  context: CredentialContext,
): Promise<GivenCredentials | undefined> {
  const all = Object.entries(providers);
  const named = challengeSchemes(context.challenge ?? "");
  const schemes = Object.fromEntries(named.map((name) => [name, schemeOfChallenge(name)]));
  const problems: string[] = [];
  for (const name of named) {
    const scheme = schemeOfChallenge(name);
    const serving = all.filter(([, item]) => "serves" in item && item.serves(scheme));
    const [first] = serving;
    if (!first) continue;
    if (serving.length > 1) {
      problems.push(`for the scheme ${quoted(name)} ${ambiguity(serving.map(([key]) => key))}`);
      continue;
    }
    const requirement = describeRequirement({ schemes: { [name]: { list: [] } } }, schemes);
    return gather(context, requirement, [{ provider: first[1], asked: { name, scheme, scopes: [] } }]);
  }
  if (problems.length > 0) {
    const alternatives = named.map((name) => ({ schemes: { [name]: { list: [] } } }));
    throw missing(providers, context.origin, { requirements: { alternatives, schemes }, problems });
  }
  const [only] = all;
  // Without a word of what is wanted, there is no choice to be made where there is only one.
  if (named.length > 0 || !only || all.length > 1) return undefined;
  return only[1](context);
}

function missing(
  providers: ProvidersByScheme,
  origin: string,
  found: { readonly requirements: CredentialRequirements; readonly problems: readonly string[] },
) {
  const { requirements, problems } = found;
  const asked = requirements.alternatives.map((item) =>
    requirementText(describeRequirement(item, requirements.schemes)),
  );
  const available = Object.entries(providers).map(([name, item]) =>
    "label" in item ? `${name} (${item.label})` : name,
  );
  return new CredentialMissingError(origin, requirements, {
    asked,
    available,
    problems: [...new Set(problems)],
  });
}
