import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lives, lookAt, noises, type Step, withNoise } from "./lives.ts";
import { brokenBy, judgeAll, type Look, type Setting, trusted } from "./look.ts";

const runs = { numRuns: Number(process.env.FC_RUNS ?? 500) };
const settings: readonly Setting[] = [{}, trusted];

describe("any legal life", () => {
  test("is the same life, without a word of complaint, whatever is repeated, lags or was overtaken", () => {
    fc.assert(
      fc.property(lives(), noises, fc.constantFrom(...settings), (life, added, setting) => {
        const plain = judgeAll(
          life.map((step) => lookAt(step)),
          setting,
        );
        const noisy = judgeAll(withNoise(life, added), setting);

        expect(noisy.judgements.flatMap(({ rules }) => rules)).toEqual([]);
        expect(transitions(noisy.judgements)).toEqual(transitions(plain.judgements));
        expect(noisy.memory.observations).toEqual(plain.memory.observations);
        expect(noisy.memory.terminal).toEqual(plain.memory.terminal);
      }),
      runs,
    );
  });

  test("without dates is the same life, whatever is repeated at once or was overtaken", () => {
    fc.assert(
      fc.property(lives(), noises, (life, added) => {
        const undated = (looks: readonly Look[]) => looks.map((look) => look.replace(/ @\d+/, ""));
        const atOnce = added.map((noise) => ({ ...noise, back: 0 }));
        const plain = judgeAll(undated(life.map((step) => lookAt(step))));
        const noisy = judgeAll(undated(withNoise(life, atOnce)));

        expect(
          noisy.judgements.flatMap(({ rules }) => rules).filter((rule) => rule !== "timestamp-present"),
        ).toEqual([]);
        expect(transitions(noisy.judgements)).toEqual(transitions(plain.judgements));
        expect(noisy.memory.observations).toEqual(plain.memory.observations);
      }),
      runs,
    );
  });
});

/** One edit of a life that breaks a rule; `undefined` where the life has no room for it. */
type Edit = (looks: readonly Look[], life: readonly Step[], at: number) => readonly Look[] | undefined;

const after = (life: readonly Step[]) => (life.at(-1)?.at ?? 0) + 1;
const isOver = (life: readonly Step[]) => !/SUBMITTED|WORKING|REQUIRED/.test(life.at(-1)?.state ?? "");
const insert = (looks: readonly Look[], at: number, ...more: readonly Look[]) => [
  ...looks.slice(0, at),
  ...more,
  ...looks.slice(at),
];

const edits: Readonly<Record<string, Edit>> = {
  "known-state": (looks, life, at) => insert(looks, at, `get ?PAUSED @${life[at]?.at} m:odd`),
  "terminal-is-final": (looks, life) =>
    isOver(life) ? [...looks, `get WORKING @${after(life)} m:odd`] : undefined,
  "single-terminal": (looks, life) =>
    isOver(life) ? [...looks, `stream ${life.at(-1)?.state} @${after(life)} m:odd`] : undefined,
  "timestamp-present": (looks, _life, at) => looks.with(at, (looks[at] ?? "").replace(/ @\d+/, "")),
  "timestamp-monotonic": (looks, life, at) =>
    // After the end an older date is a replica that lags.
    isOver(life) && at === life.length - 1
      ? undefined
      : insert(looks, at + 1, `get WORKING @${(life[0]?.at ?? 0) - 1} m:odd`),
  identity: (looks, life, at) => insert(looks, at, `get WORKING @${life[at]?.at} task:t2`),
  answered: (looks, life, at) => insert(looks, at, `send WORKING @${life[at]?.at} ended:COMPLETED`),
  progress: (looks, life, at) =>
    insert(
      looks,
      at,
      ...[1, 2, 3].map((round) => `get INPUT_REQUIRED @${life[at]?.at} m:odd${round} q:same`),
    ),
  "history-progress": (looks, life, at) =>
    insert(
      looks,
      at,
      `get SUBMITTED @${life[at]?.at} m:odd1 h:7/x`,
      `get WORKING @${life[at]?.at} m:odd2 h:7/x`,
    ),
};

describe.each(Object.entries(edits))("a life with one edit against %s", (rule, edit) => {
  test("breaks that rule and no other", () => {
    fc.assert(
      fc.property(lives(), fc.nat(20), (life, place) => {
        const looks = edit(
          life.map((step) => lookAt(step)),
          life,
          place % life.length,
        );
        fc.pre(looks !== undefined);
        expect(brokenBy(looks ?? [], trusted)).toEqual([rule]);
      }),
      runs,
    );
  });
});

function transitions(judgements: ReturnType<typeof judgeAll>["judgements"]): readonly (string | undefined)[] {
  return judgements.filter(({ outcome }) => outcome === "advance").map(({ state }) => state);
}
