import type { JsonObject } from "../model/schema.ts";
import { decodeBase64, encodeBase64 } from "../util/base64.ts";
import { isRecord } from "../util/freeze.ts";
import { thumbprintOf } from "./jose.ts";

/** Algorithms of signatures that are accepted where the caller names none: no `none`, and none with a shared secret. */
export const defaultAlgorithms: readonly string[] = Object.freeze([
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
]);

/** A public key, ready to check signatures with. */
export interface VerificationKey {
  /** The public members alone. */
  readonly jwk: JsonObject;
  /** Key id, where it has one. */
  readonly kid: string | undefined;
  /** RFC 7638 thumbprint. */
  readonly thumbprint: string;
  /** The one algorithm that it may be used with, where it says so. */
  readonly algorithm: string | undefined;
  /** From when it is in force, milliseconds since the epoch. */
  readonly notBeforeMs: number;
  /** Until when. */
  readonly notAfterMs: number;
}

/** The members of a public key that make it one, by its type. */
const publicMembers: Readonly<Record<string, readonly string[]>> = Object.freeze({
  EC: ["kty", "crv", "x", "y"],
  OKP: ["kty", "crv", "x"],
  RSA: ["kty", "n", "e"],
});

/**
 * Reads a JWK (RFC 7517); a text says why it is no key for signatures. A member that is `null` is one that is not there,
 * as some writers have it; one that limits the key and can't be read leaves nothing to use it for.
 */
export async function readJwk(given: unknown): Promise<VerificationKey | string> {
  if (!isRecord(given)) return "found no JWK, wanted an object";
  const jwk = Object.fromEntries(Object.entries(given).filter(([, member]) => member !== null));
  const names = Object.hasOwn(publicMembers, String(jwk.kty)) ? publicMembers[String(jwk.kty)] : undefined;
  if (!names) return `found a key of type ${show(jwk.kty)}, wanted EC, OKP or RSA`;
  if (jwk.d !== undefined) return "found a private key, wanted a public one";
  if (jwk.use !== undefined && jwk.use !== "sig")
    return `found a key for ${show(jwk.use)}, wanted one for sig`;
  const { key_ops: operations = ["verify"], alg } = jwk;
  if (!Array.isArray(operations) || !operations.includes("verify")) {
    return "found a key whose key_ops lack verify";
  }
  if (alg !== undefined && typeof alg !== "string") return "found a key whose alg is no text";
  const members = names.map((name) => [name, jwk[name]] as const);
  if (members.some(([, member]) => typeof member !== "string" || member === "")) {
    return `found a key without all of ${names.join(", ")}`;
  }
  const key: JsonObject = Object.freeze(
    Object.fromEntries(members.map(([name, member]) => [name, canonicalMember(name, String(member))])),
  );
  const { revoked = false, kid } = jwk;
  return Object.freeze({
    jwk: key,
    kid: typeof kid === "string" ? kid : undefined,
    thumbprint: await thumbprintOf(key),
    algorithm: alg,
    notBeforeMs: seconds(jwk.nbf, Number.NEGATIVE_INFINITY),
    // A key that is revoked was never in force for us: what it signed before can't be told from what came after.
    notAfterMs: revoked === false ? seconds(jwk.exp, Number.POSITIVE_INFINITY) : Number.NEGATIVE_INFINITY,
  });
}

/**
 * A number of an RSA key without zeros before it (RFC 7518, 6.3.1), which some writers leave there: one key has one
 * thumbprint. What is no base64url is left to whoever uses the key.
 */
function canonicalMember(name: string, member: string): string {
  if (name === "kty" || name === "crv") return member;
  const bytes = decodeBase64(member);
  if (!bytes) return member;
  const isNumber = name === "n" || name === "e";
  const first = isNumber ? bytes.findIndex((byte) => byte !== 0) : 0;
  const text = encodeBase64(bytes.subarray(Math.max(0, first)));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function seconds(value: unknown, none: number): number {
  if (value === undefined) return none;
  // A limit that can't be read is one that is over.
  return typeof value === "number" ? value * 1000 : Number.NaN;
}

/** Whether a key is in force at a time. */
export function isInForce(key: VerificationKey, atMs: number): boolean {
  return atMs >= key.notBeforeMs && atMs < key.notAfterMs;
}

/** What a key must be to make a signature of an algorithm (RFC 7518, 8037). */
const kinds: Readonly<Record<string, { readonly kty: string; readonly crv?: string }>> = Object.freeze({
  ES256: { kty: "EC", crv: "P-256" },
  ES384: { kty: "EC", crv: "P-384" },
  ES512: { kty: "EC", crv: "P-521" },
  EdDSA: { kty: "OKP", crv: "Ed25519" },
  Ed25519: { kty: "OKP", crv: "Ed25519" },
});

const minRsaBits = 2048;
const maxRsaBits = 16_384;

/** Whether a key can have made a signature of an algorithm; a text says why not. */
export function misfitOf({ jwk, algorithm: own }: VerificationKey, algorithm: string): string | undefined {
  if (own !== undefined && normal(own) !== normal(algorithm)) {
    return `found a key for ${show(own)}, wanted one for ${algorithm}`;
  }
  const kind = kinds[algorithm] ?? { kty: "RSA" };
  const found = jwk.crv === undefined ? String(jwk.kty) : `${jwk.kty} ${show(jwk.crv)}`;
  if (jwk.kty !== kind.kty || (kind.crv !== undefined && jwk.crv !== kind.crv)) {
    return `found a key of type ${found}, wanted ${[kind.kty, kind.crv].filter(Boolean).join(" ")}`;
  }
  if (kind.kty !== "RSA") return undefined;
  const bits = rsaBits(String(jwk.n));
  if (bits >= minRsaBits && bits <= maxRsaBits) return undefined;
  return `found an RSA key of ${bits} bits, wanted ${minRsaBits} to ${maxRsaBits}`;
}

/** `EdDSA` is the older name of `Ed25519` (RFC 9864). */
function normal(algorithm: string): string {
  return algorithm === "EdDSA" ? "Ed25519" : algorithm;
}

/** Bits of a modulus in base64url, six a character; the last few may be padding. */
function rsaBits(modulus: string): number {
  return Math.floor((modulus.replace(/^A+/, "").length * 6) / 8) * 8;
}

function show(value: unknown): string {
  return (JSON.stringify(value) ?? "none").slice(0, 40);
}
