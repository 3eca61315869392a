import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { diffCards } from "../../src/card/diff.ts";
import { cardDigest, cardStructureDigest } from "../../src/card/digest.ts";
import type { CardChange } from "../../src/model/drift.ts";
import type { JsonObject } from "../../src/model/schema.ts";
import { baseCard, endpoint, skill, thrownBy } from "./cards.ts";

type Row = readonly [
  pointer: string,
  kind: CardChange["kind"],
  impact: CardChange["impact"],
  before?: unknown,
  after?: unknown,
];

const rowsOf = (before: JsonObject, after: JsonObject): Row[] =>
  diffCards(baseCard(before), baseCard(after)).map((item) => [
    item.pointer,
    item.kind,
    item.impact,
    item.before,
    item.after,
  ]);

const a = endpoint({ url: "https://agent.example/a" });
const b = endpoint({ url: "https://agent.example/b", protocolBinding: "HTTP+JSON" });
const c = endpoint({ url: "https://agent.example/c", protocolBinding: "GRPC" });
const at = (...supportedInterfaces: readonly JsonObject[]) => ({ supportedInterfaces });
const can = (capabilities: JsonObject) => ({ capabilities });
const extending = (...extensions: readonly JsonObject[]) => can({ extensions });
const bearer = { httpAuthSecurityScheme: { scheme: "Bearer" } };
const key = { apiKeySecurityScheme: { location: "header", name: "X-Key" } };

