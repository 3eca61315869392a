import { type ClientOptions, createClient } from "a2a-lease";
import { createTestCard, createTestClock } from "a2a-lease/testing";

/** A call that reached the agent, or the host that is down. */
export interface SeenCall {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** An interface of a card. */
export function at(url: string, protocolBinding: string, more: object = {}) {
  return { url, protocolBinding, protocolVersion: "1.0", ...more };
}

/** The agent's two interfaces, JSON-RPC first. */
export const both = [
  at("https://agent.example/rpc", "JSONRPC"),
  at("https://agent.example/rest", "HTTP+JSON"),
] as const;

const task = {
  id: "t1",
  contextId: "c1",
  status: { state: "TASK_STATE_WORKING", timestamp: "2026-01-01T00:00:00.000Z" },
};

/**
 * A `fetch` behind which is an agent with one task, that speaks JSON-RPC and HTTP+JSON at every host: but for hosts that
 * begin with `down`, which refuse connections, and with `lost`, which break them after the request.
 */
export function createTwoBindings(
  supportedInterfaces: readonly ReturnType<typeof at>[] = both,
  more: Parameters<typeof createTestCard>[0] = {},
) {
  const clock = createTestClock();
  const seen: SeenCall[] = [];
  let card = createTestCard({ supportedInterfaces, ...more });
  const fetch: NonNullable<ClientOptions["fetch"]> = async (url, init) => {
    const { hostname, pathname } = new URL(url);
    if (pathname.endsWith("agent-card.json")) return Response.json(card);
    const body = typeof init.body === "string" ? JSON.parse(init.body) : undefined;
    const headers = Object.fromEntries(new Headers(init.headers));
    seen.push({ url, method: String(init.method), headers, body });
    if (hostname.startsWith("down")) throw failure("ECONNREFUSED");
    if (hostname.startsWith("lost")) throw failure("ECONNRESET");
    const isRpc = body !== undefined && "jsonrpc" in body;
    const isSend = isRpc ? body.method === "SendMessage" : pathname.endsWith("message:send");
    const answer = isSend ? { task } : task;
    return Response.json(isRpc ? { jsonrpc: "2.0", id: body.id, result: answer } : answer);
  };
  return {
    seen,
    clock,
    fetch,
    /** URLs of the calls. */
    urls: () => seen.map(({ url }) => url),
    rotateCard(change: Parameters<typeof createTestCard>[0]) {
      card = { ...card, ...change };
    },
    connect: (options: ClientOptions = {}) =>
      createClient("https://agent.example", { fetch, clock, ...options }),
  };
}

function failure(code: string): TypeError {
  return new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code }) });
}
