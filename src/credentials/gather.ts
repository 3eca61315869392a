import type {
  ChosenRequirement,
  CredentialContext,
  CredentialProvider,
  GivenCredentials,
  RequestCredentials,
  RequestedScheme,
  SchemeProvider,
} from "../model/credentials.ts";
import { kindText } from "../util/found.ts";
import { isRecord } from "../util/freeze.ts";
import { quoted } from "./assign.ts";
import { askFunction, faultOf } from "./fault.ts";

/** One scheme, and who is asked for it. */
export interface Part {
  readonly provider: CredentialProvider | SchemeProvider;
  readonly asked: RequestedScheme;
}

/** What came of a requirement: secrets for all of its schemes, or one that there are none for. */
export type Gathered =
  | { readonly given: GivenCredentials }
  | { readonly lacking: { readonly scheme: string; readonly label: string } };

/**
 * Asks one provider for each scheme and lays what they give side by side. They are asked one after the other: where one
 * has nothing, a user is not asked to sign in for another.
 *
 * @throws AuthenticationError that names the scheme whose provider throws, or gives something else than credentials.
 */
export async function gather(
  context: CredentialContext,
  requirement: ChosenRequirement,
  parts: readonly Part[],
): Promise<Gathered> {
  let all: RequestCredentials = {};
  for (const { provider, asked } of parts) {
    const wanted = "{ headers } or { query }, or undefined";
    const who = `the provider for the scheme ${quoted(asked.name)}`;
    const given: unknown = await askFunction(context, { who, wanted }, () =>
      provider({ ...context, scheme: asked }),
    );
    if (given === undefined) return { lacking: { scheme: asked.name, label: labelOf(provider) } };
    if (!isCredentials(given)) throw faultOf(context, `that ${who} gave ${kindText(given)}`, wanted);
    all = merge(all, given);
  }
  return { given: Object.freeze({ ...all, requirement }) };
}

/** What a provider is, in words. */
export function labelOf(provider: CredentialProvider | SchemeProvider): string {
  return "label" in provider ? provider.label : "a function";
}

function isCredentials(given: unknown): given is RequestCredentials {
  if (!isRecord(given)) return false;
  const { headers, query } = given;
  return isRecord(headers) || (headers === undefined && isRecord(query));
}

function merge(one: RequestCredentials, other: RequestCredentials): RequestCredentials {
  const headers = new Map(Object.entries(one.headers ?? {}));
  const given: unknown = other.headers;
  const entries = given instanceof Headers ? [...given] : Object.entries(other.headers ?? {});
  for (const [name, value] of entries) {
    const lower = name.toLowerCase();
    const before = headers.get(lower);
    // Cookies of two schemes share one header; any other header can have one value.
    headers.set(lower, lower === "cookie" && before !== undefined ? `${before}; ${value}` : value);
  }
  return { headers: Object.fromEntries(headers), query: { ...one.query, ...other.query } };
}
