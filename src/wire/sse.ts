import { createParser } from "eventsource-parser";
import { LimitExceededError, MalformedResponseError } from "../errors/transport.ts";
import { cut } from "../util/redact.ts";
import { longestRetryMs } from "./retry-after.ts";
import { createUtf8Reader, hasDamage } from "./utf8.ts";

/** One event of a server-sent event stream. */
export interface SseEvent {
  /** Name of the event; absent when the stream gave none. */
  readonly name?: string;
  /** Id of the event; absent when the stream gave none. */
  readonly id?: string;
  /** The data, its lines joined; absent when its bytes are no UTF-8. */
  readonly data?: string;
}

/** Lines that belong to no event. A stream may have some; one that has nothing else is no event stream. */
export interface IgnoredLines {
  /** How many. */
  readonly count: number;
  /** The beginning of the first. */
  readonly first?: string;
}

/** Why a stream can't be read any further. */
export type SseFailure = LimitExceededError | MalformedResponseError;

/** What one chunk completed. */
export interface SseBatch {
  /** The events, in order. */
  readonly events: readonly SseEvent[];
  /** Why the stream can't be read any further; the events before it still count. */
  readonly failure?: SseFailure;
}

/** Takes the bytes of an event stream as they come and gives the events that are complete. */
export interface SseParser {
  /** Takes the next bytes. After a failure it takes no more. */
  feed(chunk: Uint8Array): SseBatch;
  /** The server's last `retry:` in milliseconds, at most one hour. */
  readonly retryMs: number | undefined;
  /** Lines that belong to no event so far. */
  readonly ignored: IgnoredLines;
}

/** What a line has beside its data: the name of the field. */
const fieldLength = "data: ".length;
/** The parser makes an error object of each line that it ignores; that many in a row, without an event, are no stream. */
const maxIgnoredLines = 10_000;
/** Bytes that may come in a row, beside those of an event, without one being complete: a month of heartbeats. */
const maxIdleBytes = 8 * 1024 * 1024;

/**
 * Makes a parser of server-sent events (HTML 9.2.6): CR, LF and CRLF, a byte order mark, comments, data of many lines,
 * characters split across chunks. An event without its blank line never comes out, and neither comments nor anything else
 * may go on without end where no event comes. How the bytes were cut into chunks
 * makes no difference.
 */
export function createSseParser(maxEventBytes: number): SseParser {
  const utf8 = createUtf8Reader();
  let events: SseEvent[] = [];
  let failure: SseFailure | undefined;
  let retryMs: number | undefined;
  let ignored: IgnoredLines = { count: 0 };
  let ignoredInARow = 0;
  let idleBytes = 0;
  let afterCr = false;

  /** Leaves the parser by an exception: what it would still find in the chunk no longer counts. */
  function stop(reason: SseFailure): never {
    failure = reason;
    throw reason;
  }
  const stopTooLarge = () => stop(new LimitExceededError("eventBytes", maxEventBytes, "a larger event"));

  const parser = createParser({
    // This bound alone misses an event that arrives whole in one chunk.
    maxBufferSize: maxEventBytes + fieldLength,
    onEvent({ data, event, id }) {
      if (isLonger(data, maxEventBytes)) stopTooLarge();
      ignoredInARow = 0;
      const isReadable = !utf8.isDamaged || !hasDamage(data);
      events.push({
        ...(event === undefined ? {} : { name: event }),
        ...(id === undefined ? {} : { id }),
        ...(isReadable ? { data } : {}),
      });
    },
    onRetry(delayMs) {
      retryMs = Math.min(delayMs, longestRetryMs);
    },
    onError({ type, line = "" }) {
      if (type === "max-buffer-size-exceeded") stopTooLarge();
      if (type !== "unknown-field") return;
      ignored = { count: ignored.count + 1, first: ignored.first ?? cut(line, 200) };
      ignoredInARow += 1;
      if (ignoredInARow > maxIgnoredLines) {
        const message = `found ${ignoredInARow} lines that belong to no event, wanted an event stream`;
        stop(new MalformedResponseError([{ path: "$", message }], ignored.first));
      }
    },
  });
  // The parser takes three letters at the beginning of its first text for a byte order mark that was not decoded.
  parser.feed("");

  /** Line ends become LF before the parser sees them: it looks for CR again at each line of a chunk that has one. */
  function withLineFeeds(text: string): string {
    const rest = afterCr && text.startsWith("\n") ? text.slice(1) : text;
    // A CR ends its line at once; an LF that follows in the next chunk belongs to it.
    afterCr = text.endsWith("\r");
    return rest.includes("\r") ? rest.replace(/\r\n?/g, "\n") : rest;
  }

  return {
    feed(chunk) {
      if (failure) return { events: [], failure };
      events = [];
      const text = utf8.read(chunk);
      if (text === "") return { events };
      try {
        parser.feed(withLineFeeds(text));
      } catch (error) {
        if (error !== failure) throw error;
      }
      idleBytes = events.length > 0 ? 0 : idleBytes + chunk.length;
      if (!failure && idleBytes > maxEventBytes + maxIdleBytes) {
        failure = new LimitExceededError("eventBytes", maxEventBytes, `${idleBytes} bytes without an event`);
      }
      return failure ? { events, failure } : { events };
    },
    get retryMs() {
      return retryMs;
    },
    get ignored() {
      return ignored;
    },
  };
}

/** Whether a text has more bytes than `maxBytes` in UTF-8, where a code unit has three at most. */
function isLonger(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes || text.length * 3 <= maxBytes) return text.length > maxBytes;
  return new TextEncoder().encode(text).length > maxBytes;
}
