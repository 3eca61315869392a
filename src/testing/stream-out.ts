import { sleep } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import { errorInfo, type StreamEnd, type StreamOptions } from "./answers.ts";
import type { Dialect } from "./dialect.ts";
import type { EventSink } from "./event-sink.ts";
import { isFrame, type StreamItem } from "./frames.ts";
import type { TaskFeed } from "./task-feed.ts";

/** Where a stream is written, and how. */
export interface StreamTarget {
  /** The body. */
  readonly sink: EventSink;
  /** Aborted when the body ended or its reader left. */
  readonly ended: AbortSignal;
  /** The wire form. */
  readonly dialect: Dialect;
  /** Id of the request. */
  readonly id: unknown;
  /** Time. */
  readonly clock: Clock;
}

const encoder = new TextEncoder();

function sse(data: string): Uint8Array {
  return encoder.encode(`data: ${data}\n\n`);
}

/** Writes the events of a task as they come, and ends with it, or after `endAfterEvents`. */
export function streamFeed(
  feed: TaskFeed,
  { sink, ended, dialect, id }: StreamTarget,
  limit: { readonly endAfterEvents?: number; readonly end: StreamEnd },
): void {
  let left = limit.endAfterEvents ?? Number.POSITIVE_INFINITY;
  ended.addEventListener("abort", () => feed.stop(), { once: true });
  feed.attach(
    (event) => {
      if (left <= 0) return;
      sink.write(sse(dialect.result(id, event)));
      left -= 1;
      if (left === 0 && limit.end !== "silence") sink.end(limit.end);
    },
    () => {
      if (left > 0) sink.end("close");
    },
  );
}

/** Writes scripted pieces, and ends as the options say. */
export async function streamItems(
  items: Iterable<StreamItem> | AsyncIterable<StreamItem>,
  options: StreamOptions,
  target: StreamTarget,
): Promise<void> {
  const { sink, clock, ended } = target;
  const { everyMs = 0, end = "close" } = options;
  const chunks = createChunker(options.chunkBytes, sink);
  try {
    for await (const item of items) {
      const pauseMs = isFrame(item) && item.frame === "delay" ? item.delayMs : everyMs;
      if (pauseMs > 0) {
        chunks.flush();
        await sleep(clock, pauseMs, ended);
      }
      await sink.ready();
      if (!sink.isOpen) return;
      chunks.add(bytesOf(item, target));
    }
  } catch (error) {
    // The reader left in the middle of a pause; anything else is a mistake in the script and must be seen.
    if (ended.aborted) return;
    sink.end("cut");
    throw error;
  }
  chunks.flush();
  if (end !== "silence") sink.end(end);
}

function bytesOf(item: StreamItem, { dialect, id }: StreamTarget): Uint8Array {
  if (!isFrame(item)) return sse(dialect.result(id, item));
  switch (item.frame) {
    case "raw":
      return typeof item.content === "string" ? encoder.encode(item.content) : item.content;
    case "error": {
      const { code, message, data = errorInfo(code) } = item;
      return sse(dialect.error(id, { code, message, data: data ?? undefined }));
    }
    case "delay":
      return new Uint8Array();
  }
}

/** Cuts bytes into chunks of one size; without a size every piece is a chunk. */
function createChunker(chunkBytes: number | undefined, sink: EventSink) {
  let held = new Uint8Array();
  const pass = (atLeast: number) => {
    const size = Math.min(chunkBytes ?? held.length, held.length);
    while (held.length >= atLeast && held.length > 0) {
      sink.write(held.slice(0, size));
      held = held.slice(size);
    }
  };
  return {
    add(bytes: Uint8Array) {
      if (chunkBytes === undefined) return sink.write(bytes);
      const joined = new Uint8Array(held.length + bytes.length);
      joined.set(held);
      joined.set(bytes, held.length);
      held = joined;
      pass(chunkBytes);
    },
    flush: () => pass(1),
  };
}
