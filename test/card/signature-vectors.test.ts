import { readFileSync } from "node:fs";
import { canonicalizeAgentCard, generateAgentCardSignature, AgentCard as SdkCard } from "@a2a-js/sdk";
import { verifyCardSignatures } from "a2a-lease";
import { describe, expect, test } from "vitest";
import { canonicalCard, canonicalWriter } from "../../src/card/canonical.ts";
import type { JsonObject } from "../../src/model/schema.ts";
import type { CardSignatureProfile } from "../../src/model/signature.ts";
import { baseCard, skill } from "./cards.ts";
import { createTestSigner, sortedJson } from "./signer.ts";

const signer = createTestSigner();
const keys = [signer.jwk];
const all: readonly CardSignatureProfile[] = ["spec", "a2a-js", "a2a-python", "as-received"];

/** What became of the first signature: result, problem, form. */
async function verdictOf(card: JsonObject, options: object = {}) {
  const { result, signatures } = await verifyCardSignatures(card, { keys, ...options });
  const [{ problem, profile } = { problem: undefined, profile: undefined }] = signatures;
  return [result, problem, profile];
}

const full = baseCard({ skills: [skill("s", { tags: ["t"] })], description: "d" });
const astral = {
  ...full,
  name: "Fjällräven 😀",
  description: "\u007f\u2028 ﬀ \u0000",
  capabilities: {
    streaming: true,
    // U+1F600 sorts before U+FB00 by UTF-16 code units, and after it by code points.
    extensions: [{ uri: "urn:x", params: { "😀": 1, ﬀ: 2, é: 3.5 } }],
  },
};

