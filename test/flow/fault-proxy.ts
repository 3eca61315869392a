import { connect, createServer, type Server, type Socket } from "node:net";
import { sleep } from "../../src/util/abort.ts";
import type { Clock } from "../../src/util/clock.ts";
import { createResponseReader } from "./response-reader.ts";

/** What happens to one event stream on its way. Offsets count the bytes of the body, after the changes to its lines. */
export interface Fault {
  /** After how many bytes the stream is cut. @default never */
  readonly cutAfterBytes?: number;
  /** How: a clean end of the body, a connection that closes in the middle of it, or a reset. @default "end" */
  readonly how?: "end" | "close" | "reset";
  /** What each line feed becomes. */
  readonly lineEnd?: "\n" | "\r\n" | "\r";
  /** Size of the pieces that the body is written in, in bytes. @default as they come */
  readonly chunkBytes?: number;
  /** After how many bytes nothing comes for `stallMs` on the clock, and once more after as many. */
  readonly stallEveryBytes?: number;
  /** How long a stall lasts, in milliseconds. @default 1000 */
  readonly stallMs?: number;
  /** Writes a comment this often on the clock, in milliseconds, where the agent has nothing to say. */
  readonly heartbeatMs?: number;
}

/** A TCP proxy in front of one agent, which spoils event streams and nothing else. */
export interface FaultProxy {
  /** Its URL, `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** Connections of clients that are open. */
  readonly socketCount: number;
  /** Bytes of event streams that were passed on so far. */
  readonly passedBytes: number;
  /** How many streams were cut so far. */
  readonly cutCount: number;
  /** A `fetch` that goes through the proxy wherever the agent itself was meant. */
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  /** Stops listening and destroys every connection. */
  close(): Promise<void>;
}

/** How a proxy is made. */
export interface FaultProxyOptions {
  /** The agent's URL, `http://127.0.0.1:<port>`. */
  readonly target: string;
  /** Time, for stalls and heartbeats. */
  readonly clock: Clock;
  /** Decides what happens to the stream that answers a request; it is given the request as text. */
  readonly fault: (request: string) => Fault | undefined;
}

/** Starts a proxy on a free loopback port. */
export async function startFaultProxy({ target, clock, fault }: FaultProxyOptions): Promise<FaultProxy> {
  const port = Number(new URL(target).port);
  const sockets = new Set<Socket>();
  const counts = { passedBytes: 0, cutCount: 0 };

  const server = createServer({ noDelay: true }, (client) => {
    const agent = connect({ port, host: "127.0.0.1", noDelay: true });
    let request = "";
    let isAnswered = false;
    let lane: Lane | undefined;
    const reader = createResponseReader({
      raw: (bytes) => client.write(bytes),
      open() {
        const cut = () => {
          counts.cutCount += 1;
          agent.destroy();
        };
        const passed = (bytes: number) => {
          counts.passedBytes += bytes;
        };
        lane = createLane(client, { clock, fault: fault(request) ?? {}, cut, passed });
      },
      body: (bytes) => lane?.add(bytes),
      close: () => lane?.finish(),
    });
    sockets.add(client);
    client.on("data", (bytes) => {
      request = (isAnswered ? "" : request) + bytes.toString("latin1");
      isAnswered = false;
      agent.write(bytes);
    });
    agent.on("data", (bytes) => {
      isAnswered = true;
      reader.read(bytes);
    });
    client.on("error", () => {});
    agent.on("error", () => {});
    client.on("close", () => {
      sockets.delete(client);
      lane?.stop();
      agent.destroy();
    });
    agent.on("close", () => {
      if (!lane?.isCut) client.destroy();
    });
  });
  await listen(server);
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;

  return {
    url,
    get socketCount() {
      return sockets.size;
    },
    get passedBytes() {
      return counts.passedBytes;
    },
    get cutCount() {
      return counts.cutCount;
    },
    fetch: (input, init) => fetch(input.replace(target, url), init),
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      return closed;
    },
  };
}

/** One event stream on its way to the client. */
interface Lane {
  readonly isCut: boolean;
  add(bytes: Buffer): void;
  finish(): void;
  stop(): void;
}

interface LaneParts {
  readonly clock: Clock;
  readonly fault: Fault;
  readonly cut: () => void;
  readonly passed: (bytes: number) => void;
}

function createLane(client: Socket, { clock, fault, cut, passed }: LaneParts): Lane {
  const { cutAfterBytes = Number.POSITIVE_INFINITY, how = "end", lineEnd = "\n" } = fault;
  const { chunkBytes = Number.POSITIVE_INFINITY, heartbeatMs, stallMs = 1_000 } = fault;
  const { stallEveryBytes = Number.POSITIVE_INFINITY } = fault;
  const queue: Buffer[] = [];
  let isFinished = false;
  let isBusy = false;
  let isCut = false;
  let isStopped = false;
  let sentBytes = 0;
  let cancelBeat = () => {};

  function write(bytes: Buffer): void {
    if (bytes.length === 0 || client.destroyed) return;
    client.write(
      Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]),
    );
    passed(bytes.length);
  }

  function end(): void {
    isCut = true;
    stop();
    if (how === "end") client.end("0\r\n\r\n");
    else if (how === "close") client.end();
    else client.resetAndDestroy();
    cut();
  }

  async function pump(): Promise<void> {
    if (isBusy) return;
    isBusy = true;
    for (let bytes = queue.shift(); bytes && !isStopped; bytes = queue.shift()) {
      const size = Math.min(
        ...[bytes.length, chunkBytes, cutAfterBytes - sentBytes],
        stallEveryBytes - (sentBytes % stallEveryBytes),
      );
      write(bytes.subarray(0, size));
      sentBytes += size;
      if (size < bytes.length) queue.unshift(bytes.subarray(size));
      if (sentBytes >= cutAfterBytes) return end();
      if (sentBytes % stallEveryBytes === 0) await sleep(clock, stallMs);
      // Pieces that are written in one turn would reach the client as one.
      else if (size === chunkBytes) await new Promise<void>((resolve) => setImmediate(resolve));
    }
    isBusy = false;
    if (isFinished && !isStopped) {
      stop();
      client.write("0\r\n\r\n");
    }
  }

  function beat(): void {
    if (queue.length === 0 && !isBusy) write(Buffer.from(`: still here${lineEnd}`));
    schedule();
  }
  function schedule(): void {
    if (heartbeatMs !== undefined && !isStopped) cancelBeat = clock.schedule(heartbeatMs, beat);
  }
  function stop(): void {
    isStopped = true;
    cancelBeat();
  }

  schedule();
  if (cutAfterBytes === 0) end();
  return {
    get isCut() {
      return isCut;
    },
    add(bytes) {
      if (isStopped) return;
      const text =
        lineEnd === "\n" ? bytes : Buffer.from(bytes.toString("latin1").replaceAll("\n", lineEnd), "latin1");
      queue.push(text);
      void pump();
    },
    finish() {
      isFinished = true;
      void pump();
    },
    stop,
  };
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
}
