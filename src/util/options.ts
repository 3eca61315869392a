import { cut } from "./redact.ts";

/** What an option has to be; a list names the values that it may have. */
export type OptionKind =
  | "any"
  | "flag"
  | "text"
  | "function"
  | "list"
  | "object"
  | "amount"
  | readonly (string | number)[];

/** All options of `T`, each with what it has to be: the compiler asks for every one, and for no other. */
export type OptionKinds<T> = Readonly<Record<keyof T, OptionKind>>;

type Check = readonly [isRight: (value: unknown) => boolean, wanted: string];

const checks: Readonly<Record<Extract<OptionKind, string>, Check>> = Object.freeze({
  any: [() => true, ""],
  flag: [(value) => typeof value === "boolean", "true or false"],
  text: [(value) => typeof value === "string", "a text"],
  function: [(value) => typeof value === "function", "a function"],
  list: [(value) => Array.isArray(value), "a list"],
  object: [(value) => typeof value === "object" && value !== null && !Array.isArray(value), "an object"],
  amount: [
    (value) => typeof value === "number" && !Number.isNaN(value) && value >= 0,
    "a number of at least 0",
  ],
});

/**
 * Checks an object of options, which is nothing but options: one that is misspelt would be taken in silence and not
 * count, and so would one of another kind. What is `undefined` was not given, the object itself too. Data of a caller's,
 * cards and messages for one, may have members of its own and is not for this.
 *
 * @param option - what the object is itself called, for messages: `timeouts`. @default it is all that was given
 * @throws TypeError naming the option that is none, or not of its kind. No text of the caller's stands in it, since that
 * may be a secret, but for the name and for one that had to be one of a few words.
 */
export function checkOptions<T extends object>(
  given: T | undefined,
  kinds: OptionKinds<T>,
  option?: string,
): void {
  if (given === undefined) return;
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new TypeError(`${option ?? "options"}: found ${kindOf(given)}, wanted an object`);
  }
  const known: Readonly<Record<string, OptionKind>> = kinds;
  const members = Object.entries(given).filter(([, value]) => value !== undefined);
  const named = (name: string) => (option === undefined ? name : `${option}.${name}`);
  const unknown = members.find(([name]) => !Object.hasOwn(known, name));
  if (unknown) {
    const wanted = Object.keys(known).sort().join(", ");
    throw new TypeError(`${named(cut(unknown[0], 100))}: is no option here, wanted some of ${wanted}`);
  }
  for (const [name, value] of members) checkKind(named(name), value, known[name] ?? "any");
}

/**
 * Checks the kind of one option that was given.
 *
 * @throws TypeError naming it.
 */
export function checkKind(name: string, value: unknown, kind: OptionKind): void {
  if (value === undefined) return;
  if (typeof kind !== "string") {
    if (kind.some((choice) => choice === value)) return;
    const found = typeof value === "string" ? JSON.stringify(cut(value, 100)) : told(value);
    throw new TypeError(`${name}: found ${found}, wanted ${kind.map(quoted).join(" or ")}`);
  }
  const [isRight, wanted] = checks[kind];
  if (!isRight(value)) throw new TypeError(`${name}: found ${told(value)}, wanted ${wanted}`);
}

function quoted(choice: string | number): string {
  return typeof choice === "string" ? `"${choice}"` : String(choice);
}

/** A number can be told as it is; of anything else only what it is. */
function told(value: unknown): string {
  return typeof value === "number" ? String(value) : kindOf(value);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : typeof value;
}
