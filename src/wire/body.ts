import { LimitExceededError, MalformedResponseError, TimeoutError } from "../errors/transport.ts";
import type { Clock } from "../util/clock.ts";
import { cut } from "../util/redact.ts";
import { strikeSecrets } from "../util/strike.ts";
import { type Chunks, openChunks } from "./chunks.ts";
import type { HttpResponse } from "./http.ts";
import { decodeUtf8, decodeUtf8Lossy } from "./utf8.ts";

/** How a whole body is read. */
export interface BodyOptions {
  /** Time. */
  readonly clock: Clock;
  /** Aborts the reading; its reason is rethrown unchanged. */
  readonly signal: AbortSignal;
  /** Longest silence in milliseconds. */
  readonly idleMs: number;
  /** Most bytes that are taken. */
  readonly maxBytes: number;
  /** Name of the limit that `maxBytes` is, for the error. */
  readonly limit: string;
  /** Secrets that no error may hold which quotes from the body. @default none */
  readonly secrets?: readonly string[];
}

/**
 * Reads a body to its end.
 *
 * @throws LimitExceededError when it is larger than `maxBytes`; at once, when its head says so.
 * @throws TimeoutError of the budget `"idle"`, ConnectionError when it breaks off, or the signal's reason.
 */
export async function readBytes(response: HttpResponse, options: BodyOptions): Promise<Uint8Array> {
  const { maxBytes, limit } = options;
  const announced = Number(response.headers.get("content-length") ?? 0);
  const chunks = open(response, options);
  try {
    if (announced > maxBytes) throw new LimitExceededError(limit, maxBytes, `${announced} bytes`);
    const parts: Uint8Array[] = [];
    const length = await pull(chunks, maxBytes, parts);
    if (length > maxBytes) throw new LimitExceededError(limit, maxBytes, `at least ${length} bytes`);
    return join(parts, maxBytes);
  } finally {
    chunks.close();
  }
}

/** How much of a body is looked at for its beginning, so that no secret is cut in half. */
const quotedFrom = 8_192;

/**
 * Reads a body to its end as UTF-8, without a byte order mark. Throws as {@link readBytes} does.
 *
 * @throws MalformedResponseError when it is no UTF-8.
 */
export async function readText(response: HttpResponse, options: BodyOptions): Promise<string> {
  const bytes = await readBytes(response, options);
  const text = decodeUtf8(bytes);
  if (text !== undefined) return text;
  const beginning = cut(decodeUtf8Lossy(bytes.subarray(0, 4 * quotedFrom)), quotedFrom);
  throw new MalformedResponseError(
    [{ path: "$", message: "found bytes that are no UTF-8, wanted UTF-8" }],
    cut(strikeSecrets(beginning, options.secrets ?? []), 500),
  );
}

/**
 * Reads what can be had of the body of an error answer: at most `maxBytes`, and less when the connection breaks or
 * falls silent, since its status is worth more than its body. A text that goes on says so at its end.
 *
 * @throws the signal's reason, and nothing else.
 */
export async function readBeginning(response: HttpResponse, options: BodyOptions): Promise<string> {
  const chunks = open(response, options);
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    length = await pull(chunks, options.maxBytes, parts);
  } catch {
    options.signal.throwIfAborted();
  } finally {
    chunks.close();
  }
  const text = decodeUtf8Lossy(join(parts, options.maxBytes));
  const more = length - options.maxBytes;
  // Whoever strikes secrets out of it has to know that one may have been cut in half.
  return more > 0 ? `${text.replace(/\ufffd+$/, "")}… (${more} more)` : text;
}

/** Lets go of a body that nobody wants, and of its connection. */
export function discardBody(response: HttpResponse): void {
  // What cancelling throws says nothing that the caller does not know.
  response.body?.cancel().catch(() => {});
}

function open(response: HttpResponse, options: BodyOptions): Chunks {
  const { clock, signal, idleMs } = options;
  const idleError = (silentMs: number) => new TimeoutError(response.url, "idle", silentMs);
  return openChunks(response, { clock, signal, idleMs, idleError });
}

/** Pulls chunks into `parts` until the end, or until there are more than `maxBytes`; says how many bytes that were. */
async function pull(chunks: Chunks, maxBytes: number, parts: Uint8Array[]): Promise<number> {
  let length = 0;
  while (length <= maxBytes) {
    const part = await chunks.next();
    if (!part) break;
    parts.push(part);
    length += part.length;
  }
  return length;
}

function join(parts: readonly Uint8Array[], maxBytes: number): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const bytes = new Uint8Array(Math.min(length, maxBytes));
  let at = 0;
  for (const part of parts) {
    const kept = part.subarray(0, bytes.length - at);
    bytes.set(kept, at);
    at += kept.length;
  }
  return bytes;
}
