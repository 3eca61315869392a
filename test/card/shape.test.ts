import { describe, expect, test } from "vitest";
import { parseCard, shapeCard } from "../../src/card/parse.ts";
import { CardInvalidError, ProtocolVersionError } from "../../src/errors/card.ts";
import type { JsonObject } from "../../src/model/schema.ts";
import { baseCard, endpoint, skill, thrownBy } from "./cards.ts";

const flow = (flowName: string, members: JsonObject) => ({
  securitySchemes: { a: { oauth2SecurityScheme: { flows: { [flowName]: members } } } },
});
const scheme = (kind: string, members: JsonObject) => ({ securitySchemes: { a: { [kind]: members } } });
const token = { tokenUrl: "u" };

/**
 * Every REQUIRED member of a card, and what can be wrong with the optional ones: members of the card that is refused,
 * the path, what was found there and what was wanted.
 */
const wrong: readonly (readonly [members: JsonObject, path: string, message: string])[] = [
  ...["name", "description", "version"].flatMap((member) => [
    [{ [member]: undefined }, `$.${member}`, "found nothing, wanted a string"] as const,
    [{ [member]: null }, `$.${member}`, "found null, wanted a string"] as const,
    [{ [member]: 1 }, `$.${member}`, "found number 1, wanted a string"] as const,
  ]),
  [{ capabilities: undefined }, "$.capabilities", "found nothing, wanted an object"],
  [{ capabilities: [] }, "$.capabilities", "found an array of 0, wanted an object"],
  [
    { capabilities: { streaming: "yes" } },
    "$.capabilities.streaming",
    'found string "yes", wanted a boolean',
  ],
  [
    { capabilities: { pushNotifications: 1 } },
    "$.capabilities.pushNotifications",
    "found number 1, wanted a boolean",
  ],
  [
    { capabilities: { extendedAgentCard: {} } },
    "$.capabilities.extendedAgentCard",
    "found an object, wanted a boolean",
  ],
  [{ capabilities: { extensions: {} } }, "$.capabilities.extensions", "found an object, wanted an array"],
  [
    { capabilities: { extensions: [{ uri: 1 }] } },
    "$.capabilities.extensions[0].uri",
    "found number 1, wanted a string",
  ],
  [
    { capabilities: { extensions: [{ uri: "u", required: "no" }] } },
    "$.capabilities.extensions[0].required",
    'found string "no", wanted a boolean',
  ],
  [
    { capabilities: { extensions: [{ uri: "u", params: [] }] } },
    "$.capabilities.extensions[0].params",
    "found an array of 0, wanted an object",
  ],
  [{ supportedInterfaces: undefined }, "$.supportedInterfaces", "found none, wanted at least one interface"],
  [{ supportedInterfaces: [] }, "$.supportedInterfaces", "found none, wanted at least one interface"],
  [{ supportedInterfaces: {} }, "$.supportedInterfaces", "found an object, wanted an array"],
  [{ supportedInterfaces: [null] }, "$.supportedInterfaces[0]", "found null, wanted an object"],
  ...["url", "protocolBinding", "protocolVersion"].flatMap((member) => [
    [
      { supportedInterfaces: [endpoint({ [member]: undefined })] },
      `$.supportedInterfaces[0].${member}`,
      "found nothing, wanted a string",
    ] as const,
    [
      { supportedInterfaces: [endpoint(), endpoint({ [member]: 1 })] },
      `$.supportedInterfaces[1].${member}`,
      "found number 1, wanted a string",
    ] as const,
  ]),
  [
    { supportedInterfaces: [endpoint({ tenant: 1 })] },
    "$.supportedInterfaces[0].tenant",
    "found number 1, wanted a string",
  ],
  [{ defaultInputModes: "text" }, "$.defaultInputModes", 'found string "text", wanted an array'],
  [{ defaultInputModes: [1] }, "$.defaultInputModes[0]", "found number 1, wanted a string"],
  [{ defaultOutputModes: {} }, "$.defaultOutputModes", "found an object, wanted an array"],
  [{ defaultOutputModes: [null] }, "$.defaultOutputModes[0]", "found null, wanted a string"],
  [{ skills: {} }, "$.skills", "found an object, wanted an array"],
  [{ skills: [null] }, "$.skills[0]", "found null, wanted an object"],
  ...["id", "name", "description"].flatMap((member) => [
    [
      { skills: [skill("a", { [member]: undefined })] },
      `$.skills[0].${member}`,
      "found nothing, wanted a string",
    ] as const,
    [
      { skills: [skill("a"), skill("b", { [member]: false })] },
      `$.skills[1].${member}`,
      "found boolean false, wanted a string",
    ] as const,
  ]),
  [{ skills: [skill("a", { tags: "t" })] }, "$.skills[0].tags", 'found string "t", wanted an array'],
  [{ skills: [skill("a", { tags: [1] })] }, "$.skills[0].tags[0]", "found number 1, wanted a string"],
  [{ skills: [skill("a", { examples: [1] })] }, "$.skills[0].examples[0]", "found number 1, wanted a string"],
  [
    { skills: [skill("a", { inputModes: "x" })] },
    "$.skills[0].inputModes",
    'found string "x", wanted an array',
  ],
  [
    { skills: [skill("a", { outputModes: [{}] })] },
    "$.skills[0].outputModes[0]",
    "found an object, wanted a string",
  ],
  [
    { skills: [skill("a", { securityRequirements: [1] })] },
    "$.skills[0].securityRequirements[0]",
    "found number 1, wanted an object",
  ],
  [{ provider: [] }, "$.provider", "found an array of 0, wanted an object"],
  [{ provider: { organization: "o" } }, "$.provider.url", "found nothing, wanted a string"],
  [{ provider: { url: "u", organization: 1 } }, "$.provider.organization", "found number 1, wanted a string"],
  [{ documentationUrl: 1 }, "$.documentationUrl", "found number 1, wanted a string"],
  [{ iconUrl: {} }, "$.iconUrl", "found an object, wanted a string"],
  [{ signatures: {} }, "$.signatures", "found an object, wanted an array"],
  [{ signatures: [{ signature: "s" }] }, "$.signatures[0].protected", "found nothing, wanted a string"],
  [
    { signatures: [{ protected: "p", signature: 1 }] },
    "$.signatures[0].signature",
    "found number 1, wanted a string",
  ],
  [
    { signatures: [{ protected: "p", signature: "s", header: "h" }] },
    "$.signatures[0].header",
    'found string "h", wanted an object',
  ],
  [{ securitySchemes: [] }, "$.securitySchemes", "found an array of 0, wanted an object"],
  [{ securitySchemes: { a: 1 } }, "$.securitySchemes.a", "found number 1, wanted an object"],
  [{ securitySchemes: { "a b": "x" } }, '$.securitySchemes["a b"]', 'found string "x", wanted an object'],
  [
    scheme("apiKeySecurityScheme", { name: "n" }),
    "$.securitySchemes.a.apiKeySecurityScheme.location",
    "found nothing, wanted a string",
  ],
  [
    scheme("apiKeySecurityScheme", { location: "header", name: 1 }),
    "$.securitySchemes.a.apiKeySecurityScheme.name",
    "found number 1, wanted a string",
  ],
  [
    scheme("httpAuthSecurityScheme", {}),
    "$.securitySchemes.a.httpAuthSecurityScheme.scheme",
    "found nothing, wanted a string",
  ],
  [
    scheme("openIdConnectSecurityScheme", {}),
    "$.securitySchemes.a.openIdConnectSecurityScheme.openIdConnectUrl",
    "found nothing, wanted a string",
  ],
  [
    scheme("oauth2SecurityScheme", {}),
    "$.securitySchemes.a.oauth2SecurityScheme.flows",
    "found nothing, wanted an object",
  ],
  [
    scheme("mtlsSecurityScheme", { description: 1 }),
    "$.securitySchemes.a.mtlsSecurityScheme.description",
    "found number 1, wanted a string",
  ],
  [
    flow("authorizationCode", token),
    "$.securitySchemes.a.oauth2SecurityScheme.flows.authorizationCode.authorizationUrl",
    "found nothing, wanted a string",
  ],
  [
    flow("authorizationCode", { authorizationUrl: "u" }),
    "$.securitySchemes.a.oauth2SecurityScheme.flows.authorizationCode.tokenUrl",
    "found nothing, wanted a string",
  ],
  [
    flow("clientCredentials", {}),
    "$.securitySchemes.a.oauth2SecurityScheme.flows.clientCredentials.tokenUrl",
    "found nothing, wanted a string",
  ],
  [
    flow("deviceCode", token),
    "$.securitySchemes.a.oauth2SecurityScheme.flows.deviceCode.deviceAuthorizationUrl",
    "found nothing, wanted a string",
  ],
  [
    flow("clientCredentials", { ...token, scopes: { read: 1 } }),
    "$.securitySchemes.a.oauth2SecurityScheme.flows.clientCredentials.scopes.read",
    "found number 1, wanted a string",
  ],
  [{ securityRequirements: {} }, "$.securityRequirements", "found an object, wanted an array"],
  [
    { securityRequirements: [{ oauth: "read" }] },
    "$.securityRequirements[0].oauth",
    'found string "read", wanted an array',
  ],
  [
    { securityRequirements: [{ oauth: [1] }] },
    "$.securityRequirements[0].oauth[0]",
    "found number 1, wanted a string",
  ],
  [
    { securityRequirements: [{ schemes: [] }] },
    "$.securityRequirements[0].schemes",
    "found an array of 0, wanted an object",
  ],
  [
    { securityRequirements: [{ schemes: { oauth: 1 } }] },
    "$.securityRequirements[0].schemes.oauth",
    "found number 1, wanted an object",
  ],
  [
    { securityRequirements: [{ schemes: { oauth: { list: {} } } }] },
    "$.securityRequirements[0].schemes.oauth.list",
    "found an object, wanted an array",
  ],
  [
    { securityRequirements: [{ schemes: { oauth: { list: [{}] } } }] },
    "$.securityRequirements[0].schemes.oauth.list[0]",
    "found an object, wanted a string",
  ],
];

