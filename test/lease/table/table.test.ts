import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { digestsOf } from "../../../src/card/digest.ts";
import { cardFromInput } from "../../../src/card/parse.ts";
import { judgeCard } from "../../../src/lease/judge.ts";
import { allImpacts, allKinds, allReasons, applyingReasons, temptingReasons } from "./coverage.ts";
import { type Case, createCase, postures, resultOf } from "./row.ts";
import { groups, rows } from "./rows.ts";

describe.each(Object.entries(groups))("drift of %s", (_group, members) => {
  test.each(members.map((row) => [row.says, row] as const))("%s", (_says, row) => {
    const item = createCase(row);

    expect(resultOf(item)).toEqual(item.expected);
  });
});

const cases = rows.map(createCase);

describe("what holds of every row", () => {
  test("a change points at what it shows: on the live card or, where the member is gone, on the pinned one", () => {
    const wrong = cases.filter(({ row, pin, pinned, live, options }) => {
      const verdict = judgeCard(pin, live, row.needs, options);
      const { changes } = verdict.outcome === "drift" ? verdict.drift : verdict;
      return changes.some(({ pointer, before, after }) => {
        const value = after === undefined ? valueAt(pinned, pointer) : valueAt(live, pointer);
        // What became of the signer is told by keys, which no card shows.
        return pointer !== "/signatures" && !isDeepStrictEqual(after ?? before ?? null, value ?? null);
      });
    });

    expect(wrong.map(({ row }) => row.says)).toEqual([]);
  });

  test("other content is told by some change, other structure by one that is more than cosmetic", () => {
    const untold = cases.filter((item) => {
      const live = liveDigests(item);
      const { changes } = item.expected;
      if (live === undefined || live.digest === item.pin.digest) return false;
      if (changes.length === 0) return true;
      return live.structuralDigest !== item.pin.structuralDigest && changes.every(isCosmetic);
    });

    expect(untold.map(({ row }) => row.says)).toEqual([]);
  });

  test("nothing of impact security is gone on with", () => {
    const unsafe = rows.filter(
      ({ result, changes = [] }) =>
        result.startsWith("repin ") && changes.some((change) => change.includes(" security ")),
    );

    expect(unsafe).toEqual([]);
  });
});

describe("what the rows cover", () => {
  test("every sentence is said once", () => {
    const sentences = rows.map(({ says }) => says);

    expect(sentences.filter((says, index) => sentences.indexOf(says) !== index)).toEqual([]);
  });

  test("each kind of change is in two rows or more", () => {
    expect(allKinds.filter((kind) => countChanges((change) => change.startsWith(`${kind} `)) < 2)).toEqual(
      [],
    );
  });

  test("each impact is in two rows or more", () => {
    expect(
      allImpacts.filter((impact) => countChanges((change) => change.includes(` ${impact} `)) < 2),
    ).toEqual([]);
  });

  test("each reason is named in two rows or more", () => {
    expect(allReasons.filter((reason) => named(reason).length < 2)).toEqual([]);
  });

  test("each posture is asked about a drift in two rows or more", () => {
    const names = Object.keys(postures);
    const counts = names.map(
      (name) => rows.filter(({ under, result }) => under === name && result !== "same").length,
    );

    expect(names.filter((_, index) => (counts[index] ?? 0) < 2)).toEqual([]);
  });

  test("each reason that another one could lose to is named in a row where a later one applies as well", () => {
    const found = allReasons.filter((reason, index) =>
      named(reason).some((item) =>
        applyingReasons(item).some(
          (other) => other !== "content-changed" && allReasons.indexOf(other) > index,
        ),
      ),
    );

    expect(found).toEqual(allReasons.slice(0, -3));
  });

  test("each reason is named in a row where another looks right and does not apply, or comes later", () => {
    const found = allReasons.filter((reason) =>
      named(reason).some((item) => {
        const others = [...applyingReasons(item), ...temptingReasons(item)];
        return others.some((other) => other !== reason && other !== "content-changed");
      }),
    );

    expect(found).toEqual(allReasons);
  });

  test("the reason that a row names is the first that applies", () => {
    const drifted = cases.filter(({ row }) => row.result !== "same");

    expect(drifted.map(({ row }) => [row.says, row.result.split(" ")[1]])).toEqual(
      drifted.map((item) => [item.row.says, applyingReasons(item)[0]]),
    );
  });
});

function isCosmetic(change: string): boolean {
  return change.includes(" cosmetic ");
}

function countChanges(isMeant: (change: string) => boolean): number {
  return rows.filter(({ changes = [] }) => changes.some(isMeant)).length;
}

function named(reason: string): readonly Case[] {
  return cases.filter(({ row }) => row.result.endsWith(` ${reason}`));
}

function liveDigests({ live }: Case) {
  if (!live) return undefined;
  const { json, card } = cardFromInput(live);
  return digestsOf(json, card());
}

/** The value at a JSON pointer; nulls count as absent. */
function valueAt(value: unknown, pointer: string): unknown {
  const steps = pointer.split("/").slice(1);
  return steps.reduce<unknown>((at, step) => {
    if (typeof at !== "object" || at === null) return undefined;
    return new Map(Object.entries(at)).get(step.replaceAll("~1", "/").replaceAll("~0", "~"));
  }, value);
}
