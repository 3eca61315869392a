import { sha256HexOfText } from "../util/hash.ts";
import { redactUrl } from "../util/redact.ts";

/** Names a card URL without what may be a secret in it; a hash of the whole tells two such URLs apart. */
export function cardKeyOf(url: string | undefined): string {
  if (url === undefined) return "";
  const shown = redactUrl(url);
  return shown === url ? url : `${shown} ${sha256HexOfText(url).slice(0, 16)}`;
}
