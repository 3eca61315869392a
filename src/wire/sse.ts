import { createParser, type ParseError } from "eventsource-parser";
import { LimitExceededError } from "../errors/transport.ts";
import { longestRetryMs } from "./retry-after.ts";
import { decodeByteText, toByteText } from "./utf8.ts";

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

/** What one chunk completed. */
export interface SseBatch {
  /** The events, in order. */
  readonly events: readonly SseEvent[];
  /** Why the stream can't be read any further; the events before it still count. */
  readonly failure?: LimitExceededError;
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

const byteOrderMark = "\u00ef\u00bb\u00bf";
/** What a line has beside its data: the name of the field. */
const fieldBytes = "data: ".length;

/**
 * Makes a parser of server-sent events (HTML 9.2.6): CR, LF and CRLF, a byte order mark, comments, data of many lines,
 * characters split across chunks. An event without its blank line never comes out. How the bytes were cut into chunks
 * makes no difference.
 */
export function createSseParser(maxEventBytes: number): SseParser {
  let events: SseEvent[] = [];
  let failure: LimitExceededError | undefined;
  let retryMs: number | undefined;
  let ignored: IgnoredLines = { count: 0 };
  let head: string | undefined = "";
  let afterCr = false;

  const tooLarge = () => {
    failure ??= new LimitExceededError("eventBytes", maxEventBytes, "an event with more bytes");
  };
  const parser = createParser({
    // The parser's own bound misses an event that arrives whole in one chunk.
    maxBufferSize: maxEventBytes + fieldBytes,
    onEvent({ data, event, id }) {
      if (data.length > maxEventBytes) tooLarge();
      if (!failure) events.push(eventOf(data, event, id));
    },
    onRetry(delayMs) {
      retryMs = Math.min(delayMs, longestRetryMs);
    },
    onError(error) {
      if (error.type === "max-buffer-size-exceeded") tooLarge();
      else if (error.type === "unknown-field") ignored = withLine(ignored, error);
    },
  });

  /** Line ends become LF before the parser sees them: it looks for CR again at each line of a chunk that has one. */
  function withLineFeeds(text: string): string {
    const rest = afterCr && text.startsWith("\n") ? text.slice(1) : text;
    // A CR ends its line at once; an LF that follows in the next chunk belongs to it.
    afterCr = text.endsWith("\r");
    return rest.includes("\r") ? rest.replace(/\r\n?/g, "\n") : rest;
  }

  return {
    feed(chunk) {
      let text = toByteText(chunk);
      if (failure || text === "") return { events: [], ...(failure ? { failure } : {}) };
      if (head !== undefined) {
        // The parser drops a byte order mark only when it comes whole in the first text that it sees.
        head += text;
        if (head.length < byteOrderMark.length && byteOrderMark.startsWith(head)) return { events: [] };
        text = head;
        head = undefined;
      }
      events = [];
      parser.feed(withLineFeeds(text));
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

function eventOf(data: string, event: string | undefined, id: string | undefined): SseEvent {
  const text = decodeByteText(data);
  return {
    ...(event === undefined ? {} : { name: decodeByteText(event) ?? event }),
    ...(id === undefined ? {} : { id: decodeByteText(id) ?? id }),
    ...(text === undefined ? {} : { data: text }),
  };
}

function withLine({ count, first }: IgnoredLines, { line = "" }: ParseError): IgnoredLines {
  const beginning = line.slice(0, 200);
  return { count: count + 1, first: first ?? decodeByteText(beginning) ?? beginning };
}
