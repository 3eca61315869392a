import { AuthenticationError } from "../errors/auth.ts";
import { CredentialMissingError } from "../errors/credentials.ts";
import type {
  ChosenRequirement,
  CredentialContext,
  CredentialProvider,
  GivenCredentials,
  RequestCredentials,
  RequestedScheme,
  SchemeProvider,
} from "../model/credentials.ts";
import { type SecurityScheme, securitySchemeKind } from "../model/security.ts";
import { own } from "../util/freeze.ts";
import { challengeSchemes, schemeOfChallenge } from "./challenge.ts";
import { chooseRequirement, describeRequirement, requirementText } from "./choose.ts";

/** One provider for each security scheme that the caller has credentials for. */
export type ProvidersByScheme = Readonly<Record<string, CredentialProvider | SchemeProvider>>;

/**
 * Makes credentials out of providers for single security schemes. For each request the first alternative of the card's
 * requirements is chosen of which every scheme has a provider (7.3): the one under the scheme's name, else the one
 * under the name of its kind (`"apiKey"`, `"http"`, `"oauth2"`, `"openIdConnect"`, `"mutualTLS"`), else the first that
 * can serve it. A card that asks for nothing gets nothing, unless it refuses the call.
 *
 * The provider throws `CredentialMissingError` where no alternative can be met, and what the providers throw.
 *
 * @throws TypeError for what is no provider.
 */
export function createCredentials(providers: ProvidersByScheme): CredentialProvider {
  for (const [name, provider] of Object.entries(providers)) {
    if (typeof provider !== "function") throw new TypeError(`credentials.${name}: wanted a provider`);
  }

  return async function provide(context) {
    const { requirements } = context;
    if (requirements.alternatives.every(({ schemes }) => Object.keys(schemes).length === 0)) {
      return context.challenge === undefined ? undefined : answerChallenge(providers, context);
    }
    const find = (name: string, scheme: SecurityScheme | undefined) =>
      providerOf(providers, requirements.schemes, name, scheme);
    // Once refused, an alternative that needs nothing is no answer.
    const alternatives = requirements.alternatives.filter(
      ({ schemes }) => context.challenge === undefined || Object.keys(schemes).length > 0,
    );
    const chosen = chooseRequirement(
      { ...requirements, alternatives },
      (name, scheme) => find(name, scheme) !== undefined,
    );
    if (!chosen) throw missing(providers, context);
    const parts = chosen.schemes.map(({ name, scopes }) => {
      const scheme = own(requirements.schemes, name) ?? {};
      return { provider: find(name, scheme), asked: { name, scheme, scopes } };
    });
    return gather(context, chosen, parts);
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
  for (const name of named) {
    const scheme = schemeOfChallenge(name);
    const provider = all.map(([, item]) => item).find((item) => "serves" in item && item.serves(scheme));
    if (!provider) continue;
    const requirement = describeRequirement({ schemes: { [name]: { list: [] } } }, { [name]: scheme });
    return gather(context, requirement, [{ provider, asked: { name, scheme, scopes: [] } }]);
  }
  const [only] = all;
  // Without a word of what is wanted, there is no choice to be made where there is only one.
  if (named.length > 0 || !only || all.length > 1) return undefined;
  return only[1](context);
}

function providerOf(
  providers: ProvidersByScheme,
  schemes: Readonly<Record<string, SecurityScheme>>,
  name: string,
  scheme: SecurityScheme | undefined,
): CredentialProvider | undefined {
  const named = own(providers, name);
  if (named || !scheme) return named;
  const ofKind = own(providers, securitySchemeKind(scheme));
  if (ofKind) return ofKind;
  // What the caller keeps for another scheme of this card is not for this one.
  const free = Object.entries(providers).filter(([key]) => !Object.hasOwn(schemes, key));
  return free.map(([, item]) => item).find((item) => "serves" in item && item.serves(scheme));
}

function missing(providers: ProvidersByScheme, { origin, requirements }: CredentialContext) {
  const asked = requirements.alternatives.map((item) =>
    requirementText(describeRequirement(item, requirements.schemes)),
  );
  const available = Object.entries(providers).map(([name, item]) =>
    "label" in item ? `${name} (${item.label})` : name,
  );
  return new CredentialMissingError(origin, requirements, { asked, available });
}
