import { compareVersions, validate } from "compare-versions";
import type { CardSnapshot } from "./snapshot.ts";

/** What was seen of a card over time: which contents in which order, and the highest version. */
export interface CardHistory {
  /** Takes note of a card that was read. */
  note(snapshot: CardSnapshot): void;
  /** Whether the card went away from this content and came back to another one that was there before. */
  isFlapping(digest: string): boolean;
  /** Whether a version is lower than the highest one seen. */
  isRolledBack(version: string): boolean;
  /** Starts the mark again at a version that the caller accepted. */
  resetMark(version: string): void;
}

/** Changes of content remembered. */
const maxChanges = 16;

/** Only what reads as a version can be compared as one: `1`, `1.0`, `1.2.3-beta.4`; no range, and nothing that throws. */
function isVersion(text: string): boolean {
  return /^v?\d+(?:\.\d+){0,2}(?:[-+]|$)/.test(text) && validate(text);
}

/** Makes an empty history. */
export function createCardHistory(): CardHistory {
  const digests: string[] = [];
  let highest: string | undefined;
  return {
    note({ digest, card: { version } }) {
      if (digests.at(-1) !== digest) {
        digests.push(digest);
        if (digests.length > maxChanges) digests.shift();
      }
      if (isVersion(version) && (highest === undefined || compareVersions(version, highest) > 0))
        highest = version;
    },
    isFlapping: (digest) => digests.indexOf(digest) !== digests.lastIndexOf(digest),
    isRolledBack: (version) =>
      highest !== undefined && isVersion(version) && compareVersions(version, highest) < 0,
    resetMark(version) {
      highest = isVersion(version) ? version : undefined;
    },
  };
}
