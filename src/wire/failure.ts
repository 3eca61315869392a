import { ConnectionError } from "../errors/transport.ts";
import { isRecord } from "../util/freeze.ts";
import { cut, redactText, redactUrl } from "../util/redact.ts";
import { strikeSecrets } from "../util/strike.ts";

/** Codes of failures that come before the first byte of a request is written. */
const neverSentCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
  "ERR_INVALID_URL",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
]);
/** The same, by kind: certificates, and TLS but for what can break a connection that was already in use. */
const neverSentKinds = /^(?:CERT_|UNABLE_TO_|ERR_TLS_(?!RENEGOTIATION|SESSION_ATTACK))/;
/** TLS did not come about because of a certificate: the server's, or one that it wants, or does not want, of the client. */
const certificateKinds =
  /^(?:CERT_|UNABLE_TO_(?:GET|VERIFY|DECRYPT|DECODE)_|(?:DEPTH_ZERO_)?SELF_SIGNED_CERT|HOSTNAME_MISMATCH$|INVALID_(?:CA|PURPOSE)$|PATH_LENGTH_EXCEEDED$|ERR_TLS_CERT_|ERR_SSL_.*ALERT_(?:HANDSHAKE_FAILURE|UNKNOWN_CA|(?:NO|BAD|UNSUPPORTED)_CERTIFICATE|CERTIFICATE_(?:REVOKED|EXPIRED|UNKNOWN|REQUIRED))$)/;
/** What the system was asked for when it failed: a connection or an address, so that nothing was written yet. */
const neverSentCalls: ReadonlySet<unknown> = new Set(["connect", "getaddrinfo"]);

const maxFailures = 20;
const maxText = 500;

type Verdict = "never-sent" | "maybe-sent" | "silent";

/**
 * Makes a `ConnectionError` of what a platform threw. The thrown value itself is not kept: it can hold the request
 * with its headers.
 *
 * @param phase - whether a head had come: a request whose answer broke off was sent for certain.
 * @param secrets - secrets of the request that the platform may repeat.
 */
export function toConnectionError(
  url: string,
  failure: unknown,
  phase: "head" | "body",
  secrets: readonly string[] = [],
): ConnectionError {
  const failures = failuresIn(failure);
  const code = failures.map(codeOf).find((found) => found !== undefined);
  const systemCode = code && strikeSecrets(code, secrets);
  const message = textOf(failures, secrets);
  const isCertificate =
    phase === "head" && failures.some((item) => certificateKinds.test(codeOf(item) ?? ""));
  return new ConnectionError(url, {
    ...(systemCode === undefined ? {} : { systemCode }),
    ...(isCertificate ? { reason: "certificate" } : {}),
    neverSent: phase === "head" && judge(failure, new Set()) === "never-sent",
    message,
  });
}

/** Whether a failure is the platform's own deadline for a head or for the next bytes of a body. */
export function isPlatformTimeout(failure: unknown): boolean {
  return failuresIn(failure).some((item) => /^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/.test(codeOf(item) ?? ""));
}

/** All attempts must have failed before anything was written, and no layer of a failure may say otherwise. */
function judge(failure: unknown, seen: Set<unknown>): Verdict {
  if (!isRecord(failure) || seen.has(failure)) return "silent";
  seen.add(failure);
  const attempts = attemptsOf(failure);
  if (attempts.length > 0) {
    return attempts.every((attempt) => judge(attempt, seen) === "never-sent") ? "never-sent" : "maybe-sent";
  }
  const below = judge(failure.cause, seen);
  const code = codeOf(failure);
  if (code === undefined || below === "maybe-sent") return below;
  const isProof =
    neverSentCodes.has(code) || neverSentKinds.test(code) || neverSentCalls.has(failure.syscall);
  return isProof ? "never-sent" : "maybe-sent";
}

/** A failure, its causes and its attempts, outermost first. */
function failuresIn(failure: unknown): readonly unknown[] {
  const found = new Set<unknown>([failure]);
  for (const item of found) {
    if (!isRecord(item) || found.size >= maxFailures) continue;
    if (item.cause !== undefined) found.add(item.cause);
    for (const attempt of attemptsOf(item).slice(0, maxFailures)) found.add(attempt);
  }
  return [...found];
}

function attemptsOf(failure: Record<string, unknown>): readonly unknown[] {
  return Array.isArray(failure.errors) ? failure.errors : [];
}

function codeOf(failure: unknown): string | undefined {
  return isRecord(failure) && typeof failure.code === "string" ? cut(failure.code, 80) : undefined;
}

/** What is known to be secret is struck first: a redaction or a cut would leave a part of it. */
function textOf(failures: readonly unknown[], secrets: readonly string[]): string {
  const texts = failures.map((item) => (isRecord(item) ? item.message : item));
  const told = new Set(texts.filter((text): text is string => typeof text === "string" && text !== ""));
  if (told.size === 0) return "the platform gave no reason";
  const text = [...told].map((item) => cut(strikeSecrets(item, secrets), maxText)).join(": ");
  return redactText(cut(text.replace(/\bhttps?:\/\/[^\s"'<>]+/gi, redactUrl), maxText));
}
