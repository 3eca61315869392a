import fc from "fast-check";
import type { Look } from "./look.ts";

/** One step of a task's life. */
export interface Step {
  readonly state: string;
  /** Second of the status. Steps of one life never go back, and two may share one. */
  readonly at: number;
  /** Names the status message and what it asks; every step has its own. */
  readonly id: string;
}

const ends = ["COMPLETED", "FAILED", "CANCELED", "REJECTED"] as const;
const middles = ["SUBMITTED", "WORKING", "INPUT_REQUIRED", "AUTH_REQUIRED"] as const;

/** Legal lives: any way to an end, or not to one yet. Seconds are even, so that there is room between two. */
export function lives(given: { readonly isOver?: boolean; readonly middles?: readonly string[] } = {}) {
  const names = given.middles ?? middles;
  const middle = fc.record({ state: fc.constantFrom(...names), afterMs: fc.constantFrom(0, 2, 4) });
  const end = fc.constantFrom<string | undefined>(...ends, ...(given.isOver ? [] : [undefined]));
  return fc.tuple(fc.array(middle, { minLength: 1, maxLength: 8 }), end).map(([steps, last]): Step[] => {
    let at = 2;
    const all = last === undefined ? steps : [...steps, { state: last, afterMs: 2 }];
    return all.map(({ state, afterMs }, index) => {
      at += afterMs;
      return { state, at, id: `m${index}` };
    });
  });
}

/** A step as a line, as an event or as a whole task. */
export function lookAt({ state, at, id }: Step, source = "stream"): Look {
  const question = /REQUIRED/.test(state) ? ` q:${id}` : "";
  return `${source} ${state} @${at} m:${id}${question}`;
}

/** Where something is put in between, what of, and how it looks. */
export interface Noise {
  /** After which step, counted round. */
  readonly after: number;
  /** Which of the steps so far is shown, counted round from the last one. */
  readonly back: number;
  /** How it comes. */
  readonly how: "repeated event" | "pushed again" | "whole task" | "lagging replica" | "overtaken answer";
}

/** Noise that breaks no rule. */
export const noises: fc.Arbitrary<readonly Noise[]> = fc.array(
  fc.record({
    after: fc.nat(20),
    back: fc.nat(20),
    how: fc.constantFrom(
      "repeated event",
      "pushed again",
      "whole task",
      "lagging replica",
      "overtaken answer",
    ),
  }),
  { maxLength: 12 },
);

/** The looks at a life with noise put in between. */
export function withNoise(life: readonly Step[], added: readonly Noise[]): readonly Look[] {
  return life.flatMap((step, index) => {
    const here = added.filter(({ after }) => after % life.length === index);
    return [lookAt(step), ...here.map((noise) => noiseOf(life.slice(0, index + 1), noise))];
  });
}

function noiseOf(seen: readonly Step[], { back, how }: Noise): Look {
  const last = seen[seen.length - 1] as Step;
  const earlier = seen[seen.length - 1 - (back % seen.length)] as Step;
  switch (how) {
    case "repeated event":
      return lookAt(earlier);
    case "pushed again":
      return lookAt(earlier, "push");
    case "whole task":
      return lookAt(last, "get");
    case "lagging replica":
      return lookAt(earlier, "get");
    case "overtaken answer":
      // What such an answer shows may never have been seen: it was true between two events.
      return `get WORKING @${earlier.at - 1} m:unseen overtaken`;
  }
}
