import { LimitExceededError } from "../errors/transport.ts";
import type { JsonObject } from "../model/schema.ts";
import type { CardSignatureProblem } from "../model/signature.ts";
import { createScope, withSignal } from "../util/abort.ts";
import { type Clock, elapsedMs, type Instant, readInstant } from "../util/clock.ts";
import { isRecord } from "../util/freeze.ts";
import { inspectIJson } from "../util/i-json.ts";
import { parseJson } from "../util/json.ts";
import { redactUrl } from "../util/redact.ts";
import { discardBody, readText } from "../wire/body.ts";
import type { HttpExchange, HttpResponse } from "../wire/http.ts";
import type { Limits } from "../wire/limits.ts";

/** What came of the reading of a key set. */
export type KeySetReading =
  | { readonly ok: true; readonly keys: readonly JsonObject[] }
  | { readonly ok: false; readonly problem: KeySetProblem; readonly message: string };

/** How a key set can't be read, or that it is one too many. */
export type KeySetProblem = Extract<CardSignatureProblem, `keys-${string}` | "too-many">;

/** Key sets (RFC 7517) by their URLs, for the signatures of one card. */
export interface CardKeySets {
  /**
   * The key set at a URL, as it was last read; read again when that is too long ago, or when `isEnough` says that what
   * is known won't do, but not more often than the cooldown allows.
   *
   * @throws the signal's reason, and nothing else.
   */
  read(
    url: string,
    isEnough: (keys: readonly JsonObject[]) => boolean,
    signal: AbortSignal,
  ): Promise<KeySetReading>;
}

/** Key sets by their URLs, read once for many. */
export interface KeySets extends CardKeySets {
  /** The same for one card, whose signatures name few sets and wait for all of them within one budget. */
  forCard(): CardKeySets;
}

/** What key sets are read with. */
export interface KeySetOptions {
  readonly http: HttpExchange;
  readonly clock: Clock;
  readonly limits: Pick<Limits, "keySetBytes" | "keySetKeys">;
  /** Budget of one whole reading, in milliseconds. @default 5 000 */
  readonly totalMs?: number;
  /** For how long a set is believed, in milliseconds. @default 10 minutes */
  readonly ttlMs?: number;
  /** For how long a set is not read again, whatever it lacked or however it failed, in milliseconds. @default 30 000 */
  readonly cooldownMs?: number;
}

interface Entry {
  readonly reading: KeySetReading;
  readonly at: Instant;
}

/** Sets remembered at most; the oldest go first. */
const maxSets = 100;
/** Most key sets of one card that are read. */
const maxCardSets = 4;
/** Most time that all key sets of one card are waited for, in milliseconds. */
const maxCardMs = 5_000;
/** Deepest nesting of a set. */
const maxDepth = 8;

/** Makes the reader of key sets. Nothing is followed, nothing is sent that tells who asks. */
export function createKeySets(options: KeySetOptions): KeySets {
  const { http, clock, limits, totalMs = 5_000, ttlMs = 600_000, cooldownMs = 30_000 } = options;
  const known = new Map<string, Entry>();
  const flights = new Map<string, Promise<KeySetReading>>();

  function isGood({ reading, at }: Entry, isEnough: (keys: readonly JsonObject[]) => boolean): boolean {
    const age = elapsedMs(clock, at);
    if (age < cooldownMs) return true;
    return reading.ok && age < ttlMs && isEnough(reading.keys);
  }

  async function load(url: string): Promise<KeySetReading> {
    const reading = await readSet(url);
    known.delete(url);
    known.set(url, { reading, at: readInstant(clock) });
    const [oldest] = known.keys();
    if (known.size > maxSets && oldest !== undefined) known.delete(oldest);
    return reading;
  }

  async function readSet(url: string): Promise<KeySetReading> {
    const scope = createScope(clock, []);
    const timeout = new TypeError(`found no whole answer in ${totalMs} ms`);
    scope.deadline(totalMs, () => timeout);
    try {
      const response = await http({
        url,
        method: "GET",
        headers: { accept: "application/jwk-set+json, application/json" },
        cache: "no-store",
        signal: scope.signal,
        firstByteMs: totalMs,
      });
      return await readKeys(url, response, scope.signal);
    } catch (error) {
      if (error instanceof LimitExceededError) {
        return failed("keys-too-large", url, `found more than ${error.max} bytes`);
      }
      return failed("keys-unreachable", url, error instanceof Error ? error.message : "found no answer");
    } finally {
      scope.release();
    }
  }

  async function readKeys(url: string, response: HttpResponse, signal: AbortSignal): Promise<KeySetReading> {
    if (response.status !== 200) {
      discardBody(response);
      return failed("keys-unreachable", url, `found HTTP ${response.status}, wanted 200`);
    }
    const text = await readText(response, {
      limit: "keySetBytes",
      maxBytes: limits.keySetBytes,
      idleMs: totalMs,
      clock,
      signal,
    });
    const set = parseSet(text);
    const keys = isRecord(set) ? set.keys : undefined;
    const isSet = Array.isArray(keys) && (keys.length === 0 || keys.some(isRecord));
    if (!isSet) {
      const found = text.trim() === "" ? "an empty answer" : response.mediaType || "no media type";
      return failed("keys-malformed", url, `found ${found} without { keys: [...] } in it`);
    }
    if (keys.length > limits.keySetKeys) {
      return failed("keys-too-many", url, `found ${keys.length} keys, wanted at most ${limits.keySetKeys}`);
    }
    return { ok: true, keys: Object.freeze(keys.filter(isRecord)) };
  }

  const read: KeySets["read"] = async (url, isEnough, signal) => {
    signal.throwIfAborted();
    const entry = known.get(url);
    if (entry && isGood(entry, isEnough)) return entry.reading;
    const flight = flights.get(url) ?? load(url).finally(() => flights.delete(url));
    flights.set(url, flight);
    return withSignal(flight, signal);
  };

  return {
    read,
    forCard() {
      const named = new Set<string>();
      let since: Instant | undefined;
      return {
        async read(url, isEnough, signal) {
          if (!named.has(url) && named.size >= maxCardSets) {
            const message = `found more than ${maxCardSets} key sets on one card`;
            return { ok: false, problem: "too-many", message };
          }
          named.add(url);
          since ??= readInstant(clock);
          const scope = createScope(clock, [signal]);
          const isOver = new TypeError(`found no whole answer in the ${maxCardMs} ms of a card's key sets`);
          scope.deadline(Math.max(0, maxCardMs - elapsedMs(clock, since)), () => isOver);
          try {
            return await read(url, isEnough, scope.signal);
          } catch (error) {
            if (error !== isOver) throw error;
            return failed("keys-unreachable", url, isOver.message);
          } finally {
            scope.release();
          }
        },
      };
    },
  };
}

function parseSet(text: string): unknown {
  try {
    const { tooDeep, problems } = inspectIJson(text, maxDepth);
    return tooDeep || problems.length > 0 ? undefined : parseJson(text);
  } catch {
    return undefined;
  }
}

function failed(problem: KeySetProblem, url: string, found: string): KeySetReading {
  return { ok: false, problem, message: `the key set at ${redactUrl(url)} can't be read: ${found}` };
}
