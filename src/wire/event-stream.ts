import { StreamStalledError } from "../errors/stream.ts";
import type { Clock } from "../util/clock.ts";
import { openChunks } from "./chunks.ts";
import type { HttpResponse } from "./http.ts";
import { createSseParser, type IgnoredLines, type SseEvent } from "./sse.ts";

/** How an event stream is read. */
export interface EventStreamOptions {
  /** Time. */
  readonly clock: Clock;
  /** Aborts the reading; its reason is rethrown unchanged. */
  readonly signal: AbortSignal;
  /** Milliseconds from the first pull to the first event. */
  readonly firstEventMs: number;
  /** Longest silence in milliseconds; any byte counts as life, a comment too. */
  readonly idleMs: number;
  /** Largest event in bytes. */
  readonly maxEventBytes: number;
}

/** An event stream that is being read. */
export interface EventStream {
  /**
   * The events as they came in, all that one chunk completed at a time; can be gone through once. Nothing is read ahead
   * of the consumer. Ends when the body ends; leaving the loop closes the connection.
   *
   * Throws `StreamStalledError` of the budget `"first-event"` or `"idle"`, `LimitExceededError` for an event that is too
   * large, `ConnectionError` when the connection breaks, or the reason of the caller's signal.
   */
  readonly batches: AsyncIterable<readonly SseEvent[]>;
  /** The server's last `retry:` in milliseconds, at most one hour. */
  readonly retryMs: number | undefined;
  /** Lines that belong to no event so far. */
  readonly ignored: IgnoredLines;
  /** Closes the connection; the events end. */
  close(): void;
}

/** Takes over the body of an answer and reads it as server-sent events. */
export function openEventStream(response: HttpResponse, options: EventStreamOptions): EventStream {
  const { clock, signal, idleMs, firstEventMs } = options;
  const idleError = (silentMs: number) => new StreamStalledError("idle", silentMs);
  const chunks = openChunks(response, { clock, signal, idleMs, idleError });
  const parser = createSseParser(options.maxEventBytes);

  async function* read() {
    const noEvent = () => new StreamStalledError("first-event", firstEventMs);
    const stopWaiting = chunks.deadline(firstEventMs, noEvent);
    try {
      for (let chunk = await chunks.next(); chunk; chunk = await chunks.next()) {
        const { events, failure } = parser.feed(chunk);
        if (events.length > 0) {
          stopWaiting();
          yield events;
        }
        if (failure) throw failure;
      }
    } finally {
      chunks.close();
    }
  }

  return {
    batches: read(),
    get retryMs() {
      return parser.retryMs;
    },
    get ignored() {
      return parser.ignored;
    },
    close: chunks.close,
  };
}
