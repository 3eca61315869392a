import type { JsonObject } from "../model/schema.ts";
import { isRecord } from "../util/freeze.ts";
import { certificateTerm } from "./certificate.ts";
import { jwkFromKey, jwkFromPem } from "./jose.ts";
import { readJwk, type VerificationKey } from "./keys.ts";

/** A `CryptoKey` or a `KeyObject` of Node. */
export interface KeyLike {
  /** `"public"`; any other kind is refused. */
  readonly type: string;
}

/** A public key: a JWK, a PEM (an SPKI or an X.509 certificate), a `CryptoKey` or a `KeyObject`. */
export type PublicKeyInput = JsonObject | string | KeyLike;

/**
 * A key that the caller trusts; with `kid` for the signatures that name it. A JWK Set counts as all its keys. One without
 * a key id is tried for every signature that names no better one.
 */
export type TrustedKeyInput =
  | PublicKeyInput
  | { readonly keys: readonly JsonObject[] }
  | { readonly kid: string; readonly key: PublicKeyInput };

/** Most keys that are trusted at once. */
const maxKeys = 1_000;

/**
 * Reads the keys that a caller trusts.
 *
 * @throws TypeError naming the option for what is no public key.
 */
export async function readTrustedKeys(
  given: readonly TrustedKeyInput[],
  option: string,
): Promise<readonly VerificationKey[]> {
  const keys: VerificationKey[] = [];
  for (const [at, input] of given.entries()) {
    for (const [name, item] of spread(input, `${option}[${at}]`)) keys.push(await readTrusted(item, name));
    if (keys.length > maxKeys) throw new TypeError(`${option}: found more than ${maxKeys} keys`);
  }
  return Object.freeze(keys);
}

function spread(input: unknown, name: string): (readonly [string, unknown])[] {
  const keys = isRecord(input) && !isKey(input) && input.kty === undefined ? input.keys : undefined;
  if (!Array.isArray(keys)) return [[name, input]];
  return keys.map((item, at) => [`${name}.keys[${at}]`, item] as const);
}

async function readTrusted(input: unknown, name: string): Promise<VerificationKey> {
  const isNamed = isRecord(input) && !isKey(input) && input.kty === undefined && input.key !== undefined;
  if (isNamed) {
    const { kid, key } = input;
    if (typeof kid !== "string" || kid === "") throw new TypeError(`${name}.kid: wanted a text`);
    return Object.freeze({ ...(await readTrusted(key, `${name}.key`)), kid });
  }
  const read = await readJwk(await asJwk(input, name));
  if (typeof read === "string") throw new TypeError(`${name}: ${read}`);
  if (typeof input !== "string" || !input.includes("-----BEGIN CERTIFICATE-----")) return read;
  const term = certificateTerm(input);
  if (!term) throw new TypeError(`${name}: found a certificate whose term can't be read`);
  return Object.freeze({ ...read, ...term });
}

async function asJwk(input: unknown, name: string): Promise<unknown> {
  if (typeof input === "string") {
    const pem = input.trim();
    if (/PRIVATE KEY-----/.test(pem))
      throw new TypeError(`${name}: found a private key, wanted a public one`);
    const jwk = /^-----BEGIN (?:PUBLIC KEY|CERTIFICATE)-----/.test(pem) ? await jwkFromPem(pem) : undefined;
    if (!jwk) throw new TypeError(`${name}: found a text that is no PEM of a public key or a certificate`);
    return jwk;
  }
  if (!isKey(input)) return input;
  if (input.type !== "public") throw new TypeError(`${name}: found a ${input.type} key, wanted a public one`);
  const jwk = await jwkFromKey(input);
  if (!jwk) throw new TypeError(`${name}: found a key that can't be exported, wanted an extractable one`);
  return jwk;
}

/** Both kinds of key objects say what they are. */
function isKey(value: unknown): value is KeyLike {
  const tag = Object.prototype.toString.call(value);
  return tag === "[object CryptoKey]" || tag === "[object KeyObject]";
}
