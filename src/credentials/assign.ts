import type { CredentialProvider, CredentialRequirements, SchemeProvider } from "../model/credentials.ts";
import { type SecurityRequirement, type SecurityScheme, securitySchemeKind } from "../model/security.ts";
import { own } from "../util/freeze.ts";
import { cut } from "../util/redact.ts";
import { isUnplaced } from "./ready.ts";

/** One provider for each security scheme that the caller has credentials for. */
export type ProvidersByScheme = Readonly<Record<string, CredentialProvider | SchemeProvider>>;

/** Who serves one scheme, or what speaks against those who are there. */
export type Assignment =
  | { readonly provider: CredentialProvider; readonly isUnasked: boolean }
  | { readonly problem: string | undefined };

/** Who serves all schemes of a requirement together; `problems` where somebody is missing. */
export type RequirementAssignment =
  | { readonly ok: true; readonly providers: Readonly<Record<string, CredentialProvider>> }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Finds a provider for each scheme of a requirement. A secret that nobody named is never taken for two of them. */
export function assignRequirement(
  providers: ProvidersByScheme,
  { schemes: asked }: SecurityRequirement,
  schemes: CredentialRequirements["schemes"],
): RequirementAssignment {
  const found: Record<string, CredentialProvider> = {};
  const takers = new Map<CredentialProvider, string>();
  const problems: string[] = [];
  let isMet = true;
  for (const name of Object.keys(asked)) {
    const item = assignScheme(providers, schemes, name);
    if (!("provider" in item)) {
      isMet = false;
      if (item.problem !== undefined) problems.push(`for the scheme ${quoted(name)} ${item.problem}`);
      continue;
    }
    const { provider, isUnasked } = item;
    const other = isUnasked ? takers.get(provider) : undefined;
    if (other !== undefined) {
      isMet = false;
      const both = `${quoted(other)} and ${quoted(name)}`;
      problems.push(`for the schemes ${both} found one that could serve either, wanted each under its name`);
    }
    if (isUnasked) takers.set(provider, name);
    Object.defineProperty(found, name, { value: provider, enumerable: true });
  }
  return isMet ? { ok: true, providers: found } : { ok: false, problems };
}

/**
 * Finds the provider of one scheme: the one under its name, else the one under the name of its kind, else the only one
 * under a name of the caller's own that can serve it.
 */
function assignScheme(
  providers: ProvidersByScheme,
  schemes: CredentialRequirements["schemes"],
  name: string,
): Assignment {
  const scheme = own(schemes, name);
  const named = own(providers, name);
  if (!scheme)
    return named && !isUnplaced(named) ? { provider: named, isUnasked: false } : undefinedFor(named);
  // Whoever names a scheme means it: nothing else goes in its place.
  if (named) {
    return fits(named, scheme)
      ? { provider: named, isUnasked: false }
      : { problem: mismatch(named, name, scheme) };
  }
  const kind = securitySchemeKind(scheme);
  const ofKind = isKind(kind) ? own(providers, kind) : undefined;
  if (ofKind && fits(ofKind, scheme) && isOffered(ofKind, scheme))
    return { provider: ofKind, isUnasked: false };
  // What the caller keeps for another scheme of this card, or for another kind, is not for this one.
  const serving = Object.entries(providers).filter(
    ([key, item]) => !Object.hasOwn(schemes, key) && !isKind(key) && "serves" in item && item.serves(scheme),
  );
  const free = serving.filter(([, item]) => isOffered(item, scheme));
  const [first] = free;
  if (first && free.length === 1) return { provider: first[1], isUnasked: true };
  if (first) return { problem: ambiguity(free.map(([key]) => key)) };
  if (ofKind) return { problem: mismatch(ofKind, kind, scheme) };
  const [other] = serving;
  return { problem: other && mismatch(other[1], other[0], scheme) };
}

/** What speaks against a scheme that a requirement names and the card does not define. */
function undefinedFor(named: CredentialProvider | SchemeProvider | undefined): Assignment {
  const wanted = named
    ? "one that says where an API key goes, or the options in and name"
    : "one, or a provider under its name";
  return { problem: `found no definition on the card, wanted ${wanted}` };
}

/** Several that could serve the same, and nothing that says which one is meant. */
export function ambiguity(names: readonly string[]): string {
  const found = names.slice(0, 5).map(quoted).join(" and ");
  return `found ${found}, any of which could serve it, wanted one under its name`;
}

/** A name for a message. In quotes, since one like `cookie` would be taken for a header with its value. */
export function quoted(name: string): string {
  return JSON.stringify(cut(name, 100));
}

/** Kinds that a provider can be kept for as a whole. */
const kinds: readonly string[] = ["apiKey", "http", "oauth2", "openIdConnect", "mutualTLS"];

function isKind(name: string): boolean {
  return kinds.includes(name);
}

/** A function of the caller's own that does not say what it serves is taken at its name. */
function fits(provider: CredentialProvider | SchemeProvider, scheme: SecurityScheme): boolean {
  if (!("serves" in provider)) return true;
  return (provider.fits ?? provider.serves)(scheme);
}

/** Whether its tokens come by a flow that the scheme offers; one that lists none leaves it open. */
function isOffered(provider: CredentialProvider | SchemeProvider, scheme: SecurityScheme): boolean {
  const flows = "flows" in provider ? provider.flows : undefined;
  const offered = offeredFlows(scheme);
  return flows === undefined || offered.length === 0 || flows.some((flow) => offered.includes(flow));
}

function offeredFlows({ oauth2SecurityScheme }: SecurityScheme): readonly string[] {
  const flows = Object.entries(oauth2SecurityScheme?.flows ?? {});
  return flows.flatMap(([name, flow]) => (flow === undefined ? [] : [name]));
}

function mismatch(
  provider: CredentialProvider | SchemeProvider,
  key: string,
  scheme: SecurityScheme,
): string {
  const label = quoted("label" in provider ? provider.label : "a function");
  if (fits(provider, scheme)) {
    const flows = cut(offeredFlows(scheme).join(" or "), 200);
    return `found ${label} under ${quoted(key)}, wanted the flow ${flows}, or it under the scheme's own name`;
  }
  const { httpAuthSecurityScheme: http } = scheme;
  const kind = securitySchemeKind(scheme);
  const wanted = http ? `${kind} ${quoted(http.scheme)}` : kind;
  return `found ${label} under ${quoted(key)}, wanted ${wanted}`;
}
