import { LimitExceededError, type ResponseIssue } from "../errors/transport.ts";
import { isDeeperThan, parseJson } from "../util/json.ts";

/** A text read as JSON, or what keeps it from being JSON. */
export type JsonReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issue: ResponseIssue };

/**
 * Reads a text from outside as JSON.
 *
 * @throws LimitExceededError when it nests deeper than `maxDepth`.
 */
export function readJson(text: string, maxDepth: number): JsonReading {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    // Nesting that overflows the stack of the parser is deeper than any limit.
    if (error instanceof RangeError) throw tooDeep(maxDepth);
    const found = text.trim() === "" ? "an empty text" : "a text that is no JSON";
    return { ok: false, issue: { path: "$", message: `found ${found}, wanted JSON` } };
  }
  if (isDeeperThan(value, maxDepth)) throw tooDeep(maxDepth);
  return { ok: true, value };
}

function tooDeep(maxDepth: number): LimitExceededError {
  return new LimitExceededError("responseDepth", maxDepth, "deeper nesting");
}

/**
 * Writes what leaves as JSON.
 *
 * @throws TypeError when it has a value that JSON can't hold.
 */
export function writeJson(request: object): string {
  try {
    return JSON.stringify(request);
  } catch {
    // The engine's own words would name members of the caller's values.
    throw new TypeError("the request has a value that JSON can't hold: a cycle or a bigint");
  }
}
