import { isDeepStrictEqual } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import type { DriftReason } from "../../../src/model/drift.ts";
import { compileMutants } from "./compile.ts";
import { allImpacts, allReasons, applyingReasons } from "./coverage.ts";
import {
  acceptedMutants,
  giveWay,
  impactMutants,
  type Mutant,
  precedence,
  sources,
  swapReasons,
} from "./mutants.ts";
import { createCase, type Judgement, resultOf } from "./row.ts";
import { rows } from "./rows.ts";

/** Reasons that can never apply together, and why: which of them comes first is nothing that a row could show. */
const neverTogether: readonly (readonly [DriftReason, DriftReason, string])[] = [
  ["signer-changed", "signature-removed", "a card bears signatures or it bears none"],
  [
    "interface-moved",
    "protocol-version-changed",
    "what is at the same place in another version has not moved",
  ],
  ...allReasons
    .filter((reason) => reason !== "card-withdrawn" && reason !== "content-changed")
    .map((reason) => [reason, "card-withdrawn", "a card that is gone shows nothing else"] as const),
];

/** Reasons that a posture would refuse without naming them: their drift has a change of impact security as well. */
const refusedAnyway: readonly string[] = ["signer-changed", "signature-removed", "security-changed"];

/** Positions of every two reasons in the order of precedence. */
const pairs = precedence.flatMap((_, first) =>
  precedence.slice(first + 1).map((_later, offset) => [first, first + 1 + offset] as const),
);

const unchanged: Mutant = {
  says: "nothing is wrong",
  path: "src/lease/drift.ts",
  text: sources["src/lease/drift.ts"] ?? "",
};
const swaps = pairs.map(([first, second]) => swapReasons(first, second));
const yields = pairs.map(([first, second]) => giveWay(first, second));
const cases = rows.map(createCase);
const judgements = new Map<Mutant, Judgement>();

beforeAll(async () => {
  const mutants = [unchanged, ...swaps, ...yields, ...impactMutants, ...acceptedMutants];
  const compiled = await compileMutants(mutants);
  mutants.forEach((mutant, index) => {
    const judgement = compiled[index];
    if (judgement) judgements.set(mutant, judgement);
  });
}, 60_000);

/** What is wrong with the mutants that every row lets pass. */
function survivors(mutants: readonly Mutant[]): string[] {
  return mutants.filter((mutant) => failedRow(mutant) === undefined).map(({ says }) => says);
}

/** Rows in the order of their last failure: the next mutant is most likely like the one before. */
const latestLast = new Set(cases);

function failedRow(mutant: Mutant): string | undefined {
  const judgement = judgements.get(mutant);
  if (!judgement) return expect.fail(`${mutant.says}: not compiled`);
  const order = [...latestLast].reverse();
  const failed = order.find((item) => !isDeepStrictEqual(resultOf(item, judgement), item.expected));
  if (failed) {
    latestLast.delete(failed);
    latestLast.add(failed);
  }
  return failed?.row.says;
}

describe("the rows", () => {
  test("pass as the mutants are built, where nothing is wrong", () => {
    expect(failedRow(unchanged)).toBeUndefined();
  });

  test("see any two reasons change places", () => {
    const unseen = pairs.filter(([first, second]) => {
      const between = range(first + 1, second);
      const turned = [
        [first, second],
        ...between.flatMap((at) => [
          [first, at],
          [at, second],
        ]),
      ];
      return turned.every(([a, b]) => isNever(a, b));
    });

    expect(survivors(swaps)).toEqual(unseen.map(([first, second]) => swapReasons(first, second).says));
  });

  test("see any reason give way to a single later one", () => {
    const unseen = pairs.filter(([first, second]) => isNever(first, second));

    expect(survivors(yields)).toEqual(unseen.map(([first, second]) => giveWay(first, second).says));
  });

  test("see any impact change to any other, wherever one is named", () => {
    expect(survivors(impactMutants)).toEqual([]);
  });

  test("see any reason go that no posture accepts, but for those that go by their impact too", () => {
    const unseen = acceptedMutants.filter(({ reason }) => refusedAnyway.includes(reason));

    expect(survivors(acceptedMutants)).toEqual(unseen.map(({ says }) => says));
  });
});

describe("the mutants", () => {
  test("turn every two of the reasons that there are", () => {
    expect(precedence.map(({ reason }) => reason)).toEqual(allReasons);
    expect(pairs).toHaveLength((allReasons.length * (allReasons.length - 1)) / 2);
  });

  test("name every other impact in every file that makes a change", () => {
    const paths = Object.keys(sources).filter((path) => /(?:^|[^.\w])change\(\[?/.test(sources[path] ?? ""));

    const mutated = new Set(impactMutants.map(({ path }) => path));
    expect(paths.filter((path) => !mutated.has(path))).toEqual([]);
    expect(paths.length).toBeGreaterThan(4);
    expect(impactMutants.length % (allImpacts.length - 1)).toBe(0);
  });

  test("are let pass for a fact: no row has the two reasons, and each such drift has an impact of security", () => {
    const together = cases.filter((item) => {
      const applying = applyingReasons(item);
      return neverTogether.some(([a, b]) => applying.includes(a) && applying.includes(b));
    });
    const unsafe = rows.filter(({ result, changes = [] }) => {
      const isRefused = refusedAnyway.some((reason) => result.endsWith(` ${reason}`));
      return isRefused && !changes.some((change) => change.includes(" security "));
    });

    expect([...together.map(({ row }) => row), ...unsafe]).toEqual([]);
  });
});

function isNever(first = -1, second = -1): boolean {
  return neverTogether.some(([a, b]) => a === precedence[first]?.reason && b === precedence[second]?.reason);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
