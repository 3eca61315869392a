import { sha1 } from "@noble/hashes/legacy.js";
import { bytesToHex } from "@noble/hashes/utils.js";

/** Lower-case hex of the SHA-1 of a text's UTF-8 form. Names things where a protocol asks for it; secures nothing. */
export function sha1HexOfText(text: string): string {
  return bytesToHex(sha1(new TextEncoder().encode(text)));
}
