/** Headers that the library sets itself. */
const reserved = new Set([
  "a2a-version",
  "a2a-extensions",
  "content-type",
  "content-length",
  "host",
  "connection",
]);

/**
 * Checks headers that a caller gives and puts their names in lower case.
 *
 * @param option - where they were given, for the message; a value never stands in it.
 * @throws TypeError for a name or a value that HTTP does not allow, and for a header that the library sets itself.
 */
export function checkHeaders(
  option: string,
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const checked = Object.entries(headers).map(([name, value]) => {
    const lower = name.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(lower)) {
      throw new TypeError(
        `${option}: found the header name ${JSON.stringify(name)}, wanted an HTTP field name`,
      );
    }
    if (reserved.has(lower)) throw new TypeError(`${option}: ${lower} is set by the library`);
    if (typeof value !== "string" || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw new TypeError(`${option}: the value of the header ${lower} is no text that HTTP can carry`);
    }
    return [lower, value] as const;
  });
  return Object.freeze(Object.fromEntries(checked));
}
