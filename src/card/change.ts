import type { CardChange, CardChangeImpact, CardChangeKind } from "../model/drift.ts";
import { canonicalJson, jsonPointer } from "../util/json.ts";

/** Makes one change; a value that is not there is `undefined`. */
export function change(
  steps: readonly (string | number)[],
  kind: CardChangeKind,
  impact: CardChangeImpact,
  values: { before?: unknown; after?: unknown },
): CardChange {
  return Object.freeze({
    pointer: jsonPointer(steps),
    kind,
    before: values.before,
    after: values.after,
    impact,
  });
}

/** Whether two JSON values are the same; absent is only like absent. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === undefined || b === undefined) return a === b;
  return canonicalJson(a) === canonicalJson(b);
}
