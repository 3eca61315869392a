import { describe, expect, test } from "vitest";
import { diffCards } from "../../src/card/diff.ts";
import { shapeCard } from "../../src/card/parse.ts";
import { judgeCard } from "../../src/lease/judge.ts";
import { pinCard } from "../../src/lease/pin.ts";
import { unmetRequirements } from "../../src/lease/requirements.ts";
import type { JsonObject } from "../../src/model/schema.ts";
import { measured, patience } from "../util/cpu.ts";
import { baseCard, endpoint, skill } from "./cards.ts";

const mebibyte = 1024 * 1024;
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const named = <T>(count: number, make: (index: number) => T) =>
  Object.fromEntries(times(count, (index) => [`n${index}`, make(index)]));

/** Two cards of about one mebibyte each that make the work as hard as they can. */
const pairs: readonly (readonly [what: string, before: JsonObject, after: JsonObject])[] = [
  [
    "other skills",
    { skills: times(14_000, (n) => skill(`a${n}`)) },
    { skills: times(14_000, (n) => skill(`b${n}`)) },
  ],
  [
    "skills of one id",
    { skills: times(16_000, (n) => skill("", { name: `${n}` })) },
    { skills: times(16_000, (n) => skill("", { name: `x${n}` })) },
  ],
  [
    "skills that share very many default modes",
    { skills: times(8_000, () => skill("s")), defaultInputModes: times(60_000, (n) => `${n}`) },
    {
      skills: times(6_000, (n) => skill("s", { inputModes: ["0", `${n}`] })),
      defaultInputModes: times(60_000, (n) => `${n + 1}`),
    },
  ],
  [
    "skills that share one default mode, again and again",
    { skills: times(8_000, () => skill("s")), defaultInputModes: times(100_000, () => "0") },
    {
      skills: times(7_000, () => skill("s", { inputModes: ["0"] })),
      defaultInputModes: times(100_000, () => "0"),
    },
  ],
  [
    "modes",
    { defaultInputModes: times(90_000, (n) => `a${n}`) },
    { defaultInputModes: times(90_000, (n) => `b${n}`) },
  ],
  [
    "interfaces at one URL",
    { supportedInterfaces: times(9_000, (n) => endpoint({ tenant: `a${n}` })) },
    { supportedInterfaces: times(9_000, (n) => endpoint({ tenant: `b${n}` })) },
  ],
  [
    "interfaces of one binding",
    { supportedInterfaces: times(10_000, (n) => endpoint({ url: `https://a.example/${n}` })) },
    { supportedInterfaces: times(10_000, (n) => endpoint({ url: `https://b.example/${n}` })) },
  ],
  [
    "interfaces in another order",
    { supportedInterfaces: times(10_000, (n) => endpoint({ tenant: `${n}` })) },
    { supportedInterfaces: times(10_000, (n) => endpoint({ tenant: `${9_999 - n}` })) },
  ],
  [
    "extensions",
    { capabilities: { extensions: times(25_000, (n) => ({ uri: `a${n}`, required: true })) } },
    { capabilities: { extensions: times(25_000, (n) => ({ uri: `b${n}`, required: true })) } },
  ],
  ["unknown members", named(60_000, (n) => n), named(60_000, (n) => n + 1)],
  [
    "unknown capabilities",
    { capabilities: named(60_000, (n) => n) },
    { capabilities: named(60_000, (n) => n + 1) },
  ],
  [
    "security schemes",
    { securitySchemes: named(12_000, (n) => ({ httpAuthSecurityScheme: { scheme: `a${n}` } })) },
    { securitySchemes: named(12_000, (n) => ({ httpAuthSecurityScheme: { scheme: `b${n}` } })) },
  ],
  [
    "alternatives",
    { securityRequirements: times(50_000, (n) => ({ [`a${n}`]: [] })) },
    { securityRequirements: times(50_000, (n) => ({ [`b${n}`]: [] })) },
  ],
  [
    "scopes",
    { securityRequirements: [{ a: times(90_000, (n) => `a${n}`) }] },
    { securityRequirements: [{ a: times(90_000, (n) => `b${n}`) }] },
  ],
  ["one long text", { description: "x".repeat(mebibyte) }, { description: "y".repeat(mebibyte) }],
];

describe.each(pairs)("cards of a mebibyte that differ by %s", (_what, before, after) => {
  const [was, is] = [baseCard(before), baseCard(after)].map((card) => JSON.stringify(card)) as [
    string,
    string,
  ];

  test(
    "are compared, pinned, judged and told of with work that grows with their size alone",
    patience,
    () => {
      measured(() => expect(diffCards(was, is).length).toBeGreaterThan(0));
      const pin = measured(() => pinCard(was));
      const verdict = measured(() => judgeCard(pin, is, { skills: ["s", "t"], inputModes: ["x/y"] }));
      if (verdict.outcome !== "drift") throw new TypeError("outcome: found same, wanted drift");
      const { drift } = verdict;
      expect(measured(() => JSON.stringify(drift)).length).toBeLessThan(64 * 1024);
    },
  );
});

test("a refused card of a mebibyte is told of without much work", patience, () => {
  const card = JSON.parse(
    JSON.stringify(baseCard({ skills: times(90_000, () => 1), securitySchemes: named(20_000, () => 1) })),
  );
  measured(() => expect(() => shapeCard(card, "")).toThrow());
});

test("modes are looked for without much work, however many skills share them", patience, () => {
  const skills = times(9_000, () => skill("s"));
  const { card } = shapeCard(baseCard({ skills, defaultInputModes: times(90_000, (n) => `a/${n}`) }), "");
  const unmet = measured(() => unmetRequirements(card, { skills: ["s"], inputModes: ["x/y", "x/z", "x/w"] }));
  expect(unmet.map(({ wanted }) => wanted)).toEqual(["x/y", "x/z", "x/w"]);
});
