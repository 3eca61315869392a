import { CardInvalidError } from "../errors/card.ts";
import { sha256Hex } from "../util/hash.ts";
import { decodeUtf8Lossy } from "../wire/utf8.ts";

/**
 * Refuses a card that repeats a secret of the request it answers: pinned, it would carry the secret into the ledger, and
 * its digest would change with every token.
 *
 * @throws CardInvalidError.
 */
export function refuseEcho(bytes: Uint8Array, secrets: readonly string[], url: string): void {
  if (secrets.length === 0) return;
  const text = decodeUtf8Lossy(bytes);
  const isEcho = secrets.some(
    (secret) => text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1)),
  );
  if (!isEcho) return;
  const message = "found a secret of the request that it answers, wanted a card without one";
  throw new CardInvalidError(url, [{ path: "$", message }], `sha256:${sha256Hex(bytes)}`);
}