/** What changed between two cards, and what is said of it. */
const table: readonly (readonly [what: string, before: JsonObject, after: JsonObject, ...rows: Row[]])[] = [
  ["nothing", {}, {}],
  [
    "an interface at another URL",
    at(a),
    at({ ...a, url: "https://agent.example/x" }),
    ["/supportedInterfaces/0", "interface-moved", "security", a, { ...a, url: "https://agent.example/x" }],
  ],
  [
    "an interface's binding",
    at(a, b),
    at(a, { ...b, protocolBinding: "JSONRPC" }),
    ["/supportedInterfaces/1", "interface-moved", "security", b, { ...b, protocolBinding: "JSONRPC" }],
  ],
  [
    "an interface's tenant",
    at(a),
    at({ ...a, tenant: "t" }),
    ["/supportedInterfaces/0", "interface-moved", "security", a, { ...a, tenant: "t" }],
  ],
  [
    "an interface's version (B13)",
    at({ ...a, protocolVersion: "0.3" }),
    at(a),
    ["/supportedInterfaces/0/protocolVersion", "version-changed", "breaking", "0.3", "1.0"],
  ],
  [
    "an interface that is gone",
    at(a, b),
    at(a),
    ["/supportedInterfaces/1", "interface-removed", "breaking", b, undefined],
  ],
  [
    "an interface behind the others",
    at(a),
    at(a, b),
    ["/supportedInterfaces/1", "capability-gained", "additive", undefined, b],
  ],
  [
    "an interface before the others",
    at(a),
    at(b, a),
    ["/supportedInterfaces/0", "interface-moved", "security", undefined, b],
  ],
  [
    "the order of interfaces",
    at(a, b),
    at(b, a),
    ["/supportedInterfaces/0", "interface-moved", "security", a, b],
  ],
  [
    "all of the interfaces (B8)",
    at(a),
    at(b, { ...c, protocolBinding: "JSONRPC" }),
    ["/supportedInterfaces/1", "interface-moved", "security", a, { ...c, protocolBinding: "JSONRPC" }],
    ["/supportedInterfaces/0", "capability-gained", "additive", undefined, b],
  ],
  [
    "an interface that was there twice",
    at(a, a),
    at(a),
    ["/supportedInterfaces/1", "interface-removed", "breaking", a, undefined],
  ],
  [
    "an interface that is there twice",
    at(a),
    at(a, a),
    ["/supportedInterfaces/1", "capability-gained", "additive", undefined, a],
  ],
  [
    "the patch of a protocol version",
    at(a),
    at({ ...a, protocolVersion: "1.0.1" }),
    ["/supportedInterfaces", "unknown-changed", "cosmetic", [a], [{ ...a, protocolVersion: "1.0.1" }]],
  ],
  [
    "streaming lost",
    can({ streaming: true }),
    can({ streaming: false }),
    ["/capabilities/streaming", "capability-lost", "breaking", true, false],
  ],
  [
    "push notifications lost",
    can({ pushNotifications: true }),
    can({}),
    ["/capabilities/pushNotifications", "capability-lost", "breaking", true, undefined],
  ],
  [
    "an extended card gained",
    can({}),
    can({ extendedAgentCard: true }),
    ["/capabilities/extendedAgentCard", "capability-gained", "additive", undefined, true],
  ],
  [
    "false in place of nothing",
    can({}),
    can({ streaming: false }),
    ["/capabilities", "unknown-changed", "cosmetic", {}, { streaming: false }],
  ],
  [
    "an unknown capability",
    can({ x: 1 }),
    can({ x: 2, constructor: 1 }),
    ["/capabilities/x", "unknown-changed", "cosmetic", 1, 2],
    ["/capabilities/constructor", "unknown-changed", "cosmetic", undefined, 1],
  ],
  [
    "an extension gained",
    extending(),
    extending({ uri: "u" }),
    ["/capabilities/extensions/0", "capability-gained", "additive", undefined, { uri: "u" }],
  ],
  [
    "an extension lost",
    extending({ uri: "u" }),
    extending(),
    ["/capabilities/extensions/0", "capability-lost", "breaking", { uri: "u" }, undefined],
  ],
  [
    "a required extension gained",
    extending(),
    extending({ uri: "u", required: true }),
    ["/capabilities/extensions/0", "extension-required", "breaking", undefined, { uri: "u", required: true }],
  ],
  [
    "an extension that became required",
    extending({ uri: "u" }),
    extending({ uri: "u", required: true }),
    [
      "/capabilities/extensions/0",
      "extension-required",
      "breaking",
      { uri: "u" },
      { uri: "u", required: true },
    ],
  ],
  [
    "an extension no longer required",
    extending({ uri: "u", required: true }),
    extending({ uri: "u" }),
    [
      "/capabilities/extensions/0",
      "capability-gained",
      "additive",
      { uri: "u", required: true },
      { uri: "u" },
    ],
  ],
  [
    "parameters of a required extension",
    extending({ uri: "u", required: true, params: { l: 1 } }),
    extending({ uri: "u", required: true, params: { l: 2 } }),
    [
      "/capabilities/extensions/0",
      "extension-required",
      "breaking",
      { uri: "u", required: true, params: { l: 1 } },
      { uri: "u", required: true, params: { l: 2 } },
    ],
  ],
  [
    "parameters of an optional extension",
    extending({ uri: "u" }),
    extending({ uri: "u", params: {} }),
    ["/capabilities/extensions/0", "unknown-changed", "cosmetic", { uri: "u" }, { uri: "u", params: {} }],
  ],
  [
    "an extension's description",
    extending({ uri: "u" }),
    extending({ uri: "u", description: "d" }),
    ["/capabilities/extensions/0", "text-changed", "cosmetic", { uri: "u" }, { uri: "u", description: "d" }],
  ],
  [
    "default modes",
    { defaultInputModes: ["a", "b"] },
    { defaultInputModes: ["b", "c"] },
    ["/defaultInputModes/0", "mode-removed", "breaking", "a", undefined],
    ["/defaultInputModes/1", "mode-added", "additive", undefined, "c"],
  ],
  [
    "default output modes",
    { defaultOutputModes: [] },
    { defaultOutputModes: ["c"] },
    ["/defaultOutputModes/0", "mode-added", "additive", undefined, "c"],
  ],
  [
    "the order of modes",
    { defaultInputModes: ["a", "b"] },
    { defaultInputModes: ["b", "a"] },
    ["/defaultInputModes", "unknown-changed", "cosmetic", ["a", "b"], ["b", "a"]],
  ],
  [
    "a skill added",
    { skills: [] },
    { skills: [skill("s")] },
    ["/skills/0", "skill-added", "additive", undefined, skill("s")],
  ],
  [
    "a skill removed",
    { skills: [skill("s"), skill("t")] },
    { skills: [skill("s")] },
    ["/skills/1", "skill-removed", "breaking", skill("t"), undefined],
  ],
  [
    "a skill's modes narrowed",
    { skills: [skill("s", { inputModes: ["a", "b"] })] },
    { skills: [skill("x"), skill("s", { inputModes: ["a"] })] },
    ["/skills/1/inputModes", "skill-changed", "breaking", ["a", "b"], ["a"]],
    ["/skills/0", "skill-added", "additive", undefined, skill("x")],
  ],
  [
    "a skill's modes widened",
    { skills: [skill("s")] },
    { skills: [skill("s", { outputModes: ["text/plain", "a"] })] },
    ["/skills/0/outputModes", "skill-changed", "additive", undefined, ["text/plain", "a"]],
  ],
  [
    "a skill's modes that were the default ones",
    { skills: [skill("s")] },
    { skills: [skill("s", { inputModes: ["text/plain"] })] },
    ["/skills/0/inputModes", "skill-changed", "cosmetic", undefined, ["text/plain"]],
  ],
  [
    "a skill's requirements",
    { skills: [skill("s")] },
    { skills: [skill("s", { securityRequirements: [{ k: [] }] })] },
    [
      "/skills/0/securityRequirements",
      "security-changed",
      "security",
      undefined,
      [{ schemes: { k: { list: [] } } }],
    ],
  ],
  [
    "a skill's texts",
    { skills: [skill("s")] },
    { skills: [skill("s", { name: "n", tags: ["t"], examples: ["e"] })] },
    ["/skills/0/name", "text-changed", "cosmetic", "s", "n"],
    ["/skills/0/tags", "text-changed", "cosmetic", [], ["t"]],
    ["/skills/0/examples", "text-changed", "cosmetic", undefined, ["e"]],
  ],
  [
    "an unknown member of a skill",
    { skills: [skill("s")] },
    { skills: [skill("s", { "x/y~": 1, toString: 2 })] },
    ["/skills/0/x~1y~0", "unknown-changed", "cosmetic", undefined, 1],
    ["/skills/0/toString", "unknown-changed", "cosmetic", undefined, 2],
  ],
  [
    "the order of skills",
    { skills: [skill("s"), skill("t")] },
    { skills: [skill("t"), skill("s")] },
    ["/skills", "unknown-changed", "cosmetic", [skill("s"), skill("t")], [skill("t"), skill("s")]],
  ],
  [
    "a scheme added",
    { securitySchemes: {} },
    { securitySchemes: { k: key } },
    ["/securitySchemes/k", "security-changed", "security", undefined, key],
  ],
  [
    "a scheme removed",
    { securitySchemes: { k: key, b: bearer } },
    { securitySchemes: { b: bearer } },
    ["/securitySchemes/k", "security-changed", "security", key, undefined],
  ],
  [
    "a scheme of another kind",
    { securitySchemes: { k: key } },
    { securitySchemes: { k: bearer } },
    ["/securitySchemes/k", "security-changed", "security", key, bearer],
  ],
  [
    "a scheme's description",
    { securitySchemes: { b: bearer } },
    { securitySchemes: { b: { httpAuthSecurityScheme: { scheme: "Bearer", description: "d" } } } },
    [
      "/securitySchemes/b",
      "text-changed",
      "cosmetic",
      bearer,
      { httpAuthSecurityScheme: { scheme: "Bearer", description: "d" } },
    ],
  ],
  [
    "requirements",
    { securityRequirements: [{ k: [] }] },
    { securityRequirements: [{ k: ["s"] }] },
    [
      "/securityRequirements",
      "security-changed",
      "security",
      [{ schemes: { k: { list: [] } } }],
      [{ schemes: { k: { list: ["s"] } } }],
    ],
  ],
  [
    "requirements in another order",
    { securityRequirements: [{ k: [] }, { b: [] }] },
    { securityRequirements: [{ b: [] }, { k: [] }] },
    ["/securityRequirements", "unknown-changed", "cosmetic", [{ k: [] }, { b: [] }], [{ b: [] }, { k: [] }]],
  ],
  [
    "signatures removed",
    { signatures: [{ protected: "p", signature: "s" }] },
    {},
    ["/signatures", "signature-removed", "security", [{ protected: "p", signature: "s" }], undefined],
  ],
  [
    "a signature made anew",
    { signatures: [{ protected: "p", signature: "s" }] },
    { signatures: [{ protected: "p", signature: "t" }] },
  ],
  [
    "the agent's version",
    { version: "1" },
    { version: "2" },
    ["/version", "version-changed", "cosmetic", "1", "2"],
  ],
  [
    "texts",
    { description: "1547 items" },
    {
      description: "1548 items",
      provider: { url: "u", organization: "o" },
      iconUrl: "i",
      documentationUrl: "d",
    },
    ["/description", "text-changed", "cosmetic", "1547 items", "1548 items"],
    ["/provider", "text-changed", "cosmetic", undefined, { url: "u", organization: "o" }],
    ["/iconUrl", "text-changed", "cosmetic", undefined, "i"],
    ["/documentationUrl", "text-changed", "cosmetic", undefined, "d"],
  ],
  [
    "unknown members",
    { "x-a": 1 },
    { "x-a": { b: 1 }, constructor: "c", "a/b~": 1 },
    ["/x-a", "unknown-changed", "cosmetic", 1, { b: 1 }],
    ["/constructor", "unknown-changed", "cosmetic", undefined, "c"],
    ["/a~1b~0", "unknown-changed", "cosmetic", undefined, 1],
  ],
  [
    "null in place of nothing",
    {},
    { provider: null, "x-a": null },
    ["/provider", "text-changed", "cosmetic", undefined, null],
    ["/x-a", "unknown-changed", "cosmetic", undefined, null],
  ],
];