describe("a card is refused", () => {
  test.each(wrong)("for %j at %s", (members, path, message) => {
    const error = thrownBy(() =>
      shapeCard(baseCard(members), "sha256:refused", "https://agent.example/card"),
    );
    expect(error).toBeInstanceOf(CardInvalidError);
    expect(error).toMatchObject({
      url: "https://agent.example/card",
      digest: "sha256:refused",
      issues: [{ path, message }],
    });
  });

  test("with everything that is wrong at once (A9)", () => {
    const error = thrownBy(() => shapeCard({}, "sha256:refused"));
    expect(error).toMatchObject({
      name: "CardInvalidError",
      issues: [
        { path: "$.name", message: "found nothing, wanted a string" },
        { path: "$.description", message: "found nothing, wanted a string" },
        { path: "$.version", message: "found nothing, wanted a string" },
        { path: "$.capabilities", message: "found nothing, wanted an object" },
        { path: "$.supportedInterfaces", message: "found none, wanted at least one interface" },
      ],
    });
  });

  test("with fifty issues at most", () => {
    const skills = Array.from({ length: 1_000 }, () => ({}));
    const { issues, message } = thrownBy(() => shapeCard(baseCard({ skills }), "")) as CardInvalidError;
    expect(issues).toHaveLength(50);
    expect(message).toContain("; and 45 more");
  });
});

