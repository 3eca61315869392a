import { describe, expect, test } from "vitest";
import { readSources, type Sources } from "./sources.ts";

/** Something that must hold of the sources, with samples that show that its check can fail. */
export interface Rule {
  /** What must hold, as a sentence. */
  readonly title: string;
  /** Finds what breaks it; each finding begins with a path. */
  find(sources: Sources): readonly string[];
  /** Small sources that break it, each one on its own. */
  readonly bad: readonly Sources[];
  /** Small sources that look alike and do not break it. */
  readonly good?: readonly Sources[];
}

/** Runs rules against the project, and their checks against their samples. */
export function testRules(name: string, rules: readonly Rule[], ...paths: readonly string[]) {
  const sources = readSources(...paths);
  const titled = rules.map((rule) => [rule.title, rule] as const);
  describe(name, () => {
    test.each(titled)("%s", (_title, { find }) => {
      expect(find(sources)).toEqual([]);
    });
  });
  describe(`${name}: the checks can fail`, () => {
    test.each(titled)("%s", (_title, { find, bad, good = [] }) => {
      expect(bad.filter((sample) => find(sample).length === 0)).toEqual([]);
      expect(good.flatMap(find)).toEqual([]);
    });
  });
}
