import type { JsonObject } from "../model/schema.ts";

type Jose = typeof import("jose");

let loading: Promise<Jose> | undefined;

/** The package, read in when a card is signed or a key is given, and not before. */
function load(): Promise<Jose> {
  loading ??= import("jose");
  return loading;
}

/** What a look at one signature with one key showed. */
export type JwsCheck = "fits" | "misfits" | "malformed" | "unfit-key";

/** One signature, taken apart. */
export interface JwsParts {
  /** Protected header, base64url, as received. */
  readonly protected: string;
  /** Signature, base64url, as received. */
  readonly signature: string;
  /** What was signed; a text is one that is in base64url already. */
  readonly payload: Uint8Array | string;
  /** Whether the payload is signed as base64url; `false` by RFC 7797. */
  readonly isEncoded: boolean;
  /** Algorithm. */
  readonly algorithm: string;
}

/** Checks a JSON Web Signature (RFC 7515) with a public key. */
export async function checkJws(parts: JwsParts, key: JsonObject): Promise<JwsCheck> {
  const jose = await load();
  const { payload, isEncoded, algorithm } = parts;
  const jws = {
    protected: parts.protected,
    signature: parts.signature,
    payload: isEncoded && typeof payload !== "string" ? jose.base64url.encode(payload) : payload,
  };
  let imported: Awaited<ReturnType<Jose["importJWK"]>>;
  try {
    imported = await jose.importJWK(key, algorithm);
  } catch {
    return "unfit-key";
  }
  try {
    await jose.flattenedVerify(jws, imported, { algorithms: [algorithm] });
    return "fits";
  } catch (error) {
    if (error instanceof jose.errors.JWSSignatureVerificationFailed) return "misfits";
    return error instanceof TypeError ? "unfit-key" : "malformed";
  }
}

/** Base64url of some bytes, as the payload of a signature. */
export async function encodePayload(bytes: Uint8Array): Promise<string> {
  return (await load()).base64url.encode(bytes);
}

/** RFC 7638 thumbprint of a public key, SHA-256 in base64url. */
export async function thumbprintOf(key: JsonObject): Promise<string> {
  return (await load()).calculateJwkThumbprint(key);
}

/** Algorithms to read a PEM with; the first one that takes it says which kind of key it is. */
const pemAlgorithms = ["ES256", "ES384", "ES512", "Ed25519", "RS256"];

/** The public key of a PEM, an SPKI or an X.509 certificate, as a JWK; `undefined` where there is none in it. */
export async function jwkFromPem(pem: string): Promise<JsonObject | undefined> {
  const jose = await load();
  const read = pem.startsWith("-----BEGIN CERTIFICATE-----") ? jose.importX509 : jose.importSPKI;
  for (const algorithm of pemAlgorithms) {
    try {
      return { ...(await jose.exportJWK(await read(pem, algorithm, { extractable: true }))) };
    } catch {
      // A key of another kind, or none.
    }
  }
  return undefined;
}

/** A `CryptoKey` or `KeyObject` as a JWK; `undefined` where it does not let itself be read. */
export async function jwkFromKey(key: object): Promise<JsonObject | undefined> {
  const jose = await load();
  try {
    return { ...(await jose.exportJWK(key as Parameters<Jose["exportJWK"]>[0])) };
  } catch {
    return undefined;
  }
}
