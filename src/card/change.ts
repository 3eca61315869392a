import type { CardChange, CardChangeImpact, CardChangeKind } from "../model/drift.ts";
import type { JsonObject } from "../model/schema.ts";
import { own } from "../util/freeze.ts";
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

/** One change for each member, but the named ones, whose value differs: members that no finer comparison knows. */
export function diffUnknown(
  steps: readonly (string | number)[],
  known: readonly string[],
  { before, after }: { before: object; after: object },
): CardChange[] {
  const a = before as JsonObject;
  const b = after as JsonObject;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const name of known) names.delete(name);
  return [...names].flatMap((name) => {
    const values = { before: own(a, name), after: own(b, name) };
    if (isSameJson(values.before, values.after)) return [];
    return [change([...steps, name], "unknown-changed", "cosmetic", values)];
  });
}

/** Whether two JSON values are the same; absent is only like absent. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === undefined || b === undefined) return a === b;
  return canonicalJson(a) === canonicalJson(b);
}
