const secretName =
  /authori[sz]ation|cookie|token|secret|password|passwd|passphrase|credential|assertion|api[-_]?key|signature|(?:^|[-_]|access|private|shared)key$|^(?:auth|jwt|pwd|sig)$/i;

/** Names of query parameters that carry a secret, and that mean something else in JSON. */
const secretParameter = /^(?:code|session|sid)$/i;

/** Names that speak of a secret and hold none: `tokenUrl`, `authorizationEndpoint`. */
const harmlessName = /(?:url|uri|endpoint|type|scheme|name|kind|id|at|ms)$/i;

/** Cuts a text to `maxLength` characters and says how many went. */
export function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}… (${text.length - maxLength} more)`;
}

/**
 * A URL fit for a log: no user name or password, no fragment, and no value of a query parameter that sounds secret or
 * is long enough to be one.
 */
export function redactUrl(url: string): string {
  if (!URL.canParse(url)) return cut(url.replace(/[?#].*$/s, "").replace(/^[^/]*\/\/[^/]*@/, "//"), 500);
  const parsed = new URL(url);
  if (!parsed.username && !parsed.password && !parsed.hash && !parsed.search) return cut(url, 500);
  parsed.username = "";
  parsed.password = "";
  parsed.hash = "";
  for (const [name, value] of [...parsed.searchParams]) {
    if (isSecretParameter(name) || value.length >= 20) parsed.searchParams.set(name, "***");
  }
  return cut(parsed.href, 500);
}

/** Names that sound like one of a secret, and say which request it is or where it belongs. */
const requestKey =
  /(?:idempot\w*|dedup\w*|correlation|request|trace|routing|partition|shard|cache|surrogate|sort|tenant)[-_]?key$/i;

/** Whether the name of a header or of a query parameter speaks of a secret. */
export function isSecretParameter(name: string): boolean {
  return (secretName.test(name) || secretParameter.test(name)) && !requestKey.test(name);
}

/** What stands in a text for a secret, and what is left in its place. Each takes time in proportion to the text. */
const secretTexts: readonly (readonly [RegExp, string])[] = [
  // Header lines: whatever the scheme, all of the value is the secret.
  [/\b((?:proxy-)?authorization|(?:set-)?cookie)(["']?\s*[:=]\s*["']?)(?!["'\s])[^\r\n"'}]+/gi, "$1$2***"],
  [
    /\b((?:x-)?api[-_]?key|(?:access|refresh|id|auth|session)[-_]?token|client[-_]?secret|password|passwd|secret)(["']?\s*[:=]\s*["']?)(?!["'\s]|found\b)[^\s"',;&})\]]+/gi,
    "$1$2***",
  ],
  // A challenge (`Bearer realm="…"`) and the plain words ("bearer token") are no secrets.
  [
    /\b(bearer|dpop)\s+(?![\w-]+=[^=\s])(?!(?:tokens?|auth|authentication|authorization|schemes?|credentials?|challenge)(?![\w.~+/=-]))[\w.~+/=-]{4,}/gi,
    "$1 ***",
  ],
  [/\b([Bb]asic|BASIC)\s+(?![\w-]+=[^=\s])(?=[a-z]*[A-Z\d+/=])[\w+/=-]{4,}/g, "$1 ***"],
  [/(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*/g, "***"],
  [/(\/\/)[^\s/@"'<>]+@/g, "$1***@"],
];
const parameter = /([?&])([^=&?\s]*)=[^&\s"']+/g;

/** A text fit for a log: secrets that follow a scheme word, a header's name or a parameter's are struck out. */
export function redactText(text: string): string {
  const struck = secretTexts.reduce((kept, [secret, left]) => kept.replace(secret, left), text);
  return struck.replace(parameter, (found, mark, name) =>
    isSecretParameter(name) ? `${mark}${name}=***` : found,
  );
}

/** How much of a JSON value is kept for a log. */
export interface RedactionLimits {
  /** Longest text, in characters. @default 2048 */
  readonly maxText?: number;
  /** Most characters in all, names included; what comes after them is left out. @default 65 536 */
  readonly maxTotal?: number;
}

/** A JSON value fit for a log: members whose name speaks of a secret are struck out, texts are redacted and cut. */
export function redactJson(value: unknown, limits: RedactionLimits = {}): unknown {
  const { maxText = 2048, maxTotal = 65_536 } = limits;
  let left = maxTotal;

  function redact(item: unknown): unknown {
    if (typeof item === "string") {
      const text = cut(redactText(item), Math.max(0, Math.min(maxText, left)));
      left -= text.length;
      return text;
    }
    left -= 4;
    if (Array.isArray(item)) return redactList(item);
    if (typeof item !== "object" || item === null) return item;
    const kept: [string, unknown][] = [];
    for (const [name, member] of Object.entries(item)) {
      if (left <= 0) break;
      left -= name.length;
      const isSecret = typeof member === "string" && secretName.test(name) && !harmlessName.test(name);
      kept.push([cut(name, 200), isSecret ? "***" : redact(member)]);
    }
    return Object.fromEntries(kept);
  }

  function redactList(items: readonly unknown[]): unknown[] {
    const kept: unknown[] = [];
    for (const item of items.slice(0, 100)) {
      if (left <= 0) break;
      kept.push(redact(item));
    }
    return kept.length < items.length ? [...kept, `… (${items.length - kept.length} more)`] : kept;
  }

  return redact(value);
}
