import { createPublicKey, generateKeyPairSync, webcrypto } from "node:crypto";
import { verifyCardSignatures } from "a2a-lease";
import { createTestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/model/schema.ts";
import { baseCard, rejectionOf } from "./cards.ts";
import { createTestSigner, encode, hmacSigned, sortedJson, testAlgorithms } from "./signer.ts";

const card = baseCard({ name: "Fjäll 😀" });
const text = sortedJson(card);
const signer = createTestSigner();
const other = createTestSigner("key-2");
const keys = [signer.jwk];
const signed = signer.signed(card);
const [entry] = signed.signatures as [{ protected: string; signature: string }];
const thumbprint = /^[\w-]{43}$/;

const verify = (value: JsonObject, options: object = {}) => verifyCardSignatures(value, { keys, ...options });
/** The result and what was wrong with each signature. */
async function told(value: JsonObject, options: object = {}) {
  const { result, signatures } = await verify(value, options);
  return [result, ...signatures.map(({ problem }) => problem ?? "counts")];
}
const withEntry = (one: unknown) => ({ ...card, signatures: [one] });

describe("a valid signature", () => {
  test("counts under a key whose members are null where there is nothing to say", async () => {
    const nulls = { use: null, key_ops: null, alg: null, exp: null, nbf: null, revoked: null, x5c: null };
    for (const more of [nulls, { revoked: false }]) {
      const jwk = { ...signer.jwk, ...more };
      expect(await told(signed, { keys: [jwk] })).toEqual(["valid", "counts"]);
      const jkuOrigins = ["https://keys.example"];
      const fetch = async () => Response.json({ keys: [jwk] });
      const named = signer.signed(card, { jku: "https://keys.example/jwks.json" });
      expect(await told(named, { keys: [], jkuOrigins, fetch })).toEqual(["valid", "counts"]);
    }
  });
  test("names the key by its thumbprint, its id and the form", async () => {
    const verdict = await verify(signed);
    const signerFound = {
      thumbprint: expect.stringMatching(thumbprint),
      kid: "key-1",
      algorithm: "ES256",
      profile: "spec",
    };
    expect(verdict).toEqual({
      result: "valid",
      message: "",
      signers: [signerFound],
      signatures: [{ result: "valid", message: "", ...signerFound }],
    });
    expect(Object.isFrozen(verdict) && Object.isFrozen(verdict.signers[0])).toBe(true);
  });
  test("has the thumbprint of RFC 7638", async () => {
    // The example of its section 3.1.
    const n =
      "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw";
    const { readJwk } = await import("../../src/card/keys.ts");
    expect(await readJwk({ kty: "RSA", n, e: "AQAB", alg: "RS256", kid: "2011-04-29" })).toMatchObject({
      thumbprint: "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs",
    });
    // Some writers leave a zero before a number, and padding after it.
    const zeros = Buffer.concat([Buffer.alloc(1), Buffer.from(n, "base64url")]).toString("base64");
    expect(await readJwk({ kty: "RSA", n: zeros, e: "AAEAAQ==" })).toMatchObject({
      jwk: { kty: "RSA", n, e: "AQAB" },
      thumbprint: "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs",
    });
  });
  test.each(testAlgorithms)("is made with %s", async (algorithm) => {
    const one = createTestSigner("k", algorithm);
    expect(await told(one.signed(card), { keys: [one.jwk] })).toEqual(["valid", "counts"]);
    expect(await told({ ...one.signed(card), name: "U" }, { keys: [one.jwk] })).toEqual([
      "invalid",
      "mismatch",
    ]);
  });

  const spki = signer.publicKey.export({ type: "spki", format: "pem" });
  const sameKey: readonly (readonly [string, unknown])[] = [
    ["a JWK", signer.jwk],
    ["a JWK Set", { keys: [other.jwk, signer.jwk] }],
    ["a PEM", spki],
    ["a PEM with a key id", { kid: "key-1", key: spki }],
    ["a KeyObject", createPublicKey(signer.privateKey)],
    ["a KeyObject with a key id", { kid: "key-1", key: signer.publicKey }],
  ];
  test.each(sameKey)("is checked with %s", async (_says, key) => {
    expect(await told(signed, { keys: [key] })).toEqual(["valid", "counts"]);
  });
  test("is checked with a CryptoKey", async () => {
    const { kty, crv, x, y } = signer.jwk as Record<string, string>;
    const algorithm = { name: "ECDSA", namedCurve: "P-256" };
    const jwk = { kty, crv, x, y } as webcrypto.JsonWebKey;
    const key = await webcrypto.subtle.importKey("jwk", jwk, algorithm, true, ["verify"]);
    expect(await told(signed, { keys: [key] })).toEqual(["valid", "counts"]);
  });
  test("of a key that is named by its thumbprint", async () => {
    const kid = (await verify(signed)).signers[0]?.thumbprint;
    const { kid: _none, ...jwk } = signer.jwk;
    expect(await told(signer.signed(card, { kid }), { keys: [jwk] })).toEqual(["valid", "counts"]);
  });
  test("over a payload that is not encoded (RFC 7797)", async () => {
    const head = { b64: false, crit: ["b64"] };
    const raw = signer.signRaw(text, head);
    expect(await told(withEntry(raw))).toEqual(["valid", "counts"]);
    expect(await told(withEntry(signer.signRaw(`${text} `, head)))).toEqual(["invalid", "mismatch"]);
    expect(await told(withEntry(signer.signRaw(text, { b64: false })))).toEqual([
      "invalid",
      "critical-header",
    ]);
  });
  test("takes nothing from the unprotected header", async () => {
    const header = { alg: "none", kid: "key-9", jku: "https://evil.example/", crit: ["x"] };
    expect(await told(withEntry({ ...entry, header }))).toEqual(["valid", "counts"]);
  });
});

describe("one bit that flips", () => {
  test("in any byte of the card's content makes it invalid", async () => {
    const bytes = Buffer.from(text);
    const { checkJws } = await import("../../src/card/jose.ts");
    const parts = { ...entry, algorithm: "ES256", isEncoded: true };
    expect(await checkJws({ ...parts, payload: bytes }, signer.jwk)).toBe("fits");
    for (let at = 0; at < bytes.length; at++) {
      const flipped = Uint8Array.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      expect(await checkJws({ ...parts, payload: flipped }, signer.jwk)).toBe("misfits");
    }
  });
  test("in any character of the card that is served lets no card pass", async () => {
    const served = JSON.stringify(signed);
    const end = served.indexOf('"signatures"');
    for (let at = 0; at < end; at++) {
      const code = served.charCodeAt(at);
      if (code > 0x7f) continue;
      const changed =
        served.slice(0, at) + String.fromCharCode(code ^ (1 << (at % 7))) + served.slice(at + 1);
      const verdict = await verifyCardSignatures(changed, { keys }).catch(() => undefined);
      // A flip that keeps the text as JSON with the same content does not exist in what has no white space.
      if (verdict) expect([at, verdict.result]).not.toEqual([at, "valid"]);
    }
  });
  test.each(["protected", "signature"] as const)(
    "in any byte of the %s makes it count no more",
    async (part) => {
      const bytes = Buffer.from(entry[part], "base64url");
      for (let at = 0; at < bytes.length; at++) {
        const flipped = Uint8Array.from(bytes);
        flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
        const changed = { ...entry, [part]: Buffer.from(flipped).toString("base64url") };
        const { result, signers } = await verify(withEntry(changed));
        expect([at, result === "valid", signers]).toEqual([at, false, []]);
      }
    },
  );
});

describe("each way to fail has a name of its own", () => {
  const expired = { ...signer.jwk, exp: 999 };
  const early = { ...signer.jwk, nbf: 1_001 };
  const clock = createTestClock({ startMs: 1_000_000 });
  const weak = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey.export({ format: "jwk" });
  const pem = String(signer.publicKey.export({ type: "spki", format: "pem" }));
  const header = (more: JsonObject) => ({
    ...entry,
    protected: encode(JSON.stringify({ alg: "ES256", kid: "key-1", ...more })),
  });
  const cases: readonly (readonly [string, unknown, string, string, object?])[] = [
    ["no JSON Web Signature (C10)", { protected: "e30", signature: "AAAA" }, "invalid", "malformed"],
    ["an entry that is a text", "x", "invalid", "malformed"],
    ["a header that is no base64url", { ...entry, protected: "!" }, "invalid", "malformed"],
    ["a header with padding", { ...entry, protected: `${entry.protected}==` }, "invalid", "malformed"],
    ["a header that is no JSON", { ...entry, protected: encode("{") }, "invalid", "malformed"],
    [
      "a header with a name twice",
      { ...entry, protected: encode('{"alg":"none","alg":"ES256"}') },
      "invalid",
      "malformed",
    ],
    ["a header that is a list", { ...entry, protected: encode("[]") }, "invalid", "malformed"],
    ["a key id that is no text", header({ kid: 1 }), "invalid", "malformed"],
    ["a signature that is empty", { ...entry, signature: "" }, "invalid", "malformed"],
    [
      "a signature of another length",
      { ...entry, signature: entry.signature.slice(4) },
      "invalid",
      "mismatch",
    ],
    [
      "the algorithm none",
      { ...header({ alg: "none" }), signature: entry.signature },
      "invalid",
      "algorithm-none",
    ],
    [
      "HMAC with the public key as its secret",
      hmacSigned(text, pem, { kid: "key-1" }),
      "unverifiable",
      "algorithm-refused",
      { keys: [{ kid: "key-1", key: pem }] },
    ],
    [
      "an algorithm that the caller does not accept",
      entry,
      "unverifiable",
      "algorithm-refused",
      { algorithms: ["EdDSA"] },
    ],
    ["an algorithm that nobody knows", header({ alg: "toString" }), "unverifiable", "algorithm-refused"],
    [
      "what is critical and not known",
      signer.sign(text, { crit: ["exp"], exp: 1 }),
      "invalid",
      "critical-header",
    ],
    ["a list of nothing that is critical", signer.sign(text, { crit: [] }), "invalid", "critical-header"],
    ["another algorithm than the key is for", signer.sign(text, { alg: "ES384" }), "invalid", "key-unfit"],
    ["an RSA algorithm over an EC key", header({ alg: "RS256" }), "invalid", "key-unfit"],
    [
      "a key that is too weak",
      header({ alg: "RS256", kid: "w" }),
      "invalid",
      "key-unfit",
      { keys: [{ ...weak, kid: "w" }] },
    ],
    [
      "a point that is on no curve",
      entry,
      "invalid",
      "key-unfit",
      { keys: [{ ...signer.jwk, x: other.jwk.x }] },
    ],
    ["a key id that nobody trusted has", other.sign(text), "untrusted-signer", "no-key"],
    ["no key id, and a key that is not trusted", other.sign(text, { kid: undefined }), "invalid", "mismatch"],
    ["another key under a trusted key's id", other.sign(text, { kid: "key-1" }), "invalid", "mismatch"],
    ["a key that is past its time", entry, "untrusted-signer", "key-expired", { keys: [expired], clock }],
    ["a key that is not yet in force", entry, "untrusted-signer", "key-expired", { keys: [early], clock }],
    [
      "a key that is revoked",
      entry,
      "untrusted-signer",
      "key-expired",
      { keys: [{ ...signer.jwk, revoked: {} }] },
    ],
    [
      "a key whose time can't be read",
      entry,
      "untrusted-signer",
      "key-expired",
      { keys: [{ ...signer.jwk, exp: "soon" }] },
    ],
    [
      "a key set at a place that is not allowed",
      other.sign(text, { jku: "https://evil.example/jwks" }),
      "untrusted-signer",
      "jku-refused",
    ],
  ];
  test.each(cases)("%s", async (_says, one, result, problem, options = {}) => {
    const asked: string[] = [];
    const fetch = async (url: string) => {
      asked.push(url);
      return new Response("");
    };
    expect([...(await told(withEntry(one), { fetch, ...(options as object) })), asked]).toEqual([
      result,
      problem,
      [],
    ]);
  });
  test("no signature at all", async () => {
    for (const none of [card, { ...card, signatures: [] }, { ...card, signatures: null }]) {
      expect(await told(none)).toEqual(["unsigned"]);
    }
  });
  test("more signatures than anybody looks at", async () => {
    const many = Array.from({ length: 5_000 }, () => other.sign("x"));
    const { result, signatures } = await verify({ ...card, signatures: [...many, entry] });
    expect([result, signatures.length, signatures.at(-1)?.problem]).toEqual(["unverifiable", 17, "too-many"]);
  });
});

describe("several signatures", () => {
  const both = other.signed(signed);
  const pair = [signer.jwk, other.jwk];
  test.each([
    ["one of two trusted", both, { keys }, ["valid", "counts", "no-key"]],
    ["two of two", both, { keys: pair, threshold: 2 }, ["valid", "counts", "counts"]],
    [
      "one that does not fit beside one that does",
      { ...both, signatures: [{ ...entry, signature: other.sign("").signature }, entry] },
      {},
      ["valid", "mismatch", "counts"],
    ],
    [
      "the same one twice",
      { ...card, signatures: [entry, entry] },
      { threshold: 2 },
      ["untrusted-signer", "counts", "repeated"],
    ],
    [
      "one key under two ids",
      { ...card, signatures: [entry, signer.sign(text, { kid: "b" })] },
      { keys: [signer.jwk, { ...signer.jwk, kid: "b" }], threshold: 2 },
      ["untrusted-signer", "counts", "repeated"],
    ],
    [
      "one key written in two ways",
      { ...card, signatures: [entry, signer.sign(text, { kid: "b" })] },
      { keys: [signer.jwk, { ...signer.jwk, kid: "b", x: `${signer.jwk.x}=` }], threshold: 2 },
      ["untrusted-signer", "counts", "repeated"],
    ],
    [
      "two keys under one id",
      { ...card, signatures: [entry, other.sign(text, { kid: "key-1" })] },
      { keys: [signer.jwk, { ...other.jwk, kid: "key-1" }], threshold: 2 },
      ["untrusted-signer", "counts", "repeated"],
    ],
    ["too few", signed, { threshold: 2 }, ["untrusted-signer", "counts"]],
    [
      "too few, and one that does not fit",
      { ...both, name: "U" },
      { keys: pair, threshold: 2 },
      ["invalid", "mismatch", "mismatch"],
    ],
  ])("%s", async (_says, value, options, wanted) => {
    expect(await told(value, options)).toEqual(wanted);
  });
});

describe("what a caller may not trust", () => {
  const { privateKey } = signer;
  const wrong: readonly (readonly [string, object, RegExp])[] = [
    [
      "a private JWK",
      { keys: [privateKey.export({ format: "jwk" })] },
      /^options\.keys\[0\]: found a private key/,
    ],
    [
      "a private PEM",
      { keys: [privateKey.export({ type: "pkcs8", format: "pem" })] },
      /^options\.keys\[0\]: found a private key/,
    ],
    ["a private KeyObject", { keys: [privateKey] }, /^options\.keys\[0\]: found a private key/],
    [
      "a secret",
      { keys: [signer.jwk, { kty: "oct", k: "AAAA" }] },
      /^options\.keys\[1\]: found a key of type "oct"/,
    ],
    ["a text", { keys: ["x"] }, /^options\.keys\[0\]: found a text that is no PEM/],
    [
      "a set with a bad key",
      { keys: [{ keys: [signer.jwk, { kty: "EC" }] }] },
      /^options\.keys\[0\]\.keys\[1\]: found a key without all of/,
    ],
    [
      "a key for something that can't be read",
      { keys: [{ ...signer.jwk, key_ops: "sign" }] },
      /^options\.keys\[0\]: found a key whose key_ops lack verify/,
    ],
    [
      "a key for an algorithm that can't be read",
      { keys: [{ ...signer.jwk, alg: ["RS256"] }] },
      /^options\.keys\[0\]: found a key whose alg is no text/,
    ],
    [
      "a key for encryption",
      { keys: [{ ...signer.jwk, use: "enc" }] },
      /^options\.keys\[0\]: found a key for "enc"/,
    ],
    ["a key id that is none", { keys: [{ kid: 1, key: signer.jwk }] }, /^options\.keys\[0\]\.kid: /],
    ["HMAC", { algorithms: ["HS256"] }, /^options\.algorithms: found "HS256"/],
    ["none", { algorithms: ["none"] }, /^options\.algorithms: found "none"/],
    ["an unknown form", { profiles: ["mine"] }, /^options\.profiles: found "mine"/],
    ["a threshold of nobody", { threshold: 0 }, /^options\.threshold: found 0/],
    [
      "a threshold that no card reaches",
      { threshold: 17 },
      /^options\.threshold: found 17, wanted a whole number of 1 to 16/,
    ],
    [
      "a key set by http",
      { jkuOrigins: ["http://keys.example"] },
      /^options\.jkuOrigins: found "http:\/\/keys\.example"/,
    ],
    ["a place with a path", { jkuOrigins: ["https://keys.example/jwks"] }, /^options\.jkuOrigins: /],
  ];
  test.each(wrong)("%s", async (_says, options, message) => {
    const error = await rejectionOf(verify(signed, options));
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toMatch(message);
  });
});
