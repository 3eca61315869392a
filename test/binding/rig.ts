import type { BindingCall, BindingOptions } from "../../src/binding/binding.ts";
import { createJsonRpcBinding } from "../../src/binding/jsonrpc.ts";
import { createHttp, type FetchLike } from "../../src/wire/http.ts";
import { defaultLimits, type Limits } from "../../src/wire/limits.ts";
import { createFakeClock, type FakeClock } from "../wire/fake-clock.ts";

/** A request as an agent in the tests' own process saw it. */
export interface SeenCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly id: number; readonly method: string; readonly params: unknown };
}

/** A JSON-RPC binding over an agent in the tests' own process. */
export interface Rig {
  readonly binding: ReturnType<typeof createJsonRpcBinding>;
  readonly clock: FakeClock;
  readonly seen: SeenCall[];
  /** A call to the agent, with what a test wants different. */
  call(more?: Partial<BindingCall>): BindingCall;
}

/** Makes a binding whose every request is answered by `answer`. */
export function createRig(
  answer: (seen: SeenCall) => Response | Promise<Response>,
  limits: Partial<Limits> = {},
): Rig {
  const clock = createFakeClock();
  const seen: SeenCall[] = [];
  const fetch: FetchLike = async (url, init) => {
    const headers = Object.fromEntries(new Headers(init.headers));
    const call = { url, headers, body: JSON.parse(String(init.body)) };
    seen.push(call);
    return answer(call);
  };
  const options: BindingOptions = {
    http: createHttp({ fetch, clock }),
    clock,
    limits: { ...defaultLimits, ...limits },
  };
  return {
    binding: createJsonRpcBinding(options),
    clock,
    seen,
    call: (more = {}) => ({
      interface: { url: "https://agent.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      headers: {},
      signal: new AbortController().signal,
      timeouts: { firstByteMs: 1000, idleMs: 1000, firstEventMs: 500 },
      ...more,
    }),
  };
}

/** A JSON answer. */
export const json = (value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}) =>
  new Response(typeof value === "string" ? value : JSON.stringify(value), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });

/** The JSON-RPC response that carries a result. */
export const result = (id: unknown, value: unknown) => ({ jsonrpc: "2.0", id, result: value });

/** The JSON-RPC response that carries an error. */
export const failure = (id: unknown, error: unknown) => ({ jsonrpc: "2.0", id, error });

/** An event stream of these values, one event each; a text is a frame as it stands. */
export const events = (...frames: readonly unknown[]) =>
  new Response(
    frames
      .map((frame) => (typeof frame === "string" ? frame : `data: ${JSON.stringify(frame)}\n\n`))
      .join(""),
    { headers: { "content-type": "text/event-stream" } },
  );

/** The smallest task in a state. */
export const task = (state: string, more: object = {}) => ({
  id: "t1",
  contextId: "c1",
  status: { state },
  ...more,
});

/** A status update to a state. */
export const statusUpdate = (state: string) => ({
  statusUpdate: { taskId: "t1", contextId: "c1", status: { state } },
});
