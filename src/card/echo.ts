import { CardInvalidError } from "../errors/card.ts";
import { sha256Hex } from "../util/hash.ts";
import { credentialValues, secretHeaders, secretParameters, secretsIn } from "../util/strike.ts";
import { decodeUtf8Lossy } from "../wire/utf8.ts";
import type { CardCredentials } from "./authorizer.ts";

/** One card read, as far as its secrets go. */
export interface SecretRead {
  readonly url: string;
  /** The caller's own headers. */
  readonly own: Readonly<Record<string, string>>;
  /** What it was authenticated by. */
  readonly sent: CardCredentials;
}

/** The texts that no error about a read may hold: what went out with it, and what its URL holds. */
export function secretsOfRead(
  url: string,
  headers: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>> | undefined,
): readonly string[] {
  return secretsIn(headers, { ...secretParameters(url), ...query });
}

/**
 * Refuses a card that repeats a secret of the request it answers: pinned, it would carry the secret into the ledger, and
 * its digest would change with every token.
 *
 * @throws CardInvalidError.
 */
export function refuseEcho(bytes: Uint8Array, { url, own, sent }: SecretRead): void {
  const secrets = credentialValues({ ...secretHeaders(own), ...sent.headers }, sent.query);
  if (secrets.length === 0) return;
  const text = decodeUtf8Lossy(bytes);
  const read = withoutEscapes(text);
  if (!secrets.some((secret) => text.includes(secret) || read.includes(secret))) return;
  const message = "found a secret of the request that it answers, wanted a card without one";
  throw new CardInvalidError(url, [{ path: "$", message }], `sha256:${sha256Hex(bytes)}`);
}

/** JSON as it reads: whoever repeats a secret may write any of its characters as an escape. */
function withoutEscapes(json: string): string {
  return json.replace(/\\(?:u([\da-f]{4})|(["\\/]))/gi, (_escape, unit?: string, plain = "") =>
    unit === undefined ? plain : String.fromCharCode(Number.parseInt(unit, 16)),
  );
}
