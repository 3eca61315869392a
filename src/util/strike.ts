import { isSecretParameter } from "./redact.ts";

/** Headers whose value is no secret, whoever set them. */
export function isOpenHeader(name: string): boolean {
  return openHeader.test(name);
}
const openHeader = /^(?:a2a-.*|accept(?:-.*)?|content-.*|cache-control|if-.*|user-agent|traceparent)$/i;

/**
 * The secrets that a request carries: every header of the caller's own making, since any of them may be one, and every
 * query parameter that was put on it; the parts of those that sound like a secret too.
 */
export function secretsIn(
  headers: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>> = {},
): readonly string[] {
  const values = Object.entries(headers).flatMap(([name, value]) => {
    if (isSecretParameter(name)) return [value, ...value.split(/[\s=;,]+/), ...basicParts(value)];
    return isOpenHeader(name) ? [] : [value];
  });
  const tokens = [...values, ...Object.values(query)];
  // Short words are no secrets, and striking them would strike other words too.
  return [...new Set(tokens)].filter((token) => token.length >= 8).sort((a, b) => b.length - a.length);
}

/**
 * The secrets of a request as they would stand in a text that was made to repeat them: whole values only, and long ones,
 * so that no word of ordinary prose is among them.
 */
export function credentialValues(
  headers: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>> = {},
): readonly string[] {
  const values = Object.entries(headers).flatMap(([name, value]) => {
    if (/cookie/i.test(name)) return value.split(/;\s*/).map((pair) => pair.slice(pair.indexOf("=") + 1));
    return [value, value.replace(/^[\w-]+\s+/, ""), ...basicParts(value)];
  });
  return [...new Set([...values, ...Object.values(query)])].filter((value) => value.length >= 12);
}

/** The headers among a caller's own whose names speak of a secret. */
export function secretHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isSecretParameter(name)));
}

/** The values in a URL's own query that speak of a secret, or are long enough to be one. */
export function secretParameters(url: string): Readonly<Record<string, string>> {
  if (!URL.canParse(url)) return {};
  const parameters = [...new URL(url).searchParams];
  return Object.fromEntries(
    parameters.filter(([name, value]) => isSecretParameter(name) || value.length >= 20),
  );
}

/** The values in a URL's own query whose names speak of a secret. */
export function namedParameters(url: string): Readonly<Record<string, string>> {
  if (!URL.canParse(url)) return {};
  return Object.fromEntries([...new URL(url).searchParams].filter(([name]) => isSecretParameter(name)));
}

/**
 * A text without some secrets, in whichever case, as they are and as they stand in JSON and in a URL, and without the
 * beginning of one at which it was cut.
 */
export function strikeSecrets(text: string, secrets: readonly string[]): string {
  const { pattern, forms } = knownForms(secrets);
  if (forms.length === 0) return text;
  const struck = text.replace(pattern, "***");
  const parts = struck.split(cutMark);
  const last = parts.length - 1;
  return parts.map((part, index) => (index < last ? withoutBeginning(part, forms) : part)).join("…");
}

/** Where `cut` has cut a text. */
const cutMark = /…(?= \(\d+ more\))/;

/** A JSON value without some secrets, in the names of its members too. */
export function strikeJson<T>(value: T, secrets: readonly string[]): T;
export function strikeJson(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === "string") return strikeSecrets(value, secrets);
  if (Array.isArray(value)) return value.map((item) => strikeJson(item, secrets));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value);
  return Object.fromEntries(
    members.map(([name, member]) => [strikeSecrets(name, secrets), strikeJson(member, secrets)]),
  );
}

/** Whether a JSON value holds one of some secrets, in any text or name of a member, as {@link strikeJson} would find it. */
export function holdsSecret(value: unknown, secrets: readonly string[]): boolean {
  // Most texts are too short to hold any; patterns are made for one that is not.
  const shortest = Math.min(...secrets.map(({ length }) => length || Number.POSITIVE_INFINITY));
  const holds = (item: unknown): boolean => {
    // `search` begins at the beginning, where `test` goes on from what it found last.
    if (typeof item === "string")
      return item.length >= shortest && item.search(knownForms(secrets).pattern) >= 0;
    if (typeof item !== "object" || item === null) return false;
    if (Array.isArray(item)) return item.some(holds);
    for (const name in item) if (holds(name) || holds((item as Record<string, unknown>)[name])) return true;
    return false;
  };
  return holds(value);
}

/** What a list of secrets is looked for by; a stream asks for the same list with each of its frames. */
interface Forms {
  readonly pattern: RegExp;
  /** In lower case, longest first. */
  readonly forms: readonly string[];
}
const formsOfLists = new WeakMap<readonly string[], Forms>();

function knownForms(secrets: readonly string[]): Forms {
  const known = formsOfLists.get(secrets);
  if (known) return known;
  const forms = [...new Set(secrets.filter((secret) => secret !== "").flatMap(formsOf))].sort(
    (a, b) => b.length - a.length,
  );
  const pattern = new RegExp(
    forms.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"),
    "gi",
  );
  const made = { pattern, forms: forms.map((form) => form.toLowerCase()) };
  formsOfLists.set(secrets, made);
  return made;
}

/** How a secret stands in a text: as it is, in a URL, in JSON as its writers differ, and in JSON within JSON. */
function formsOf(secret: string): readonly string[] {
  const json = inJson(secret);
  const ascii = json.replace(/[^\x20-\x7e]/g, escapeUnit);
  const isLone = /[\ud800-\udfff]/.test(secret) && !isWellFormed(secret);
  const url = isLone
    ? []
    : [encodeURIComponent(secret), new URLSearchParams({ v: secret }).toString().slice(2)];
  const inJsons = [json, ascii, json.replaceAll("/", "\\/"), ascii.replace(/[<>&'/+=]/g, escapeUnit)];
  return [secret, ...url, ...inJsons, ...inJsons.map(inJson), inJson(inJson(json))];
}

function isWellFormed(text: string): boolean {
  try {
    return encodeURIComponent(text) !== "";
  } catch {
    return false;
  }
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** How a text stands in JSON. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Shortest beginning of a secret that is struck at the end of a text. */
const shortestBeginning = 3;

function withoutBeginning(text: string, forms: readonly string[]): string {
  const end = text.toLowerCase();
  const longest = forms.map((form) => {
    if (!end.includes(form.slice(0, shortestBeginning))) return 0;
    const most = Math.min(form.length - 1, end.length);
    for (let length = most; length >= shortestBeginning; length -= 1) {
      if (end.endsWith(form.slice(0, length))) return length;
    }
    return 0;
  });
  const length = Math.max(0, ...longest);
  return length === 0 ? text : `${text.slice(0, -length)}***`;
}

/** User name and password of a basic header, which an agent may give back as it decoded them. */
function basicParts(value: string): readonly string[] {
  const [, encoded] = /^basic\s+([\w+/=-]+)$/i.exec(value) ?? [];
  if (encoded === undefined) return [];
  try {
    const decoded = atob(encoded);
    return [decoded, decoded.slice(decoded.indexOf(":") + 1)];
  } catch {
    return [];
  }
}