describe("the difference of two cards says", () => {
  test.each(table.map(([what, before, after, ...rows]) => ({ what, before, after, rows })))(
    "$what",
    ({ before, after, rows }) => {
      expect(rowsOf(before, after)).toEqual(rows);
    },
  );
});

test("differences come in the order of a card, and are frozen", () => {
  const before = baseCard({ "x-a": 1, ...at(a), skills: [skill("s")], securitySchemes: { k: key } });
  const after = baseCard({
    "x-a": 2,
    ...at(b),
    version: "2",
    name: "U",
    capabilities: {},
    defaultInputModes: ["x"],
    securitySchemes: {},
  });
  const changes = diffCards(before, after);
  expect(changes.map(({ pointer }) => pointer)).toEqual([
    "/supportedInterfaces/0",
    "/supportedInterfaces/0",
    "/capabilities/streaming",
    "/defaultInputModes/0",
    "/defaultInputModes/0",
    "/skills/0",
    "/securitySchemes/k",
    "/version",
    "/name",
    "/x-a",
  ]);
  expect([changes, ...changes].every(Object.isFrozen)).toBe(true);
});

describe("skills of one id, or of none,", () => {
  const many = ["", "s", "", "s", "s"].map((id, index) => skill(id, { name: `n${index}` }));

  test("are matched the same way in whatever order they stand", () => {
    const after = [...many.slice(0, 4), skill("s", { name: "n9" })];
    const once = rowsOf({ skills: many }, { skills: after });
    expect(once).toEqual([["/skills/4/name", "text-changed", "cosmetic", "n4", "n9"]]);
    const again = rowsOf({ skills: [...many].reverse() }, { skills: after });
    expect(again).toEqual(once);
  });

  test("are each told of when there are more or fewer of them", () => {
    expect(
      rowsOf({ skills: many }, { skills: many.slice(0, 4) }).map(([pointer, kind]) => [pointer, kind]),
    ).toEqual([["/skills/4", "skill-removed"]]);
    expect(
      rowsOf({ skills: many.slice(0, 4) }, { skills: many }).map(([pointer, kind]) => [pointer, kind]),
    ).toEqual([["/skills/4", "skill-added"]]);
  });

  test("change how calls are secured where another one of an id comes that asks for something", () => {
    const asking = skill("s", { securityRequirements: [{ schemes: { key: { list: [] } } }] });
    const told = (before: readonly JsonObject[], after: readonly JsonObject[]) =>
      rowsOf({ skills: before }, { skills: after }).map(([pointer, kind, impact]) => [pointer, kind, impact]);
    const secured = ["/skills/1/securityRequirements", "security-changed", "security"];
    expect(told([skill("s")], [skill("s"), asking])).toEqual([
      ["/skills/1", "skill-added", "additive"],
      secured,
    ]);
    expect(told([skill("s"), asking], [skill("s")])).toEqual([["/skills/1", "skill-removed", "breaking"]]);
    // A call that needs another skill asks for nothing of it.
    expect(told([skill("t")], [skill("t"), asking])).toEqual([["/skills/1", "skill-added", "additive"]]);
  });
});

