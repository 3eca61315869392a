import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A request as a loopback server saw it. */
export interface SeenRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A server on loopback that lives as long as the test. */
export interface Loopback {
  /** Its base URL. */
  readonly url: string;
  /** Requests that it saw whole. */
  readonly seen: SeenRequest[];
  /** Resolves when a request came in; the next one each time. */
  arrived(): Promise<void>;
  /** Resolves when a client has closed a connection before its answer was complete. */
  readonly hungUp: Promise<void>;
}

/** Starts a server that answers every request in the same way. */
export async function serve(
  answer: (response: ServerResponse, request: SeenRequest) => void,
): Promise<Loopback> {
  const seen: SeenRequest[] = [];
  const waiting: (() => void)[] = [];
  let hangUp = () => {};
  const hungUp = new Promise<void>((resolve) => {
    hangUp = resolve;
  });
  const server = createServer((request, response) => {
    response.on("close", () => {
      if (!response.writableFinished) hangUp();
    });
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const { method, url, headers } = request;
      const whole = { method, url, headers, body: Buffer.concat(chunks).toString() };
      seen.push(whole);
      answer(response, whole);
      waiting.shift()?.();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    arrived: () => new Promise((resolve) => waiting.push(resolve)),
    hungUp,
  };
}

/** A port on loopback where nothing listens. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
