import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { cardStructureDigest } from "../../src/card/digest.ts";
import { shapeCard } from "../../src/card/parse.ts";
import { cardStructure, majorMinor } from "../../src/card/structure.ts";
import type { JsonObject } from "../../src/model/schema.ts";
import { baseCard, endpoint, skill } from "./cards.ts";

const oauth = (flow: JsonObject, more: JsonObject = {}) => ({
  oauth2SecurityScheme: {
    flows: { clientCredentials: { tokenUrl: "https://id.example/token", scopes: { read: "r" }, ...flow } },
    ...more,
  },
});

/** A card that has every member of the structure. */
const rich = baseCard({
  supportedInterfaces: [
    endpoint({ tenant: "t1" }),
    endpoint({ url: "https://agent.example/b", protocolBinding: "HTTP+JSON" }),
  ],
  capabilities: {
    streaming: true,
    pushNotifications: true,
    extendedAgentCard: true,
    extensions: [
      { uri: "urn:a", required: true, params: { level: 1 } },
      { uri: "urn:b", required: true },
      { uri: "urn:c", description: "optional" },
    ],
  },
  defaultInputModes: ["text/plain", "image/png"],
  defaultOutputModes: ["text/plain"],
  skills: [
    skill("b", {
      inputModes: ["text/csv"],
      securityRequirements: [{ schemes: { oauth: { list: ["read"] } } }],
    }),
    skill("a"),
  ],
  securitySchemes: {
    bearer: { httpAuthSecurityScheme: { scheme: "Bearer", bearerFormat: "JWT" } },
    key: { apiKeySecurityScheme: { location: "header", name: "X-Key" } },
    oauth: oauth({}),
    oidc: { openIdConnectSecurityScheme: { openIdConnectUrl: "https://id.example/oidc" } },
    mtls: { mtlsSecurityScheme: {} },
  },
  securityRequirements: [{ schemes: { oauth: { list: ["write", "read"] } } }, { schemes: { bearer: {} } }],
});
const withSchemes = (schemes: JsonObject) => ({
  ...rich,
  securitySchemes: { ...(rich.securitySchemes as object), ...schemes },
});
const withCapabilities = (members: JsonObject) => ({
  ...rich,
  capabilities: { ...rich.capabilities, ...members },
});
const withSkills = (...skills: readonly JsonObject[]) => ({ ...rich, skills });
const [b, a] = rich.skills as unknown as [JsonObject, JsonObject];
const [first, second] = rich.supportedInterfaces as unknown as [JsonObject, JsonObject];
const extensions = rich.capabilities.extensions as unknown as readonly JsonObject[];

test("the structure of a card is what a plan can depend on, and nothing else", () => {
  expect(cardStructure(shapeCard(rich, "").card)).toEqual({
    interfaces: [
      { url: "https://agent.example/rpc", binding: "JSONRPC", version: "1.0", tenant: "t1" },
      { url: "https://agent.example/b", binding: "HTTP+JSON", version: "1.0" },
    ],
    streaming: true,
    pushNotifications: true,
    extendedAgentCard: true,
    extensions: [{ uri: "urn:a", params: { level: 1 } }, { uri: "urn:b" }],
    defaultInputModes: ["image/png", "text/plain"],
    defaultOutputModes: ["text/plain"],
    // A skill that goes by the card's default media types says so by naming none.
    skills: [
      { id: "a" },
      {
        id: "b",
        inputModes: ["text/csv"],
        securityRequirements: [{ schemes: { oauth: { list: ["read"] } } }],
      },
    ],
    securitySchemes: {
      bearer: { http: { scheme: "Bearer", bearerFormat: "JWT" } },
      key: { apiKey: { location: "header", name: "X-Key" } },
      oauth: {
        oauth2: { flows: { clientCredentials: { tokenUrl: "https://id.example/token", scopes: ["read"] } } },
      },
      oidc: { openIdConnect: { url: "https://id.example/oidc" } },
      mtls: { mtls: {} },
    },
    securityRequirements: [{ schemes: { bearer: {} } }, { schemes: { oauth: { list: ["read", "write"] } } }],
  });
});

test("the structural digest is the hash of the structure's canonical form", () => {
  const canonical =
    '{"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],' +
    '"interfaces":[{"binding":"JSONRPC","url":"https://agent.example/rpc","version":"1.0"}],' +
    '"securitySchemes":{},"streaming":true}';
  const expected = `sha256-s1:${createHash("sha256").update(canonical).digest("hex")}`;
  expect(cardStructureDigest(baseCard())).toBe(expected);
});

