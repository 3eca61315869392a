import type { HttpResponse } from "../../src/wire/http.ts";

/** The head of an answer in the tests' own process, with a body of chunks. */
export function answerOf(
  chunks: readonly (Uint8Array | string)[] | ReadableStream<Uint8Array> | null,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  const body = Array.isArray(chunks) ? streamOf(chunks) : (chunks as ReadableStream<Uint8Array> | null);
  const mediaType = headers["content-type"] ?? "";
  return { url: "https://agent.example/rpc", status: 200, headers: new Headers(headers), mediaType, body };
}

/** A body that gives its chunks one by one, each when it is asked for. */
export function streamOf(chunks: readonly (Uint8Array | string)[]): ReadableStream<Uint8Array> {
  const left = [...chunks];
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = left.shift();
        if (chunk === undefined) controller.close();
        else controller.enqueue(typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk);
      },
    },
    { highWaterMark: 0 },
  );
}

/** A body that a test writes to while it is read. */
export interface Pipe {
  /** The body. */
  readonly body: ReadableStream<Uint8Array>;
  /** Gives bytes to the reader. */
  write(text: string): void;
  /** Ends the body. */
  end(): void;
  /** Breaks the body off. */
  fail(error: unknown): void;
  /** Why the reader cancelled the body; empty until it does. */
  readonly cancelled: unknown[];
}

/** Makes a {@link Pipe}. */
export function createPipe(): Pipe {
  const cancelled: unknown[] = [];
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
    },
    cancel(reason) {
      cancelled.push(reason);
    },
  });
  return {
    body,
    cancelled,
    write: (text) => controller?.enqueue(new TextEncoder().encode(text)),
    end: () => controller?.close(),
    fail: (error) => controller?.error(error),
  };
}

/** Lets everything run that can run without time passing. */
export const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** What a promise rejects with. */
export const thrownBy = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => ({ nothingThrown: value }),
    (error) => error,
  );

/** All items of an iterable, and what it threw in the end. */
export async function collect<T>(
  items: AsyncIterable<T>,
): Promise<{ readonly items: T[]; readonly error?: unknown }> {
  const found: T[] = [];
  try {
    for await (const item of items) found.push(item);
    return { items: found };
  } catch (error) {
    return { items: found, error };
  }
}
