/** Something on the wire that breaks the spec but could be read safely; kept and reported, never silent. */
export interface Deviation {
  /** Stable name of the kind: `"legacy-state"`, `"missing-list"`, `"json-instead-of-stream"`. */
  readonly kind: string;
  /** What was found and what the spec wants. */
  readonly message: string;
  /** Where it stood, as a JSON path, when it stood in a document. */
  readonly path?: string;
}

/** How many deviations a task or a card keeps at most; the first ones stay. */
export const maxDeviations = 100;

/** Adds deviations to a list, the first ones first, up to {@link maxDeviations} and each one once. */
export function addDeviations(
  known: readonly Deviation[],
  found: readonly Deviation[],
): readonly Deviation[] {
  const kept = [...known];
  for (const item of found) {
    if (kept.length >= maxDeviations) break;
    if (!kept.some((old) => isSameDeviation(old, item))) kept.push(item);
  }
  return kept.length === known.length ? known : Object.freeze(kept);
}

function isSameDeviation(a: Deviation, b: Deviation): boolean {
  return a.kind === b.kind && a.message === b.message && a.path === b.path;
}