describe("the structural digest stays", () => {
  test.each<[string, JsonObject]>([
    ["a name", { ...rich, name: "Other" }],
    ["a description that counts something (B10)", { ...rich, description: "Index of 1548 items" }],
    ["the agent's version", { ...rich, version: "9.9.9" }],
    [
      "provider, documentation and icon",
      { ...rich, provider: { url: "u", organization: "o" }, documentationUrl: "d", iconUrl: "i" },
    ],
    ["a signature", { ...rich, signatures: [{ protected: "e30", signature: "AA" }] }],
    ["unknown members", { ...rich, "x-future": { a: 1 }, skills: [{ ...b, "x-y": 1 }, a] }],
    ["an unknown capability", withCapabilities({ stateTransitionHistory: true })],
    [
      "an unknown member of a scheme",
      withSchemes({
        bearer: { httpAuthSecurityScheme: { scheme: "Bearer", bearerFormat: "JWT", x: 1 }, y: 2 },
      }),
    ],
    [
      "an unknown OAuth flow",
      withSchemes({
        oauth: { oauth2SecurityScheme: { flows: { ...oauth({}).oauth2SecurityScheme.flows, other: null } } },
      }),
    ],
    [
      "the patch of a protocol version",
      { ...rich, supportedInterfaces: [{ ...first, protocolVersion: "1.0.7" }, second] },
    ],
    [
      "a binding in lower case",
      { ...rich, supportedInterfaces: [{ ...first, protocolBinding: "jsonrpc" }, second] },
    ],
    ["an optional extension", withCapabilities({ extensions: extensions.slice(0, 2) })],
    ["the order of extensions", withCapabilities({ extensions: [...extensions].reverse() })],
    [
      "an extension's description",
      withCapabilities({ extensions: [{ ...extensions[0], description: "d" }, ...extensions.slice(1)] }),
    ],
    [
      "order and repetition of modes",
      { ...rich, defaultInputModes: ["image/png", "text/plain", "image/png"] },
    ],
    ["the order of skills", withSkills(a, b)],
    [
      "a skill's texts, tags and examples",
      withSkills(b, { ...a, name: "n", description: "d", tags: ["t"], examples: ["e"] }),
    ],
    [
      "the default modes named by a skill",
      withSkills(b, { ...a, inputModes: ["image/png", "text/plain"], outputModes: ["text/plain"] }),
    ],
    ["an empty list of modes on a skill", withSkills(b, { ...a, inputModes: [] })],
    [
      "descriptions of schemes",
      withSchemes({ key: { apiKeySecurityScheme: { location: "header", name: "X-Key", description: "d" } } }),
    ],
    ["the text of a scope", withSchemes({ oauth: oauth({ scopes: { read: "something else" } }) })],
    ["a scope without its text", withSchemes({ oauth: oauth({ scopes: { read: null } }) })],
    [
      "the order of alternatives and of scopes",
      {
        ...rich,
        securityRequirements: [
          { schemes: { bearer: { list: [] } } },
          { schemes: { oauth: { list: ["read", "write", "read"] } } },
        ],
      },
    ],
    [
      "alternatives as the prose writes them",
      { ...rich, securityRequirements: [{ oauth: ["write", "read"] }, { bearer: [] }] },
    ],
  ])("when what changes is %s", (_what, card) => {
    expect(cardStructureDigest(card)).toBe(cardStructureDigest(rich));
  });

  test.each<[string, JsonObject, JsonObject]>([
    [
      "a flag",
      { capabilities: {} },
      {
        capabilities: { streaming: false, pushNotifications: null, extensions: [], extendedAgentCard: false },
      },
    ],
    ["a tenant", { supportedInterfaces: [endpoint()] }, { supportedInterfaces: [endpoint({ tenant: "" })] }],
    [
      "a tenant that is null",
      { supportedInterfaces: [endpoint()] },
      { supportedInterfaces: [endpoint({ tenant: null })] },
    ],
    [
      "lists and maps of the root",
      {},
      { skills: null, securitySchemes: {}, securityRequirements: [], signatures: [] },
    ],
    ["a list of modes", { defaultInputModes: null }, { defaultInputModes: [] }],
    ["a scheme that is null", {}, { securitySchemes: { a: null } }],
    [
      "a required extension that is not",
      { capabilities: {} },
      { capabilities: { extensions: [{ uri: "u", required: false }] } },
    ],
    [
      "parameters that are null",
      { capabilities: { extensions: [{ uri: "u", required: true }] } },
      { capabilities: { extensions: [{ uri: "u", required: true, params: null }] } },
    ],
    [
      "a skill's requirements",
      { skills: [skill("a")] },
      { skills: [skill("a", { securityRequirements: [], outputModes: null })] },
    ],
    [
      "PKCE",
      { securitySchemes: { a: oauth({}) } },
      { securitySchemes: { a: oauth({ pkceRequired: false }) } },
    ],
  ])("for %s, absent as null, false, empty", (_what, absent, empty) => {
    expect(cardStructureDigest(baseCard(empty))).toBe(cardStructureDigest(baseCard(absent)));
  });
});