describe("a card of an older protocol is told from a broken one", () => {
  const old = {
    ...{
      name: "T",
      description: "t",
      version: "1",
      url: "https://agent.example/rpc",
      preferredTransport: "JSONRPC",
    },
    ...{
      protocolVersion: "0.3.0",
      capabilities: {},
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
    },
  };

  test.each<[string, JsonObject, readonly string[]]>([
    ["as it is (A10)", old, ["0.3.0"]],
    ["with an empty list of interfaces", { ...old, supportedInterfaces: [] }, ["0.3.0"]],
    ["with null in place of interfaces", { ...old, supportedInterfaces: null }, ["0.3.0"]],
    ["by its root url alone", { name: "T", url: "https://agent.example/rpc" }, []],
    ["by its root version alone", { protocolVersion: "0.2.5" }, ["0.2.5"]],
  ])("%s", (_what, card, offered) => {
    const error = thrownBy(() => shapeCard(card, ""));
    expect(error).toBeInstanceOf(ProtocolVersionError);
    expect(error).toMatchObject({ offered, implemented: ["1.0"] });
  });

  test("and a card with interfaces is a new one, whatever older members stand beside them", () => {
    const card = baseCard({
      url: "https://agent.example/old",
      protocolVersion: "0.3.0",
      preferredTransport: "JSONRPC",
    });
    expect(shapeCard(card, "")).toMatchObject({
      card: { name: "T", protocolVersion: "0.3.0" },
      deviations: [],
    });
  });
});

