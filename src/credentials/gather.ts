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
import { isRecord, own } from "../util/freeze.ts";
import { quoted } from "./assign.ts";
import { askFunction, faultOf } from "./fault.ts";

/** One scheme, and who is asked for it. */
export interface Part {
  readonly provider: CredentialProvider | SchemeProvider;
  readonly asked: RequestedScheme;
}

/** What came of a requirement: secrets for all of its schemes, or one that there are none for, or why they won't go together. */
export type Gathered =
  | { readonly given: GivenCredentials }
  | { readonly clash: string }
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
    const place = clashOf(all, given);
    if (place !== undefined) {
      return {
        clash: `for the scheme ${quoted(asked.name)} found another value for ${place}, wanted one of them`,
      };
    }
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

/** A place of a request that two schemes of one requirement would fill with different secrets. */
function clashOf(one: RequestCredentials, other: RequestCredentials): string | undefined {
  const header = headersOf(other).find(([name, value]) => {
    const before = name === "cookie" ? undefined : own(one.headers ?? {}, name);
    return before !== undefined && before !== value;
  });
  if (header) return `the header ${quoted(header[0])}`;
  const parameter = Object.entries(other.query ?? {}).find(([name, value]) => {
    const before = own(one.query ?? {}, name);
    return before !== undefined && before !== value;
  });
  return parameter && `the parameter ${quoted(parameter[0])}`;
}

/** What was given as headers, names in lower case. */
function headersOf({ headers }: RequestCredentials): readonly (readonly [string, string])[] {
  const given: unknown = headers;
  const entries = given instanceof Headers ? [...given] : Object.entries(headers ?? {});
  return entries.map(([name, value]) => [name.toLowerCase(), value]);
}

function merge(one: RequestCredentials, other: RequestCredentials): RequestCredentials {
  const headers = new Map(Object.entries(one.headers ?? {}));
  for (const [lower, value] of headersOf(other)) {
    const before = headers.get(lower);
    // Cookies of two schemes share one header; any other header can have one value.
    headers.set(lower, lower === "cookie" && before !== undefined ? `${before}; ${value}` : value);
  }
  return { headers: Object.fromEntries(headers), query: { ...one.query, ...other.query } };
}
