import { sha256HexOfText } from "./hash.ts";

/** A fresh secret of 256 bits from the platform's secure source, as base64url. Never from a source that a test owns. */
export function createSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** What a secret is known by where it must not be kept: its SHA-256, in lower-case hex. */
export function fingerprintOf(secret: string): string {
  return sha256HexOfText(secret);
}

/** Compares two fingerprints in a time that does not depend on where they differ. */
export function isSameFingerprint(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let at = 0; at < a.length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at % (b.length || 1));
  return difference === 0;
}
