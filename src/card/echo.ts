import { CardInvalidError } from "../errors/card.ts";
import { decodeBase64Url } from "../util/base64url.ts";
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
  /** Other secrets that whoever wrote the card may know. */
  readonly known: readonly string[];
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
 * Refuses a card that repeats a secret of the request it answers, or of one before: pinned, it would carry the secret
 * into the ledger, and what changed on it into errors and events; and its digest would change with every token.
 *
 * @throws CardInvalidError.
 */
export function refuseEcho(bytes: Uint8Array, { url, own, sent, known }: SecretRead): void {
  const asked = credentialValues({ ...secretHeaders(own), ...sent.headers }, sent.query);
  const secrets = [...asked, ...known];
  if (secrets.length === 0) return;
  const text = decodeUtf8Lossy(bytes);
  const read = withoutEscapes(text);
  const texts = [text, read, ...signedHeaders(read)];
  const found = secrets.find((secret) => texts.some((one) => one.includes(secret)));
  if (found === undefined) return;
  const of = asked.includes(found) ? "the request that it answers" : "a request of ours";
  const message = `found a secret of ${of}, wanted a card without one`;
  throw new CardInvalidError(url, [{ path: "$", message }], `sha256:${sha256Hex(bytes)}`);
}

/** What the protected headers of signatures say: key ids and URLs in them are told of. */
function signedHeaders(json: string): readonly string[] {
  return [...json.matchAll(/"protected"\s*:\s*"([^"]*)"/g)].flatMap(([, encoded = ""]) => {
    const bytes = decodeBase64Url(encoded);
    const header = bytes && decodeUtf8Lossy(bytes);
    return header === undefined ? [] : [header, withoutEscapes(header)];
  });
}

/** JSON as it reads: whoever repeats a secret may write any of its characters as an escape. */
function withoutEscapes(json: string): string {
  return json.replace(/\\(?:u([\da-f]{4})|(["\\/]))/gi, (_escape, unit?: string, plain = "") =>
    unit === undefined ? plain : String.fromCharCode(Number.parseInt(unit, 16)),
  );
}
