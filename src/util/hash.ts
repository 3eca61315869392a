import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";

interface NodeCrypto {
  createHash(algorithm: "sha256"): { update(data: Uint8Array): { digest(encoding: "hex"): string } };
}

/** Node's own hashing where there is one; asked for at run time, so that no `node:` import reaches a browser. */
const nodeCrypto = (
  globalThis as { process?: { getBuiltinModule?: (id: string) => NodeCrypto | undefined } }
).process?.getBuiltinModule?.("node:crypto");

/** Lower-case hex of the SHA-256 of some bytes, computed at once. */
export function sha256Hex(bytes: Uint8Array): string {
  return nodeCrypto ? nodeCrypto.createHash("sha256").update(bytes).digest("hex") : bytesToHex(sha256(bytes));
}

/** Lower-case hex of the SHA-256 of a text's UTF-8 form. */
export function sha256HexOfText(text: string): string {
  return sha256Hex(new TextEncoder().encode(text));
}
