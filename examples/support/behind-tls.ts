import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import type { ScriptedAgent } from "a2a-lease/testing";
import certificate from "./certificate.json" with { type: "json" };

/** A certificate for this machine, made for the examples alone: the server's, the client's, and the authority of both. */
export const { cert, key } = certificate;

/** A server on loopback that takes no connection without the client's certificate. */
export interface TlsFront extends AsyncDisposable {
  /** Where it lives, `"https://127.0.0.1:40123"`. */
  readonly url: string;
  /** How many requests came with the certificate. */
  readonly requestCount: number;
}

/** Puts an agent behind mutual TLS. `makeAgent` hears where it will live. */
export async function startBehindTls(makeAgent: (url: string) => ScriptedAgent): Promise<TlsFront> {
  let requestCount = 0;
  let agent: ScriptedAgent | undefined;
  const options = { cert, key, ca: cert, requestCert: true, rejectUnauthorized: true };
  const server = createServer(options, async (request, response) => {
    if ((request.socket as TLSSocket).authorized) requestCount += 1;
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const answer = await agent?.fetch(`${url}${request.url}`, {
      method: request.method ?? "GET",
      headers: new Headers(
        Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]),
      ),
      ...(parts.length === 0 ? {} : { body: Buffer.concat(parts).toString() }),
    });
    response.writeHead(answer?.status ?? 500, Object.fromEntries(answer?.headers ?? []));
    response.end(await answer?.text());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  agent = makeAgent(url);
  return {
    url,
    get requestCount() {
      return requestCount;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