describe("the spec's form", () => {
  const cases: readonly (readonly [string, JsonObject, string])[] = [
    [
      "the example of 8.4.1",
      {
        name: "Example Agent",
        description: "",
        capabilities: { streaming: false, pushNotifications: false, extensions: [] },
        skills: [],
        supportedInterfaces: [],
        version: "",
        defaultInputModes: [],
        defaultOutputModes: [],
      },
      '{"capabilities":{"pushNotifications":false,"streaming":false},"defaultInputModes":[],"defaultOutputModes":[],"description":"","name":"Example Agent","skills":[],"supportedInterfaces":[],"version":""}',
    ],
    [
      "what is REQUIRED and was left out in transit",
      { name: "T", capabilities: {} },
      '{"capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],"description":"","name":"T","skills":[],"supportedInterfaces":[],"version":""}',
    ],
    [
      "null, which is not set",
      {
        ...full,
        provider: null,
        documentationUrl: null,
        iconUrl: null,
        securitySchemes: null,
        signatures: null,
      },
      sortedJson(full),
    ],
    [
      "optional texts that are set and empty",
      { ...full, documentationUrl: "", iconUrl: "" },
      sortedJson({ ...full, documentationUrl: "", iconUrl: "" }),
    ],
    [
      "defaults of members that are neither",
      {
        ...full,
        securitySchemes: {},
        securityRequirements: [],
        supportedInterfaces: [{ url: "u", protocolBinding: "b", protocolVersion: "1.0", tenant: "" }],
        capabilities: { extensions: [{ uri: "urn:x", description: "", required: false, params: {} }] },
        skills: [
          skill("s", { tags: [], examples: [], inputModes: [], outputModes: [], securityRequirements: [] }),
        ],
      },
      sortedJson({
        ...full,
        supportedInterfaces: [{ url: "u", protocolBinding: "b", protocolVersion: "1.0" }],
        capabilities: { extensions: [{ uri: "urn:x", params: {} }] },
        skills: [skill("s", { tags: [] })],
      }),
    ],
    [
      "members that the spec does not have, whatever they hold",
      { ...full, "x-a": null, "x-b": "", "x-c": [], "x-d": { e: false, f: {} }, signatures: [{ x: 1 }] },
      sortedJson({ ...full, "x-a": null, "x-b": "", "x-c": [], "x-d": { e: false, f: {} } }),
    ],
    [
      "what an extension says of itself, as it is",
      {
        ...full,
        capabilities: {
          extensions: [{ uri: "u", params: { a: null, b: "", c: [], d: {}, e: false, f: 0 } }],
        },
      },
      sortedJson({
        ...full,
        capabilities: {
          extensions: [{ uri: "u", params: { a: null, b: "", c: [], d: {}, e: false, f: 0 } }],
        },
      }),
    ],
    [
      "security schemes and what they need",
      {
        ...full,
        securitySchemes: {
          m: { mtlsSecurityScheme: {} },
          o: {
            oauth2SecurityScheme: {
              description: "",
              oauth2MetadataUrl: "",
              flows: {
                authorizationCode: {
                  authorizationUrl: "a",
                  tokenUrl: "b",
                  refreshUrl: "",
                  scopes: {},
                  pkceRequired: false,
                },
              },
            },
          },
          i: { oauth2SecurityScheme: { flows: { implicit: { authorizationUrl: "", scopes: {} } } } },
        },
        securityRequirements: [{ schemes: { m: { list: [] } } }, { schemes: {} }],
      },
      sortedJson({
        ...full,
        securitySchemes: {
          m: { mtlsSecurityScheme: {} },
          o: {
            oauth2SecurityScheme: {
              flows: { authorizationCode: { authorizationUrl: "a", tokenUrl: "b", scopes: {} } },
            },
          },
          i: { oauth2SecurityScheme: { flows: { implicit: {} } } },
        },
        securityRequirements: [{ schemes: { m: {} } }, {}],
      }),
    ],
    ["names in order of their UTF-16 code units", astral, sortedJson(astral)],
  ];
  test.each(cases)("writes %s", async (_says, card, text) => {
    expect(canonicalCard(card)).toBe(text);
    const signed = { ...card, signatures: [signer.sign(text)] };
    expect(await verdictOf(signed)).toEqual(["valid", undefined, "spec"]);
  });

  test("is the same for a card that lost or gained its defaults in transit (C5, C6)", () => {
    const sent = { ...full, capabilities: { extensions: [{ uri: "urn:x", required: false }] }, skills: [] };
    const { skills: _gone, ...kept } = { ...full, capabilities: { extensions: [{ uri: "urn:x" }] } };
    expect(canonicalCard(sent)).toBe(canonicalCard(kept));
  });
  test("tells an optional flag that is set to false from one that is not set (C2)", () => {
    const said = { ...full, capabilities: { streaming: false, pushNotifications: false } };
    expect(canonicalCard(said)).toBe(sortedJson(said));
    expect(canonicalCard(said)).not.toBe(canonicalCard({ ...full, capabilities: {} }));
  });
});

describe("cards signed by the JavaScript SDK", () => {
  const sdkSigned = async (card: JsonObject) => {
    const sign = generateAgentCardSignature(signer.privateKey, {
      alg: "ES256",
      kid: signer.kid,
      typ: "JOSE",
    });
    const { signatures } = await sign(SdkCard.fromJSON(card));
    const entries = signatures.map(({ protected: head, signature }) => ({ protected: head, signature }));
    return { ...card, signatures: entries };
  };
  const defaults = {
    ...full,
    description: "",
    skills: [],
    capabilities: { streaming: false },
    documentationUrl: "",
  };
  const cases = [
    ["nothing empty", full, ["valid", undefined, "spec"]],
    ["non-ASCII and astral names", astral, ["valid", undefined, "spec"]],
    ["explicit defaults", defaults, ["invalid", "other-profile", "a2a-js"]],
    ["an unknown member", { ...full, "x-a": 1 }, ["invalid", "other-profile", "a2a-js"]],
  ] as const;
  test.each(cases)("with %s", async (_says, card, wanted) => {
    const signed = await sdkSigned(card);
    expect(await verdictOf(signed)).toEqual(wanted);
    const [, , profile] = wanted;
    expect(await verdictOf(signed, { profiles: ["spec", "a2a-js"] })).toEqual(["valid", undefined, profile]);
  });
  test.each(cases)("are written as the SDK writes them: %s", (_says, card) => {
    const text = canonicalWriter(card)().find(({ profiles }) => profiles.includes("a2a-js"))?.text;
    expect(text).toBe(canonicalizeAgentCard(SdkCard.fromJSON(card)));
  });
});

