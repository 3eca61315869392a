import { StreamStalledError } from "../errors/stream.ts";
import type { Clock } from "../util/clock.ts";
import { openChunks } from "./chunks.ts";
import type { HttpResponse } from "./http.ts";
import { createSseParser, type IgnoredLines, type SseEvent } from "./sse.ts";

/** A stream that is silent for longer than it may be. */
export interface Silence {
  /** The budget that ran out. */
  readonly budget: "first-event" | "idle";
  /** How many times in a row it did. */
  readonly periods: number;
  /** How long that was in all, in milliseconds. */
  readonly silentMs: number;
}

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
  /**
   * Answers a silence: when it resolves the stream is read on, when it rejects the reading fails with that. @default
   * the first silence ends the stream
   */
  readonly onSilence?: ((silence: Silence) => Promise<void>) | undefined;
}

/** An event stream that is being read. */
export interface EventStream {
  /**
   * The events as they came in, all that one chunk completed at a time; can be gone through once. Nothing is read ahead
   * of the consumer. Ends when the body ends; leaving the loop closes the connection.
   *
   * Throws `StreamStalledError` of the budget `"first-event"` or `"idle"`, or what a silence was answered with, `LimitExceededError` for an event that is too
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
  const { clock, signal, idleMs, firstEventMs, onSilence } = options;
  const idleError = (silentMs: number) => new StreamStalledError("idle", silentMs);
  const onIdle =
    onSilence && ((periods: number) => onSilence({ budget: "idle", periods, silentMs: periods * idleMs }));
  const chunks = openChunks(response, { clock, signal, idleMs, idleError, onIdle });
  const parser = createSseParser(options.maxEventBytes);

  /** Waits for the first event; the returned function says that it came. */
  function awaitFirst(): () => void {
    let periods = 0;
    let cancel = () => {};
    let isOver = !Number.isFinite(firstEventMs);
    const arm = () => {
      if (!isOver) cancel = clock.schedule(firstEventMs, onExpiry);
    };
    const onExpiry = () => {
      if (!onSilence) return chunks.fail(new StreamStalledError("first-event", firstEventMs));
      periods += 1;
      onSilence({ budget: "first-event", periods, silentMs: periods * firstEventMs }).then(arm, chunks.fail);
    };
    arm();
    return () => {
      isOver = true;
      cancel();
    };
  }

  async function* read() {
    const stopWaiting = awaitFirst();
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
      stopWaiting();
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