describe("a card is read", () => {
  test("with explicit nulls as absent (A12)", () => {
    const card = baseCard({
      ...{
        provider: null,
        documentationUrl: null,
        iconUrl: null,
        securitySchemes: null,
        securityRequirements: null,
      },
      ...{ signatures: null, capabilities: { streaming: null, extensions: null } },
      skills: [skill("a", { examples: null, inputModes: null, securityRequirements: null })],
      supportedInterfaces: [endpoint({ tenant: null })],
    });
    expect(shapeCard(card, "").card).toEqual(
      baseCard({ capabilities: {}, skills: [skill("a")], supportedInterfaces: [endpoint()] }),
    );
  });

  test("with omitted lists as empty, and says so", () => {
    const omitted = { skills: undefined, defaultInputModes: null, defaultOutputModes: undefined };
    expect(shapeCard(baseCard(omitted), "")).toEqual({
      json: baseCard(omitted),
      card: baseCard({ skills: [], defaultInputModes: [], defaultOutputModes: [] }),
      deviations: [
        ...["skills", "defaultInputModes", "defaultOutputModes"].map((name) => ({
          kind: "missing-list",
          path: `$.${name}`,
          message: `found no ${name}, wanted a list (REQUIRED, 4.4.1); read as empty`,
        })),
      ],
    });
  });

  test("with skills that have no tags, and says so", () => {
    const skills = [skill("a"), skill("b", { tags: null }), skill("c", { tags: undefined })];
    const { card, deviations } = shapeCard(baseCard({ skills }), "");
    expect(card.skills.map(({ tags }) => tags)).toEqual([[], [], []]);
    expect(deviations.map(({ kind, path }) => [kind, path])).toEqual([
      ["missing-list", "$.skills[1].tags"],
      ["missing-list", "$.skills[2].tags"],
    ]);
  });

  test("with unknown members kept wherever they stand, nulls among them (I7)", () => {
    const card = baseCard({
      "x-future": { a: 1, b: null },
      capabilities: { stateTransitionHistory: true, "x-null": null },
      skills: [skill("a", { "x-level": [1, { deep: null }] })],
      securitySchemes: { a: { httpAuthSecurityScheme: { scheme: "Bearer", "x-realm": "r" }, "x-b": 1 } },
    });
    expect(shapeCard(card, "").card).toEqual(card);
  });

  test("with security requirements as the proto and as the prose writes them", () => {
    const securityRequirements = [
      { schemes: { a: { list: ["x"] }, b: {} } },
      { c: ["y"], d: null },
      {},
      { schemes: { e: null } },
    ];
    expect(shapeCard(baseCard({ securityRequirements }), "").card.securityRequirements).toEqual([
      { schemes: { a: { list: ["x"] }, b: { list: [] } } },
      { schemes: { c: { list: ["y"] }, d: { list: [] } } },
      { schemes: {} },
      { schemes: { e: { list: [] } } },
    ]);
  });

  test("into frozen values, and the JSON that it was made of stays as it is", () => {
    const json = parseCard(new TextEncoder().encode(JSON.stringify(baseCard({ skills: [skill("a")] }))), {
      maxDepth: 64,
    });
    const { card, deviations } = shapeCard(json, "");
    expect([card, card.skills, card.skills[0], card.capabilities, deviations].map(Object.isFrozen)).toEqual(
      Array(5).fill(true),
    );
  });
});
