import { TokenRequestError } from "../errors/credentials.ts";
import type { CredentialContext } from "../model/credentials.ts";
import { kindText } from "../util/found.ts";
import { askHook } from "./hook.ts";
import type { OAuthOptions } from "./options.ts";

/** Most scopes of a card that are asked for, and the longest of them, in characters. */
const most = Object.freeze({ scopes: 100, length: 300 });

/**
 * The scopes to ask for: those of the caller, else those that the card asks for in the requirement that was chosen.
 *
 * @throws TokenRequestError where the caller's function throws or gives no list, or the card asks for what is no scope.
 */
export async function scopesFor(
  way: {
    readonly options: OAuthOptions;
    readonly ownScopes?: readonly string[];
    readonly usualScopes: "asked" | "none";
  },
  url: string,
  { scheme, signal }: CredentialContext,
): Promise<readonly string[]> {
  const { options, ownScopes = [], usualScopes } = way;
  const asked = scheme?.scopes ?? [];
  const { scopes = usualScopes === "asked" ? fromCard(url, asked) : [] } = options;
  const wanted =
    typeof scopes === "function"
      ? await askHook({
          name: "scopes",
          wanted: "a list of texts",
          url,
          signal,
          ask: () => scopes(asked),
          wrong: noScopes,
        })
      : scopes;
  return [...ownScopes.filter((scope) => !wanted.includes(scope)), ...wanted];
}

/** What stands in the place of a list of scopes, if it is none. */
export function noScopes(given: unknown): string | undefined {
  if (!Array.isArray(given)) return kindText(given);
  const wrong = given.findIndex((item) => typeof item !== "string" || item === "");
  return wrong < 0 ? undefined : `a list with ${kindText(given[wrong])} in it`;
}

/** A card is the agent's own word: what goes on from it is bounded, and looks like scopes (RFC 6749, 3.3). */
function fromCard(url: string, asked: readonly string[]): readonly string[] {
  const isScope = (scope: string) =>
    scope.length <= most.length && /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/.test(scope);
  if (asked.length <= most.scopes && asked.every(isScope)) return asked;
  const message = `found ${asked.length} scopes on the agent card, or one that is none, wanted at most ${most.scopes} or the option scopes`;
  throw new TokenRequestError(url, { reason: "discovery", message });
}