test("cards may be objects, texts or bytes; what is no card is refused", () => {
  const text = JSON.stringify(baseCard({ version: "2" }));
  expect(diffCards(baseCard(), text)).toEqual(
    diffCards(JSON.stringify(baseCard()), new TextEncoder().encode(text)),
  );
  expect(thrownBy(() => diffCards(baseCard(), {}))).toMatchObject({ name: "CardInvalidError" });
  expect(thrownBy(() => diffCards("<html>", baseCard()))).toMatchObject({ name: "CardUnreadableError" });
});

describe("of any two cards", () => {
  /** Members of a card in several variants each. */
  const variants = fc.record(
    {
      name: fc.constantFrom("a", "b"),
      version: fc.constantFrom("1", "2"),
      supportedInterfaces: fc.array(
        fc.constantFrom(a, b, c, { ...a, protocolVersion: "1.1" }, { ...a, "x-n": 1 }),
        { minLength: 1, maxLength: 4 },
      ),
      capabilities: fc.record(
        {
          streaming: fc.constantFrom(true, false, null),
          extensions: fc.array(
            fc.constantFrom({ uri: "u" }, { uri: "u", required: true }, { uri: "v", params: {} }),
            { maxLength: 3 },
          ),
          toString: fc.constantFrom(1, null),
        },
        { requiredKeys: [] },
      ),
      defaultInputModes: fc.array(fc.constantFrom("a", "b"), { maxLength: 3 }),
      skills: fc.array(
        fc.constantFrom(
          skill("s"),
          skill("s", { inputModes: ["a"] }),
          skill("", { "x-a": 1 }),
          skill("t", { securityRequirements: [{ k: [] }] }),
        ),
        { maxLength: 4 },
      ),
      securitySchemes: fc.dictionary(
        fc.constantFrom("k", "constructor"),
        fc.constantFrom(key, bearer, { x: 1 }, null),
        { maxKeys: 2 },
      ),
      securityRequirements: fc.array(fc.constantFrom({ k: [] }, { schemes: { k: {} } }, {}), {
        maxLength: 2,
      }),
      "x-future": fc.constantFrom(1, null, { a: [] }),
      constructor: fc.constantFrom(1, null),
    },
    { requiredKeys: [] },
  );

  test("a difference of content is at least one change, one of structure at least one that is more than cosmetic", () => {
    fc.assert(
      fc.property(variants, variants, (before, after) => {
        const [was, is] = [baseCard(before), baseCard(after)];
        const changes = diffCards(was, is);
        expect(changes.length > 0).toBe(cardDigest(was) !== cardDigest(is));
        if (cardStructureDigest(was) === cardStructureDigest(is)) return;
        expect(changes.filter(({ impact }) => impact !== "cosmetic")).not.toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });
});