describe("cards signed by the Python SDK", () => {
  interface Vector {
    readonly signer: string;
    readonly name: string;
    readonly card: JsonObject;
  }
  const { key, vectors }: { key: JsonObject; vectors: readonly Vector[] } = JSON.parse(
    readFileSync("test/card/vectors/python-sdk.json", "utf8"),
  );
  const strict: Readonly<Record<string, readonly unknown[]>> = {
    "current: plain": ["valid", undefined, "spec"],
    "current: non-ascii and astral": ["valid", undefined, "spec"],
    "current: explicit defaults": ["invalid", "other-profile", "a2a-js"],
    "current: numbers": ["valid", undefined, "spec"],
    "older: plain": ["valid", undefined, "spec"],
    "older: non-ascii and astral": ["invalid", "other-profile", "a2a-python"],
    "older: explicit defaults": ["invalid", "other-profile", "a2a-js"],
    "older: numbers": ["invalid", "other-profile", "a2a-python"],
  };
  test.each(vectors.map((vector) => [`${vector.signer}: ${vector.name}`, vector] as const))(
    "%s",
    async (name, { card }) => {
      expect(await verdictOf(card, { keys: [key] })).toEqual(strict[name]);
      const [result, , profile] = await verdictOf(card, { keys: [key], profiles: ["spec", "a2a-python"] });
      expect([result, profile]).toEqual(["valid", strict[name]?.[2] === "spec" ? "spec" : "a2a-python"]);
    },
  );
});

describe("a signature that fits another form", () => {
  const card = { ...full, "x-a": "", iconUrl: "" };
  const { "x-a": _a, iconUrl: _b, ...less } = card;
  const signed = { ...card, signatures: [signer.sign(sortedJson(less))] };

  test("says both digests and where they part, and nothing of a change of the card", async () => {
    const { result, message, signatures } = await verifyCardSignatures(signed, { keys });
    const forms = signatures[0]?.forms ?? [];
    expect([result, signatures[0]?.problem, signatures[0]?.profile]).toEqual([
      "invalid",
      "other-profile",
      "a2a-js",
    ]);
    const [spec] = forms;
    const other = forms.find(({ profile }) => profile === "a2a-js");
    expect(spec).toEqual({ profile: "spec", digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) });
    const at = canonicalCard(card).indexOf('"iconUrl"') + 1;
    expect(other).toMatchObject({
      profile: "a2a-js",
      differsAt: at,
      excerpt: expect.stringMatching(/^name/),
      specExcerpt: expect.stringMatching(/^iconUrl/),
    });
    expect(message).toContain(spec?.digest);
    expect(message).toContain(other?.digest);
    expect(message).toContain(`character ${at}`);
    expect(message).not.toMatch(/tamper|forge|chang/i);
  });
  test.each(all)("counts only where the caller accepts it: %s", async (profile) => {
    const { result } = await verifyCardSignatures(signed, { keys, profiles: [profile] });
    expect(result).toBe(profile === "a2a-js" || profile === "a2a-python" ? "valid" : "invalid");
  });
  test("of exactly what is served", async () => {
    const served = { ...card, securitySchemes: {} };
    const exact = { ...served, signatures: [signer.sign(sortedJson(served))] };
    expect(await verdictOf(exact)).toEqual(["invalid", "other-profile", "as-received"]);
    expect(await verdictOf(exact, { profiles: ["as-received"] })).toEqual([
      "valid",
      undefined,
      "as-received",
    ]);
  });
  test("tells a card that fits no form by every form's digest", async () => {
    const other = { ...signed, name: "U" };
    const { result, signatures } = await verifyCardSignatures(other, { keys, profiles: all });
    expect([result, signatures[0]?.problem, signatures[0]?.forms?.map(({ profile }) => profile)]).toEqual([
      "invalid",
      "mismatch",
      ["spec", "as-received", "a2a-js", "a2a-python"],
    ]);
  });
});
