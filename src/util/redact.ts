const secretName =
  /authori[sz]ation|cookie|token|secret|password|passwd|credential|api[-_]?key|signature|^key$|^sig$|^code$/i;

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
  if (!URL.canParse(url)) return cut(url.replace(/[?#].*$/s, ""), 500);
  const parsed = new URL(url);
  if (!parsed.username && !parsed.password && !parsed.hash && !parsed.search) return cut(url, 500);
  parsed.username = "";
  parsed.password = "";
  parsed.hash = "";
  for (const [name, value] of [...parsed.searchParams]) {
    if (secretName.test(name) || value.length >= 20) parsed.searchParams.set(name, "***");
  }
  return cut(parsed.href, 500);
}

/** A text fit for a log: tokens that follow a scheme word or stand in a query are struck out. */
export function redactText(text: string): string {
  return text
    .replace(/\b(bearer|basic|digest|dpop)\s+[\w.~+/=-]{4,}/gi, "$1 ***")
    .replace(/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, "***")
    .replace(/([?&][^=&\s]*(?:token|key|secret|sig|code|password)[^=&\s]*=)[^&\s"']+/gi, "$1***");
}

/** A JSON value fit for a log: members whose name speaks of a secret are struck out, texts are redacted and cut. */
export function redactJson(value: unknown, maxText = 2048): unknown {
  if (typeof value === "string") return cut(redactText(value), maxText);
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => redactJson(item, maxText));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => {
    const isSecret = typeof member === "string" && secretName.test(name) && !harmlessName.test(name);
    return [name, isSecret ? "***" : redactJson(member, maxText)];
  });
  return Object.fromEntries(entries);
}
