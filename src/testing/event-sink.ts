import { SimulatedSocketError } from "./exchange.ts";

/** The agent's end of a streamed body. */
export interface EventSink {
  /** The reader's end. */
  readonly stream: ReadableStream<Uint8Array>;
  /** Whether the reader is still there and the body has not ended. */
  readonly isOpen: boolean;
  /** Hands bytes on. Does nothing once the body has ended. */
  write(bytes: Uint8Array): void;
  /** Resolves when the reader has caught up, or is gone. */
  ready(): Promise<void>;
  /** Ends the body, after the bytes before it were read. */
  end(how: "close" | "cut"): void;
}

/** Chunks that may wait for the reader before `ready` makes the writer wait. */
const highWater = 16;

/** Makes a streamed body. `onEnd` is called once, when it ends or its reader goes away. */
export function createEventSink(signal: AbortSignal, onEnd: () => void): EventSink {
  const waiting: Uint8Array[] = [];
  let ending: "close" | "cut" | undefined;
  let isOpen = true;
  let wakeReader = () => {};
  let wakeWriter = () => {};

  const finish = () => {
    if (!isOpen) return;
    isOpen = false;
    signal.removeEventListener("abort", abort);
    wakeReader();
    wakeWriter();
    onEnd();
  };
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const abort = () => {
    waiting.length = 0;
    controller?.error(signal.reason);
    finish();
  };

  const stream = new ReadableStream<Uint8Array>(
    {
      start(started) {
        controller = started;
      },
      // The queue is ours: `controller.error` would throw away what the platform's own queue still holds, and a cut
      // must come after the bytes that were sent before it.
      async pull(wanting) {
        while (waiting.length === 0 && !ending && isOpen) {
          await new Promise<void>((resolve) => {
            wakeReader = resolve;
          });
        }
        const chunk = waiting.shift();
        if (chunk) {
          wanting.enqueue(chunk);
          wakeWriter();
        } else if (ending === "close") {
          wanting.close();
        } else if (ending === "cut") {
          wanting.error(new TypeError("terminated", { cause: new SimulatedSocketError("UND_ERR_SOCKET") }));
        }
      },
      cancel() {
        waiting.length = 0;
        finish();
      },
    },
    { highWaterMark: 0 },
  );

  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });

  return {
    stream,
    get isOpen() {
      return isOpen;
    },
    write(bytes) {
      if (!isOpen || bytes.length === 0) return;
      waiting.push(bytes);
      wakeReader();
    },
    async ready() {
      while (isOpen && waiting.length >= highWater) {
        await new Promise<void>((resolve) => {
          wakeWriter = resolve;
        });
      }
    },
    end(how) {
      if (!isOpen) return;
      ending = how;
      finish();
    },
  };
}
