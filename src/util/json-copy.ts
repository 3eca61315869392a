import type { IJsonProblem } from "./i-json.ts";
import { hasLoneSurrogate, jsonPath } from "./json.ts";

/** A copy of plain data, and what a look at it showed. */
export interface JsonCopy {
  /** The copy, frozen all the way down; of no use when it is too deep. */
  readonly value: unknown;
  /** Whether objects and arrays nest deeper than was allowed, as data that holds itself does. */
  readonly tooDeep: boolean;
  /** What I-JSON forbids, in order, at most 100. */
  readonly problems: readonly IJsonProblem[];
}

const maxProblems = 100;

/**
 * Copies an object as JSON would carry it, so that whoever handed it in can go on changing it. Members that are
 * `undefined` are left out.
 *
 * @throws TypeError for what JSON can't carry: a function, a `bigint`, a `Date`, a number that is not finite.
 */
export function copyJson(root: unknown, maxDepth: number): JsonCopy {
  const problems: IJsonProblem[] = [];
  const steps: (string | number)[] = [];
  let tooDeep = false;

  function report(kind: IJsonProblem["kind"], found: string): void {
    if (problems.length < maxProblems) problems.push({ kind, steps: [...steps], found: found.slice(0, 80) });
  }

  function copyAt(step: string | number, value: unknown): unknown {
    steps.push(step);
    if (step === "__proto__") report("proto-member", step);
    if (typeof step === "string" && hasLoneSurrogate(step)) report("lone-surrogate", JSON.stringify(step));
    const copied = copy(value);
    steps.pop();
    return copied;
  }

  function copy(value: unknown): unknown {
    if (typeof value === "string") {
      if (hasLoneSurrogate(value)) report("lone-surrogate", JSON.stringify(value));
      return value;
    }
    if (value === null || typeof value === "boolean" || Number.isFinite(value)) return value;
    const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
    if (typeof value !== "object" || (tag !== "Object" && tag !== "Array")) {
      throw new TypeError(`${jsonPath(steps)}: found ${tag === "Number" ? value : tag}, wanted JSON`);
    }
    tooDeep ||= steps.length >= maxDepth;
    if (tooDeep) return null;
    if (Array.isArray(value)) return Object.freeze(Array.from(value, (item, index) => copyAt(index, item)));
    const entries = Object.entries(value).filter(([, member]) => member !== undefined);
    return Object.freeze(Object.fromEntries(entries.map(([name, member]) => [name, copyAt(name, member)])));
  }

  return { value: copy(root), tooDeep, problems };
}
