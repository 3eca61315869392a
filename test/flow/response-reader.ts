/** Hears what a response reader finds. */
export interface ResponseEvents {
  /** Bytes that are to be passed on as they are: heads, and bodies that are no event stream. */
  readonly raw: (bytes: Buffer) => void;
  /** The head of an event stream was passed on. */
  readonly open: () => void;
  /** Bytes of an event stream, without their chunk sizes. */
  readonly body: (bytes: Buffer) => void;
  /** The event stream ended as it should. */
  readonly close: () => void;
}

type Place = "head" | "size" | "data" | "data-end" | "trailer" | "plain";

const headEnd = "\r\n\r\n";

/** Takes the bytes that one HTTP/1.1 connection brings and tells event streams, chunked, from everything else. */
export function createResponseReader(events: ResponseEvents): { read(bytes: Buffer): void } {
  let waiting: Buffer = Buffer.alloc(0);
  let place: Place = "head";
  let left = 0;
  let isStream = false;

  /** Takes bytes up to and with a mark; nothing when it is not there yet. */
  function takeUntil(mark: string): Buffer | undefined {
    const at = waiting.indexOf(mark);
    return at < 0 ? undefined : take(at + mark.length);
  }

  function take(size: number): Buffer {
    const taken = waiting.subarray(0, size);
    waiting = waiting.subarray(size);
    return taken;
  }

  function readHead(): boolean {
    const head = takeUntil(headEnd);
    if (!head) return false;
    events.raw(head);
    const text = head.toString("latin1").toLowerCase();
    isStream = text.includes("content-type: text/event-stream");
    const length = Number(/content-length: (\d+)/.exec(text)?.[1] ?? 0);
    const isChunked = text.includes("transfer-encoding: chunked");
    place = isChunked ? "size" : length > 0 ? "plain" : "head";
    left = length;
    if (isStream) events.open();
    return true;
  }

  function readSize(): boolean {
    const line = takeUntil("\r\n");
    if (!line) return false;
    if (!isStream) events.raw(line);
    left = Number.parseInt(line.toString("latin1"), 16);
    place = left === 0 ? "trailer" : "data";
    return true;
  }

  function readData(): boolean {
    if (waiting.length === 0) return false;
    const bytes = take(left);
    left -= bytes.length;
    if (isStream) events.body(bytes);
    else events.raw(bytes);
    if (left === 0) place = place === "plain" ? "head" : "data-end";
    return true;
  }

  function readLineEnd(): boolean {
    const line = takeUntil("\r\n");
    if (!line) return false;
    if (!isStream) events.raw(line);
    if (place === "trailer" && isStream) events.close();
    place = place === "trailer" ? "head" : "size";
    return true;
  }

  const step: Readonly<Record<Place, () => boolean>> = {
    head: readHead,
    size: readSize,
    data: readData,
    plain: readData,
    "data-end": readLineEnd,
    trailer: readLineEnd,
  };

  return {
    read(bytes) {
      waiting = waiting.length === 0 ? bytes : Buffer.concat([waiting, bytes]);
      let hasMoved = true;
      while (hasMoved) hasMoved = step[place]();
    },
  };
}
