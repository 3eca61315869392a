/** Where in a JSON document something stands, outermost first: member names and array positions. */
export type JsonPathSteps = readonly (string | number)[];

/** Writes steps as a JSON path: `$.skills[0].id`, and `$["odd name"]` where a name is no identifier. */
export function jsonPath(steps: JsonPathSteps): string {
  return steps.reduce<string>((path, step) => {
    if (typeof step === "number") return `${path}[${step}]`;
    return /^[A-Za-z_$][\w$]*$/.test(step) ? `${path}.${step}` : `${path}[${JSON.stringify(step)}]`;
  }, "$");
}

/** Writes steps as an RFC 6901 JSON pointer: `/skills/0/id`. */
export function jsonPointer(steps: JsonPathSteps): string {
  return steps.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/**
 * Parses JSON. A `__proto__` member is left out wherever it stands, so that no later copy can turn it into a
 * prototype.
 *
 * @throws SyntaxError when the text is no JSON.
 */
export function parseJson(text: string): unknown {
  // The reviver costs more than the parse, and only a text with the name, or with one of its letters escaped, needs it.
  if (!text.includes("__proto__") && !escapedLetter.test(text)) return JSON.parse(text);
  return JSON.parse(text, (name, value) => (name === "__proto__" ? undefined : value));
}

/** A letter of `__proto__` written as an escape. */
const escapedLetter = /\\u00(?:5f|6f|7[024])/i;

/** Whether a parsed value nests objects and arrays deeper than `maxDepth`. Does not recurse. */
export function isDeeperThan(value: unknown, maxDepth: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    const containers = level.filter((item) => typeof item === "object" && item !== null);
    if (containers.length > 0 && depth >= maxDepth) return true;
    level = containers.flatMap((item) => Object.values(item as object));
  }
  return false;
}

/** Whether a text has a surrogate code unit without its other half; such a text has no UTF-8 form. */
export function hasLoneSurrogate(text: string): boolean {
  return /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(text);
}

/**
 * The RFC 8785 (JCS) form of a JSON value: member names in order of their UTF-16 code units, numbers and strings as
 * ECMAScript writes them, no white space.
 *
 * @throws TypeError for what has no such form: a number that is not finite, a lone surrogate, `undefined`, a function.
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case "string":
      if (hasLoneSurrogate(value))
        throw new TypeError("a string with a lone surrogate has no canonical form");
      return JSON.stringify(value);
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`the number ${value} has no canonical form`);
      return JSON.stringify(value);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
      return canonicalObject(value as Record<string, unknown>);
    default:
      throw new TypeError(`a value of type ${typeof value} has no canonical form`);
  }
}

function canonicalObject(value: Record<string, unknown>): string {
  // The default order of sort() is that of UTF-16 code units, which RFC 8785 asks for.
  let text = "";
  for (const name of Object.keys(value).sort()) {
    const member = value[name];
    if (member === undefined) continue;
    text += `${text === "" ? "" : ","}${canonicalJson(name)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}
