import { AuthenticationError } from "../errors/auth.ts";
import { CredentialMissingError } from "../errors/credentials.ts";
import type {
  ChosenRequirement,
  CredentialContext,
  CredentialProvider,
  CredentialRequirements,
  GivenCredentials,
} from "../model/credentials.ts";
import { own } from "../util/freeze.ts";
import { ambiguity, assignRequirement, type ProvidersByScheme, quoted } from "./assign.ts";
import { challengeSchemes, schemeOfChallenge } from "./challenge.ts";
import { describeRequirement, requirementText } from "./choose.ts";
import { gather, type Part } from "./gather.ts";

/**
 * Makes credentials out of providers for single security schemes. For each request the first alternative of the card's
 * requirements is chosen of which every scheme has a provider (7.3): the one under the scheme's name; else the one under
 * the name of its kind (`"apiKey"`, `"http"`, `"oauth2"`, `"openIdConnect"`, `"mutualTLS"`); else, of those under names
 * that are neither a kind nor another scheme of the card, the only one that can serve it.
 *
 * A provider under the name of a scheme that is of another kind is never asked, nor is one of several that could serve
 * the same scheme, or one that could serve two schemes of one alternative: such a secret goes where somebody names it. So
 * does a token by a flow of OAuth 2.0 that the scheme does not offer.
 *
 * A provider that gives nothing has none for this: the next alternative is tried.
 *
 * A card that asks for nothing gets nothing, unless it refuses the call: then the one that can serve what its challenge
 * names is asked, or the only one where it names nothing.
 *
 * The provider throws `CredentialMissingError` where no alternative can be met, with the `problems` of those that were
 * passed over, and `AuthenticationError` where a provider throws, gives something else than credentials, or has none after
 * a refusal. An error of this library that a provider throws goes on as it is.
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
    const lacking: Lacking[] = [];
    for (const item of alternatives) {
      const assigned = assignRequirement(providers, item, schemes);
      if (!assigned.ok) {
        problems.push(...assigned.problems);
        continue;
      }
      const requirement = describeRequirement(item, schemes);
      const parts = requirement.schemes.flatMap(({ name, scopes }): Part[] => {
        const provider = own(assigned.providers, name);
        const scheme = own(schemes, name) ?? {};
        return provider ? [{ provider, asked: { name, scheme, scopes } }] : [];
      });
      const gathered = await gather(context, requirement, parts);
      if ("given" in gathered) return gathered.given;
      if ("clash" in gathered) problems.push(gathered.clash);
      else lacking.push({ ...gathered.lacking, requirement });
    }
    throw nothing(providers, context, { requirements: { alternatives, schemes }, problems, lacking });
  };
}

/** A scheme whose provider has nothing for it, and the requirement that it was asked for. */
interface Lacking {
  readonly scheme: string;
  readonly label: string;
  readonly requirement: ChosenRequirement;
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
  const lacking: Lacking[] = [];
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
    const part = { provider: first[1], asked: { name, scheme, scopes: [] } };
    const gathered = await gather(context, requirement, [part]);
    if ("given" in gathered) return gathered.given;
    if ("lacking" in gathered) lacking.push({ ...gathered.lacking, requirement });
  }
  if (problems.length > 0 || lacking.length > 0) {
    const alternatives = named.map((name) => ({ schemes: { [name]: { list: [] } } }));
    throw nothing(providers, context, { requirements: { alternatives, schemes }, problems, lacking });
  }
  const [only] = all;
  // Without a word of what is wanted, there is no choice to be made where there is only one.
  if (named.length > 0 || !only || all.length > 1) return undefined;
  return only[1](context);
}

/** That there is nothing for any alternative. After a refusal it is the agent's word that counts. */
function nothing(
  providers: ProvidersByScheme,
  { origin, challenge }: CredentialContext,
  found: {
    readonly requirements: CredentialRequirements;
    readonly problems: readonly string[];
    readonly lacking: readonly Lacking[];
  },
): AuthenticationError | CredentialMissingError {
  const { requirements, problems, lacking } = found;
  const [first] = lacking;
  if (challenge !== undefined && first) {
    const none = `none for the scheme ${quoted(first.scheme)}`;
    const { requirement } = first;
    return new AuthenticationError(origin, {
      challenge,
      found: none,
      wanted: "other credentials",
      requirement,
    });
  }
  const asked = requirements.alternatives.map((item) =>
    requirementText(describeRequirement(item, requirements.schemes)),
  );
  const available = Object.entries(providers).map(([name, item]) =>
    "label" in item ? `${name} (${item.label})` : name,
  );
  const without = lacking.map(
    ({ scheme, label }) =>
      `for the scheme ${quoted(scheme)} found that ${quoted(label)} gave none, wanted a secret`,
  );
  return new CredentialMissingError(origin, requirements, {
    asked,
    available,
    problems: [...new Set([...without, ...problems])],
  });
}
