import type { StreamResponse } from "../model/events.ts";

/** A stream that has the one connection of a handle. */
export interface HeldStream {
  /** Its events, for one reader. */
  [Symbol.asyncIterator](): AsyncIterator<StreamResponse>;
  /** How long the server last asked to wait before a new connection, in milliseconds. */
  readonly retryMs: number | undefined;
  /** Ends it in favour of a newer one. */
  replace(): void;
  /** Closes the connection. */
  close(): void;
}

/** One stream that several follow. The one who is ahead reads it; it is closed when nobody follows it any more. */
export interface SharedStream {
  /** The stream, once its head was accepted. */
  readonly stream: HeldStream | undefined;
  /** Whether it gave an event already. */
  readonly hasBegun: boolean;
  /** Whether somebody else's signal can end it. */
  readonly isBorrowed: boolean;
  /**
   * Waits until the followers were told something, and reads on for that; `false` at the end.
   *
   * Rejects with what opening or reading the stream throws, for each who follows.
   */
  pull(): Promise<boolean>;
  /** Ends the waits: something was told that did not come by the stream. */
  wake(): void;
  /** Somebody follows. The returned function says that they no longer do. */
  enter(): () => void;
}

/** How a shared stream is come by. */
export interface SharedSource {
  /** Opens it. */
  readonly open: (signal: AbortSignal) => Promise<HeldStream>;
  /** Events of it, where its reading has begun already. */
  readonly begun?: AsyncIterator<StreamResponse>;
  /** Told when there is nothing more to come. */
  readonly onOver: () => void;
}

/** Makes a {@link SharedStream}. It is opened when somebody pulls. */
export function createSharedStream({ open, begun, onOver }: SharedSource): SharedStream {
  const controller = new AbortController();
  let stream: HeldStream | undefined;
  let iterator = begun;
  let userCount = 0;
  let hasBegun = begun !== undefined;
  let isReading = false;
  let isOver = false;
  let turn = createTurn();

  async function readOne(): Promise<void> {
    try {
      stream ??= await open(controller.signal);
      if (controller.signal.aborted) stream.close();
      iterator ??= stream[Symbol.asyncIterator]();
      const { done } = await iterator.next();
      if (done) return finish(() => turn.resolve(false));
      hasBegun = true;
      isReading = false;
      wake();
    } catch (error) {
      finish(() => turn.reject(error));
    }
  }

  /** The last turn stays as it is: it is what everybody learns, however late. */
  function finish(settle: () => void): void {
    isOver = true;
    onOver();
    settle();
  }

  function wake(): void {
    if (isOver) return;
    const { resolve } = turn;
    turn = createTurn();
    resolve(true);
  }

  return {
    get stream() {
      return stream;
    },
    get hasBegun() {
      return hasBegun;
    },
    isBorrowed: begun !== undefined,
    pull() {
      if (!isReading && !isOver) {
        isReading = true;
        void readOne();
      }
      return turn.promise;
    },
    wake,
    enter() {
      userCount += 1;
      let isIn = true;
      return () => {
        if (!isIn) return;
        isIn = false;
        userCount -= 1;
        if (userCount > 0) return;
        onOver();
        controller.abort(new DOMException("nobody follows the stream any more", "AbortError"));
        stream?.close();
      };
    },
  };
}

/** One wait that all followers share. */
function createTurn() {
  let resolve: (hasMore: boolean) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<boolean>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  // Whoever left does not hear of a failure.
  promise.catch(() => {});
  return { promise, resolve, reject };
}
