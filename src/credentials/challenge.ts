import type { SecurityScheme } from "../model/security.ts";

/** Longest challenge that is looked at, in characters. */
const maxLength = 4_096;

/**
 * The authentication schemes that a `WWW-Authenticate` names (RFC 9110, 11.6.1), in its order and in lower case. What
 * stands in quotes names none.
 */
export function challengeSchemes(challenge: string): readonly string[] {
  const bare = challenge.slice(0, maxLength).replace(/"(?:[^"\\]|\\.)*"?/g, '""');
  const starts = bare.matchAll(/(?:^|,)\s*([!#$%&'*+.^_`|~\w-]+)(?=\s+[^\s=]|\s*(?:,|$))/g);
  return [...new Set([...starts].map(([, name = ""]) => name.toLowerCase()))];
}

/** A challenge as the security scheme that a card would name for it. */
export function schemeOfChallenge(name: string): SecurityScheme {
  return { httpAuthSecurityScheme: { scheme: name } };
}
