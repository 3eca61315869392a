import type { JsonObject } from "../model/schema.ts";
import type { CheckedSignature } from "../model/signature.ts";
import { originOfUrl } from "../util/address.ts";
import { redactUrl } from "../util/redact.ts";
import type { JwsHeader } from "./jws-header.ts";
import { misfitOf, readJwk, type VerificationKey } from "./keys.ts";
import type { SignatureQuestion } from "./signature-rules.ts";

/** Keys to try one signature with, or why there are none. */
type Candidates =
  | { readonly keys: readonly VerificationKey[] }
  | Pick<CheckedSignature, "result" | "problem" | "message">;

/** Most keys that one signature is tried with. */
export const maxKeys = 16;

/** Begins to read the key set of a signature that nobody trusted can have made, so that no set waits for another. */
export function expectKeySet(header: JwsHeader, question: SignatureQuestion): void {
  readSet(header, question)?.reading.catch(() => {});
}

/**
 * The keys that a signature's own key set has for it; only sets at allowed origins are read.
 *
 * @throws the signal's reason, and nothing else.
 */
export async function keysInSet(header: JwsHeader, question: SignatureQuestion): Promise<Candidates> {
  const { kid, jku, algorithm } = header;
  if (jku === undefined) {
    const message = kid === undefined ? "found no key id" : "found a key id that no trusted key has";
    return { result: "untrusted-signer", problem: "no-key", message };
  }
  const asked = readSet(header, question);
  if (!asked) {
    const { jkuOrigins } = question.rules;
    const message = `found a key set at ${redactUrl(jku)}, wanted one at ${jkuOrigins.join(", ") || "no place at all"}`;
    return { result: "untrusted-signer", problem: "jku-refused", message };
  }
  const reading = await asked.reading;
  if (!reading.ok) return { result: "unverifiable", problem: reading.problem, message: reading.message };
  const listed = kid === undefined ? reading.keys : reading.keys.filter((key) => key.kid === kid);
  const read = await Promise.all(listed.slice(0, maxKeys).map(readJwk));
  const usable = read.filter((key) => typeof key !== "string");
  // Without a key id, only a key that leaves no choice is meant.
  const meant = kid === undefined ? usable.filter((key) => misfitOf(key, algorithm) === undefined) : usable;
  if (meant.length > 0 && (kid !== undefined || meant.length === 1)) return { keys: meant };
  const why = read.find((key) => typeof key === "string");
  const message = `the key set at ${redactUrl(asked.url)} has no such key${why === undefined ? "" : `: ${why}`}`;
  return { result: "untrusted-signer", problem: "key-unknown", message };
}

/** Asks for the key set that a signature names; `undefined` where it may not be read. */
function readSet({ jku, kid }: JwsHeader, { rules, keySets, signal }: SignatureQuestion) {
  const url = jku !== undefined && URL.canParse(jku) ? new URL(jku) : undefined;
  if (!url || !keySets) return undefined;
  if (!rules.jkuOrigins.includes(originOfUrl(url) ?? "") || url.username !== "" || url.password !== "")
    return undefined;
  url.hash = "";
  const hasKey = (keys: readonly JsonObject[]) =>
    kid === undefined ? keys.length > 0 : keys.some((key) => key.kid === kid);
  return { url: url.href, reading: keySets.read(url.href, hasKey, signal) };
}
