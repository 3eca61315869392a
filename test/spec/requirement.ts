/** How strongly the text asks; `should` in small letters where it is no key word there. */
export type Level = "MUST" | "MUST NOT" | "SHOULD" | "SHOULD NOT" | "should";

/** One thing that A2A 1.0 asks of a client, and what proves that it is met. */
export interface Requirement {
  /** Section, and the how-manieth of it: `"3.1.4-1"`. */
  readonly id: string;
  readonly level: Level;
  /** What is asked, in short. */
  readonly text: string;
  /** Tests that prove it: `"flow/list-tasks: title"`, the title with as many of its groups as tell it from others. */
  readonly tests: readonly string[];
  /** What of this library has to be there first. Only for what no test can prove yet. */
  readonly awaiting?: string;
}

/** A requirement and the tests that prove it. */
export function proven(id: string, level: Level, text: string, ...tests: readonly string[]): Requirement {
  return { id, level, text, tests };
}

/** A requirement on something that is not there yet. */
export function awaited(id: string, level: Level, text: string, awaiting: string): Requirement {
  return { id, level, text, tests: [], awaiting };
}
