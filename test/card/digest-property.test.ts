import fc from "fast-check";
import { expect, test } from "vitest";
import { cardDigest, cardStructureDigest } from "../../src/card/digest.ts";
import { shapeCard } from "../../src/card/parse.ts";

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

const text = fc.string({ unit: "grapheme", maxLength: 6 });
const name = text.filter((value) => value !== "__proto__");
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.double({ min: -1e6, max: 1e6, noNaN: true }),
    text,
    fc.array(tie("json"), { maxLength: 3 }),
    fc.dictionary(name, tie("json"), { maxKeys: 3 }),
  ),
}));

const texts = fc.array(text, { maxLength: 3 });
const requirements = fc.array(
  fc.record({ schemes: fc.dictionary(name, fc.record({ list: texts }), { maxKeys: 2 }) }),
  {
    maxLength: 2,
  },
);
const extras = fc.dictionary(
  name.map((value) => `x-${value}`),
  json,
  { maxKeys: 2 },
);
const skill = fc.record(
  {
    id: text,
    name: text,
    description: text,
    tags: texts,
    inputModes: texts,
    securityRequirements: requirements,
  },
  { requiredKeys: ["id", "name", "description", "tags"] },
);
const endpoint = fc.record({ url: text, protocolBinding: text, protocolVersion: text, tenant: text });
const extension = fc.record({
  uri: text,
  required: fc.boolean(),
  params: fc.dictionary(name, json, { maxKeys: 2 }),
});
const scheme = fc.oneof(
  fc.record({ httpAuthSecurityScheme: fc.record({ scheme: text, description: text }) }),
  fc.record({ apiKeySecurityScheme: fc.record({ location: text, name: text }) }),
  fc.record({ "x-scheme": json }),
);

/** Cards of every shape that the spec allows, with unknown members beside. */
const cards = fc
  .tuple(
    fc.record(
      {
        name: text,
        description: text,
        version: text,
        supportedInterfaces: fc.array(endpoint, { minLength: 1, maxLength: 3 }),
        capabilities: fc.record({
          streaming: fc.boolean(),
          extensions: fc.array(extension, { maxLength: 2 }),
        }),
        defaultInputModes: texts,
        defaultOutputModes: texts,
        skills: fc.array(skill, { maxLength: 3 }),
        securitySchemes: fc.dictionary(name, scheme, { maxKeys: 2 }),
        securityRequirements: requirements,
        provider: fc.record({ url: text, organization: text }),
      },
      { requiredKeys: ["name", "description", "version", "supportedInterfaces", "capabilities", "skills"] },
    ),
    extras,
  )
  .map(([card, extra]) => JSON.parse(JSON.stringify({ ...card, ...extra })) as { [member: string]: Json });

/** Steps to every value in a card, containers included. */
function pathsOf(
  value: Json,
  at: readonly (string | number)[] = [],
): readonly (readonly (string | number)[])[] {
  if (typeof value !== "object" || value === null) return [at];
  const inside = Object.entries(value).flatMap(([step, member]) =>
    pathsOf(member as Json, [...at, Array.isArray(value) ? Number(step) : step]),
  );
  return at.length === 0 ? inside : [at, ...inside];
}

/** The card with what stands at a path made by another function; `undefined` takes it away. */
function changedAt(
  value: Json,
  path: readonly (string | number)[],
  make: (old: Json) => Json | undefined,
): Json {
  const [step, ...rest] = path;
  if (step === undefined) throw new TypeError("path: found none");
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<
    string | number,
    Json
  >;
  const next = rest.length === 0 ? make(copy[step] as Json) : changedAt(copy[step] as Json, rest, make);
  if (next !== undefined) copy[step] = next;
  else if (Array.isArray(copy)) copy.splice(Number(step), 1);
  else delete copy[step];
  return copy;
}

/** The same JSON with the members of every object in another order. */
function reordered(value: Json, rank: (name: string) => number): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => reordered(item, rank));
  const names = Object.keys(value).sort((a, b) => rank(a) - rank(b));
  return Object.fromEntries(
    names.map((item) => [item, reordered((value as { [name: string]: Json })[item] as Json, rank)]),
  );
}

test("any change of any member but signatures changes the content digest", () => {
  const other = fc.tuple(cards, fc.nat(), json, fc.boolean());
  fc.assert(
    fc.property(other, ([card, index, replacement, isRemoval]) => {
      const paths = pathsOf(card);
      const path = paths[index % paths.length] ?? [];
      const changed = changedAt(card, path, (old) => {
        if (isRemoval) return undefined;
        return JSON.stringify(replacement) === JSON.stringify(old) ? [old] : replacement;
      });
      // -0 and 0, and members in another order, are the same JSON value.
      fc.pre(canonical(changed) !== canonical(card));
      expect(cardDigest(changed as object as Record<string, unknown>)).not.toBe(cardDigest(card));
    }),
    { numRuns: 400 },
  );
});

test("no reordering of members, no white space and no signature changes either digest", () => {
  fc.assert(
    fc.property(cards, fc.nat(), fc.integer({ min: 0, max: 8 }), json, (card, seed, indent, signature) => {
      const rank = (item: string) =>
        (Number.parseInt(cardDigest({ item, seed }).slice(7, 15), 16) * 7919) % 104729;
      const other = reordered(card, rank) as typeof card;
      const received = JSON.stringify({ ...other, signatures: signature }, null, indent);
      expect(cardDigest(received)).toBe(cardDigest(card));
      expect(cardStructureDigest(JSON.stringify(other, null, indent))).toBe(cardStructureDigest(card));
    }),
    { numRuns: 200 },
  );
});

test("a card has one digest as an object, as text, as bytes and after a trip through JSON", () => {
  fc.assert(
    fc.property(cards, (card) => {
      const received = JSON.stringify(card);
      const inputs = [card, received, new TextEncoder().encode(received), shapeCard(card, "").json];
      expect(new Set(inputs.map(cardDigest)).size).toBe(1);
      expect(new Set(inputs.map(cardStructureDigest)).size).toBe(1);
    }),
    { numRuns: 200 },
  );
});

/** A second, slower way to tell whether two JSON values are the same. */
function canonical(value: Json): string {
  return JSON.stringify(
    value,
    (_name, member: unknown) => {
      if (Object.is(member, -0)) return 0;
      if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
      return Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1));
    },
    0,
  );
}
