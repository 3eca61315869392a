/**
 * Checks that something that was handed in has the functions that we call on it.
 *
 * @param wanted - what it should be, for the message: "a connected client".
 * @throws TypeError naming the option and the functions.
 */
export function checkFunctions(
  option: string,
  given: unknown,
  functions: readonly string[],
  wanted: string,
): void {
  const members = (given ?? {}) as Readonly<Record<string, unknown>>;
  const missing = functions.filter((name) => typeof members[name] !== "function");
  if (missing.length === 0) return;
  const isPromise = typeof members.then === "function";
  const found = isPromise ? "a promise that was not awaited" : `one without ${missing.join(", ")}`;
  throw new TypeError(
    `${option}: found ${found}, wanted ${wanted}, with the functions ${functions.join(", ")}`,
  );
}

/**
 * Checks that something is a ledger: that it has the functions that a client can't do without.
 *
 * @throws TypeError naming `ledger`.
 */
export function checkLedger(given: unknown): void {
  checkFunctions("ledger", given, ["read", "write", "remove", "list"], "a ledger");
}

/**
 * Checks that a text is a URL of one of some schemes; where it is none, its scheme is all that is told of it.
 *
 * @param schemes - as `redis://`.
 * @param isReadable - whether the rest of it can be read.
 * @throws TypeError naming `url`.
 */
export function checkUrl(
  url: string,
  schemes: readonly string[],
  isReadable: (url: string) => boolean,
): void {
  const wanted = `wanted ${schemes.map((scheme) => `${scheme}…`).join(" or ")}`;
  if (url === "") throw new TypeError(`url: found an empty text, ${wanted}`);
  const scheme = /^[a-z][a-z\d+.-]{0,30}:\/\//i.exec(url)?.[0].toLowerCase();
  if (scheme === undefined) throw new TypeError(`url: found a text that is no URL, ${wanted}`);
  if (!schemes.includes(scheme)) throw new TypeError(`url: found ${scheme}…, ${wanted}`);
  if (!isReadable(url)) throw new TypeError(`url: found one that can't be read, ${wanted}`);
}
