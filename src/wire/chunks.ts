import { createScope } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import { isPlatformTimeout, toConnectionError } from "./failure.ts";
import type { HttpResponse } from "./http.ts";
import { createIdleTimer } from "./idle-timer.ts";

/** How the bytes of a body are read. */
export interface ChunkOptions {
  /** Time. */
  readonly clock: Clock;
  /** Aborts the reading; its reason is rethrown unchanged. */
  readonly signal: AbortSignal;
  /** Longest silence in milliseconds while somebody waits for bytes. */
  readonly idleMs: number;
  /** Makes the error of a silence. */
  readonly idleError: (silentMs: number) => unknown;
  /**
   * Answers a silence: when it resolves the reading waits on, when it rejects the reading fails with that. `periods` is
   * how many there were in a row. @default the silence ends the reading
   */
  readonly onIdle?: ((periods: number) => Promise<void>) | undefined;
}

/** The bytes of a body, pulled chunk by chunk. It owns the body: the connection is let go at the end, on failure and by `close`. */
export interface Chunks {
  /**
   * The next bytes, or `undefined` at the end and after `close`.
   *
   * @throws ConnectionError when the connection breaks, the error of a silence or a deadline, the signal's reason.
   */
  next(): Promise<Uint8Array | undefined>;
  /** Makes the reading fail; does nothing once it is over. */
  fail(reason: unknown): void;
  /** Cancels the body and lets go of every timer. */
  close(): void;
}

/** Takes over the body of an answer. */
export function openChunks(response: HttpResponse, options: ChunkOptions): Chunks {
  const { clock } = options;
  const scope = createScope(clock, [options.signal]);
  const { signal } = scope;
  const idle = createIdleTimer(clock, options.idleMs, onIdle);
  const { reader, failure } = takeReader(response);
  let isOpen = reader !== undefined;
  let isWaiting = false;
  let silentPeriods = 0;

  function onIdle() {
    if (!options.onIdle) return scope.abort(options.idleError(options.idleMs));
    silentPeriods += 1;
    const waitOn = () => {
      if (isOpen && isWaiting) idle.start();
    };
    options.onIdle(silentPeriods).then(waitOn, fail);
  }

  function fail(reason: unknown) {
    if (isOpen) scope.abort(reason);
  }

  function close() {
    if (!isOpen) return;
    isOpen = false;
    idle.release();
    scope.release();
    // Cancelling also ends a read that still waits; what it throws says nothing that the reader does not learn anyway.
    reader?.cancel(signal.reason).catch(() => {});
  }

  if (!reader) scope.release();
  else if (signal.aborted) close();
  else signal.addEventListener("abort", close);

  async function next(): Promise<Uint8Array | undefined> {
    signal.throwIfAborted();
    if (failure !== undefined) throw toConnectionError(response.url, failure, "body");
    if (!reader || !isOpen) return undefined;
    const waitsSinceMs = clock.monotonicMs();
    isWaiting = true;
    idle.start();
    try {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      silentPeriods = 0;
      if (done) close();
      return isOpen ? bytesOf(value) : undefined;
    } catch (error) {
      close();
      if (signal.aborted) throw signal.reason;
      if (isPlatformTimeout(error)) throw options.idleError(Math.round(clock.monotonicMs() - waitsSinceMs));
      throw toConnectionError(response.url, error, "body");
    } finally {
      isWaiting = false;
      idle.stop();
    }
  }

  return { next, fail, close };
}

/** A body that was handed in may give anything. */
function bytesOf(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  if (ArrayBuffer.isView(chunk)) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  throw new TypeError("the body gave a chunk that is no bytes");
}

/** A body that somebody read already, as a wrapper around fetch may, is one that can't be read. */
function takeReader({ body }: HttpResponse): {
  reader?: ReadableStreamDefaultReader<Uint8Array>;
  failure?: unknown;
} {
  try {
    return body ? { reader: body.getReader() } : {};
  } catch (failure) {
    return { failure };
  }
}
