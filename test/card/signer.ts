import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { JsonObject } from "../../src/model/schema.ts";

/** A signer of tests: it shares no code with the library, and signs the text that it is told to. */
export interface TestSigner {
  /** Key id that its signatures name. */
  readonly kid: string;
  /** The public key, with its key id. */
  readonly jwk: JsonObject;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  /** Signs a text; `header` adds to the protected header, or replaces members of it. */
  sign(text: string, header?: JsonObject): { readonly protected: string; readonly signature: string };
  /** Signs a text as it is, without base64url (RFC 7797). */
  signRaw(text: string, header: JsonObject): { readonly protected: string; readonly signature: string };
  /** The card with one more signature over its plain form: sorted names, nothing left out but the signatures. */
  signed<T extends JsonObject>(card: T, header?: JsonObject): T;
}

const pairs = {
  ES256: () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
  ES384: () => generateKeyPairSync("ec", { namedCurve: "P-384" }),
  ES512: () => generateKeyPairSync("ec", { namedCurve: "P-521" }),
  EdDSA: () => generateKeyPairSync("ed25519"),
  Ed25519: () => generateKeyPairSync("ed25519"),
  RS256: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
  RS384: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
  RS512: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
  PS256: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
  PS384: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
  PS512: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
};

/** Algorithms that a test signer has. */
export const testAlgorithms = Object.keys(pairs) as (keyof typeof pairs)[];

/** Makes a signer with a key of its own. */
export function createTestSigner(kid = "key-1", algorithm: keyof typeof pairs = "ES256"): TestSigner {
  const { publicKey, privateKey } = pairs[algorithm]();
  const signText: TestSigner["sign"] = (text, header = {}) => {
    const head = encode(JSON.stringify({ alg: algorithm, typ: "JOSE", kid, ...header }));
    const input = Buffer.from(`${head}.${encode(text)}`);
    return { protected: head, signature: signatureOf(algorithm, input, privateKey).toString("base64url") };
  };
  return {
    kid,
    jwk: { ...publicKey.export({ format: "jwk" }), kid },
    publicKey,
    privateKey,
    sign: signText,
    signRaw(text, header) {
      const head = encode(JSON.stringify({ alg: algorithm, typ: "JOSE", kid, ...header }));
      const signature = signatureOf(algorithm, Buffer.from(`${head}.${text}`), privateKey);
      return { protected: head, signature: signature.toString("base64url") };
    },
    signed(card, header) {
      const { signatures = [], ...content } = card;
      return { ...card, signatures: [...(signatures as unknown[]), signText(sortedJson(content), header)] };
    },
  };
}

function signatureOf(algorithm: string, input: Buffer, key: KeyObject): Buffer {
  if (algorithm.startsWith("Ed")) return sign(null, input, key);
  const hash = `sha${algorithm.slice(2)}`;
  if (algorithm.startsWith("ES")) return sign(hash, input, { key, dsaEncoding: "ieee-p1363" });
  if (algorithm.startsWith("RS")) return sign(hash, input, key);
  return sign(hash, input, { key, padding: 6, saltLength: Number(algorithm.slice(2)) / 8 });
}

/** A signature of a text by HMAC. */
export function hmacSigned(text: string, secret: string, header: JsonObject) {
  const head = encode(JSON.stringify({ alg: "HS256", typ: "JOSE", ...header }));
  const mac = createHmac("sha256", secret)
    .update(`${head}.${encode(text)}`)
    .digest("base64url");
  return { protected: head, signature: mac };
}

/** Base64url of a text. */
export function encode(text: string): string {
  return Buffer.from(text).toString("base64url");
}

/** JSON with sorted names and no white space. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
