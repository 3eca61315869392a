import type { CheckedSignature } from "../model/signature.ts";
import { decodeBase64Url } from "../util/base64url.ts";
import { isRecord } from "../util/freeze.ts";
import { inspectIJson } from "../util/i-json.ts";
import { decodeUtf8 } from "../wire/utf8.ts";

/** The head of a signature that can be checked. Nothing is taken from the unprotected header: nobody signed it. */
export interface JwsHeader {
  /** Protected header, base64url, as received. */
  readonly protected: string;
  /** Signature, base64url, as received. */
  readonly signature: string;
  /** Algorithm. */
  readonly algorithm: string;
  /** Key id. */
  readonly kid: string | undefined;
  /** URL of a key set. */
  readonly jku: string | undefined;
  /** Whether the payload is signed as base64url; `false` by RFC 7797. */
  readonly isEncoded: boolean;
}

/** Most characters of a protected header, or of a signature. */
const maxLength = 16_384;
/** Header parameters that may be critical: the one that is understood (RFC 7797). */
const understood: readonly unknown[] = ["b64"];

/** Reads one entry of a card's `signatures` (4.4.7, RFC 7515): its head, or why it can't be checked. */
export function readHeader(entry: unknown, algorithms: readonly string[]): JwsHeader | CheckedSignature {
  if (!isRecord(entry)) return malformed("found an entry that is no object");
  const { protected: encoded, signature } = entry;
  if (typeof encoded !== "string" || typeof signature !== "string") {
    return malformed("found an entry without protected and signature, wanted both as texts");
  }
  if (encoded.length > maxLength || signature.length > maxLength) {
    return malformed(`found an entry of more than ${maxLength} characters`);
  }
  const header = decodeHeader(encoded);
  if (typeof header === "string") return malformed(header);
  const { alg: algorithm, kid, jku, crit, b64 } = header;
  if (typeof algorithm !== "string" || algorithm === "") {
    return malformed("found no alg in the protected header");
  }
  if (kid !== undefined && (typeof kid !== "string" || kid === "" || kid.length > 1_000)) {
    return malformed("found a kid that is no text, an empty one or one of more than 1 000 characters");
  }
  if (jku !== undefined && typeof jku !== "string") return malformed("found a jku that is no text");
  const named = { algorithm: algorithm.slice(0, 40), ...(kid === undefined ? {} : { kid }) };
  if (algorithm.toLowerCase() === "none") {
    const message = "found the algorithm none, wanted a signature";
    return { result: "invalid", problem: "algorithm-none", message, ...named };
  }
  const names = JSON.stringify(crit)?.slice(0, 100);
  const isListed = crit === undefined || (Array.isArray(crit) && crit.length > 0);
  const isKnown = !Array.isArray(crit) || crit.every((name) => understood.includes(name));
  if (!isListed || !isKnown || (b64 !== undefined && (typeof b64 !== "boolean" || crit === undefined))) {
    const message = `found the critical header parameters ${names ?? "missing for b64"}, wanted none but "b64"`;
    return { result: "invalid", problem: "critical-header", message, ...named };
  }
  if (!algorithms.includes(algorithm)) {
    const message = `found the algorithm ${JSON.stringify(algorithm.slice(0, 40))}, wanted one of ${algorithms.join(", ")}`;
    return { result: "unverifiable", problem: "algorithm-refused", message, ...named };
  }
  if (!decodeBase64Url(signature)?.length) {
    return { ...malformed("found a signature that is no base64url"), ...named };
  }
  return { protected: encoded, signature, algorithm, kid, jku, isEncoded: b64 !== false };
}

function decodeHeader(encoded: string): Record<string, unknown> | string {
  const bytes = decodeBase64Url(encoded);
  const text = bytes && decodeUtf8(bytes);
  if (text === undefined) return "found a protected header that is no base64url of a text";
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch {
    return "found a protected header that is no JSON";
  }
  // RFC 7515, 4: names must be unique.
  const { tooDeep, problems } = inspectIJson(text, 8);
  if (!isRecord(header) || tooDeep || problems.length > 0)
    return "found a protected header that is no object";
  return header;
}

function malformed(message: string): CheckedSignature {
  return { result: "invalid", problem: "malformed", message };
}
