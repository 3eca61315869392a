import type * as z from "zod/mini";
import { jsonPath } from "../util/json.ts";
import { cut } from "../util/redact.ts";

/** One thing that is wrong with a document. */
export interface DocumentIssue {
  /** JSON path, `$.capabilities.streaming`. */
  readonly path: string;
  /** What was found and what was wanted. */
  readonly message: string;
}

/** A value read by a schema, or everything that is wrong with it. */
export type SchemaReading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly DocumentIssue[] };

/** Most issues that are listed; more say nothing new. */
const maxIssues = 50;

/** Reads a value by a schema. Messages are made here, since the schema library's small build has none of its own. */
export function readBySchema<T>(schema: z.ZodMiniType<T>, value: unknown): SchemaReading<T> {
  const result = schema.safeParse(value);
  if (result.success) return { ok: true, value: result.data };
  const issues = result.error.issues.slice(0, maxIssues).map((issue) => describeIssue(issue, value));
  return { ok: false, issues };
}

function describeIssue(issue: z.core.$ZodIssue, root: unknown): DocumentIssue {
  const steps = issue.path.filter((step) => typeof step !== "symbol");
  const path = jsonPath(steps);
  if (issue.code === "custom" && issue.message.startsWith("found ")) return { path, message: issue.message };
  return { path, message: `found ${describeValue(valueAt(root, steps))}, wanted ${wanted(issue)}` };
}

/** Types whose name in the schema library is no word of JSON. */
const typeNames: Readonly<Record<string, string>> = Object.freeze({ record: "object", int: "integer" });

function wanted(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type": {
      const type = typeNames[issue.expected] ?? issue.expected;
      return `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;
    }
    case "invalid_value":
      return `one of ${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
    case "too_small":
      return issue.origin === "string" ? "a text that is not empty" : `at least ${issue.minimum}`;
    case "too_big":
      return issue.origin === "string" ? `at most ${issue.maximum} characters` : `at most ${issue.maximum}`;
    case "invalid_union":
      return "a string or a number";
    default:
      return issue.code.replaceAll("_", " ");
  }
}

function valueAt(root: unknown, steps: readonly (string | number)[]): unknown {
  return steps.reduce<unknown>((value, step) => {
    if (typeof value !== "object" || value === null) return undefined;
    return Object.hasOwn(value, step) ? (value as Record<string, unknown>)[step] : undefined;
  }, root);
}

/** A value in a few words, for a message. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === "object") return "an object";
  return `${typeof value} ${cut(JSON.stringify(value) ?? String(value), 80)}`;
}