describe("the structural digest changes", () => {
  test.each<[string, JsonObject]>([
    [
      "the URL of an interface",
      { ...rich, supportedInterfaces: [{ ...first, url: "https://agent.example/x" }, second] },
    ],
    ["its binding", { ...rich, supportedInterfaces: [{ ...first, protocolBinding: "GRPC" }, second] }],
    [
      "its protocol version",
      { ...rich, supportedInterfaces: [{ ...first, protocolVersion: "1.1" }, second] },
    ],
    ["its tenant", { ...rich, supportedInterfaces: [{ ...first, tenant: "t2" }, second] }],
    ["the order of interfaces", { ...rich, supportedInterfaces: [second, first] }],
    ["the number of interfaces", { ...rich, supportedInterfaces: [first] }],
    ["an interface that is there twice", { ...rich, supportedInterfaces: [first, second, second] }],
    ["streaming", withCapabilities({ streaming: false })],
    ["push notifications", withCapabilities({ pushNotifications: false })],
    ["the extended card", withCapabilities({ extendedAgentCard: false })],
    ["a required extension that is gone", withCapabilities({ extensions: extensions.slice(1) })],
    [
      "an extension that became required",
      withCapabilities({ extensions: [...extensions.slice(0, 2), { uri: "urn:c", required: true }] }),
    ],
    [
      "parameters of a required extension",
      withCapabilities({ extensions: [{ ...extensions[0], params: { level: 2 } }, ...extensions.slice(1)] }),
    ],
    [
      "a parameter that became false",
      withCapabilities({
        extensions: [{ ...extensions[0], params: { level: 1, x: false } }, ...extensions.slice(1)],
      }),
    ],
    ["a default input mode", { ...rich, defaultInputModes: ["text/plain"] }],
    ["a default output mode", { ...rich, defaultOutputModes: ["text/plain", "image/png"] }],
    ["a skill that is gone", withSkills(b)],
    ["a skill that is there twice", withSkills(b, a, a)],
    ["a skill's id", withSkills(b, { ...a, id: "c" })],
    ["a skill's input modes", withSkills({ ...b, inputModes: ["text/xml"] }, a)],
    ["a skill's own modes that are gone", withSkills({ ...b, inputModes: undefined }, a)],
    ["a skill's output modes", withSkills(b, { ...a, outputModes: ["image/png"] })],
    [
      "a skill's requirements",
      withSkills({ ...b, securityRequirements: [{ schemes: { oauth: { list: ["write"] } } }] }, a),
    ],
    ["the name of a scheme", { ...rich, securitySchemes: { other: oauth({}) } }],
    [
      "the kind of a scheme",
      withSchemes({ mtls: { openIdConnectSecurityScheme: { openIdConnectUrl: "u" } } }),
    ],
    [
      "where a key goes",
      withSchemes({ key: { apiKeySecurityScheme: { location: "query", name: "X-Key" } } }),
    ],
    [
      "the name of a key",
      withSchemes({ key: { apiKeySecurityScheme: { location: "header", name: "X-Other" } } }),
    ],
    [
      "the HTTP scheme",
      withSchemes({ bearer: { httpAuthSecurityScheme: { scheme: "Basic", bearerFormat: "JWT" } } }),
    ],
    ["the bearer format", withSchemes({ bearer: { httpAuthSecurityScheme: { scheme: "Bearer" } } })],
    ["the URL of tokens", withSchemes({ oauth: oauth({ tokenUrl: "https://evil.example" }) })],
    ["the URL of refreshing", withSchemes({ oauth: oauth({ refreshUrl: "https://id.example/r" }) })],
    ["the name of a scope", withSchemes({ oauth: oauth({ scopes: { write: "r" } }) })],
    ["a flow", withSchemes({ oauth: { oauth2SecurityScheme: { flows: { implicit: {} } } } })],
    ["the URL of OAuth metadata", withSchemes({ oauth: oauth({}, { oauth2MetadataUrl: "u" }) })],
    [
      "the URL of OpenID Connect",
      withSchemes({ oidc: { openIdConnectSecurityScheme: { openIdConnectUrl: "u" } } }),
    ],
    ["a member of a scheme of an unknown kind", withSchemes({ mtls: { "x-scheme": 1 } })],
    ["a required scope", { ...rich, securityRequirements: [{ oauth: ["read"] }, { bearer: [] }] }],
    ["an alternative that is gone", { ...rich, securityRequirements: [{ bearer: [] }] }],
    [
      "an alternative that asks for nothing",
      { ...rich, securityRequirements: [...(rich.securityRequirements as object[]), {}] },
    ],
  ])("with %s", (_what, card) => {
    expect(cardStructureDigest(card)).not.toBe(cardStructureDigest(rich));
  });
});

test("skills sort by id before anything else, whatever characters an id has", () => {
  const ids = ["b", "a\tz", "a", "", "a"];
  const skills = ids.map((id, index) => skill(id, { inputModes: [`m${index}`] }));
  const structure = cardStructure(shapeCard(baseCard({ skills }), "").card) as { skills: { id: string }[] };
  expect(structure.skills.map(({ id }) => id)).toEqual(["", "a", "a", "a\tz", "b"]);
  expect(cardStructureDigest(baseCard({ skills: [...skills].reverse() }))).toBe(
    cardStructureDigest(baseCard({ skills })),
  );
});

test.each([
  ["1.0", "1.0"],
  ["1.0.3", "1.0"],
  ["1.10", "1.10"],
  ["1", "1"],
  ["1.0-rc1", "1.0-rc1"],
  ["v1.0", "v1.0"],
  ["", ""],
])("the protocol version %j counts as %j", (version, counted) => {
  expect(majorMinor(version)).toBe(counted);
});
