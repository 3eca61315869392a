import type { Posture } from "../model/posture.ts";
import { type CardRequirements, requirementKinds } from "../model/requirements.ts";

const requirementNames: readonly string[] = [...requirementKinds.lists, ...requirementKinds.flags];
const flagNames: readonly string[] = requirementKinds.flags;

/**
 * Checks requirements: one that is misspelt would not be enforced.
 *
 * @throws TypeError naming what is wrong.
 */
export function checkRequirements(requires: CardRequirements | undefined): void {
  for (const [name, wanted] of Object.entries(requires ?? {})) {
    if (!requirementNames.includes(name)) {
      throw new TypeError(`requires: found ${name}, wanted some of ${requirementNames.join(", ")}`);
    }
    const isFlag = flagNames.includes(name);
    const isRight = isFlag ? typeof wanted === "boolean" : Array.isArray(wanted);
    if (wanted !== undefined && !isRight) {
      throw new TypeError(`requires.${name}: wanted ${isFlag ? "true or false" : "a list of texts"}`);
    }
  }
  checkExtensions("requires.extensions", requires?.extensions);
}

/**
 * Checks the names of options: one that is misspelt would be taken in silence, and not count.
 *
 * @throws TypeError naming the one that is none.
 */
export function checkNames(given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new TypeError(`${unknown}: is no option here, wanted some of ${[...known].sort().join(", ")}`);
  }
}

/**
 * Checks a posture.
 *
 * @throws TypeError when it is none.
 */
export function checkPosture(posture: Posture | undefined): void {
  if (posture === undefined || posture === "fail-closed") return;
  if (typeof posture === "object" && typeof posture.onDrift === "function") return;
  if (typeof posture === "object" && posture.onDrift === "degrade" && posture.restartable === true) return;
  throw new TypeError(
    'posture: wanted "fail-closed", { onDrift: "degrade", restartable: true }, or { onDrift: a function }',
  );
}

/**
 * Checks options that are numbers: budgets, bounds and counts.
 *
 * @throws TypeError naming the option.
 */
export function checkNumbers(named: readonly (readonly [string, unknown])[]): void {
  for (const [name, value] of named) {
    if (value === undefined) continue;
    if (typeof value !== "number" || Number.isNaN(value) || value < 0) {
      throw new TypeError(`${name}: found ${String(value)}, wanted a number of at least 0`);
    }
  }
}

/**
 * Checks an option that is one of a few words.
 *
 * @throws TypeError naming the option.
 */
export function checkChoice(name: string, found: string | undefined, wanted: readonly string[]): void {
  if (found === undefined || wanted.includes(found)) return;
  throw new TypeError(`${name}: found ${JSON.stringify(found)}, wanted ${wanted.join(" or ")}`);
}

/**
 * Checks an option that is a list.
 *
 * @throws TypeError naming the option.
 */
export function checkList(name: string, found: unknown): void {
  if (found === undefined || Array.isArray(found)) return;
  throw new TypeError(`${name}: found ${typeof found}, wanted a list`);
}

/**
 * Checks URIs of extensions: they go out in one header, with a comma between them (3.2.6).
 *
 * @throws TypeError naming the option.
 */
export function checkExtensions(name: string, found: unknown): void {
  checkList(name, found);
  const uris: readonly unknown[] = Array.isArray(found) ? found : [];
  const wrong = uris.find((uri) => typeof uri !== "string" || !/^[\x21-\x2b\x2d-\x7e]+$/.test(uri));
  if (wrong === undefined) return;
  throw new TypeError(`${name}: found ${JSON.stringify(wrong)}, wanted a URI without commas and spaces`);
}
