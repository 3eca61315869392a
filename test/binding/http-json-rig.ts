import type { BindingCall, BindingOptions } from "../../src/binding/binding.ts";
import { createHttpJsonBinding } from "../../src/binding/http-json.ts";
import { createHttp, type FetchLike } from "../../src/wire/http.ts";
import { defaultLimits, type Limits } from "../../src/wire/limits.ts";
import { createFakeClock, type FakeClock } from "../wire/fake-clock.ts";

/** A request of HTTP+JSON as an agent in the tests' own process saw it. */
export interface SeenRestCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Its JSON; absent where it had no body. */
  readonly body?: unknown;
}

/** An HTTP+JSON binding over an agent in the tests' own process. */
export interface RestRig {
  readonly binding: ReturnType<typeof createHttpJsonBinding>;
  readonly clock: FakeClock;
  readonly seen: SeenRestCall[];
  /** A call to the agent, with what a test wants different. */
  call(more?: Partial<BindingCall>): BindingCall;
}

/** An interface of HTTP+JSON. */
export const restInterface = {
  url: "https://agent.example/rest",
  protocolBinding: "HTTP+JSON",
  protocolVersion: "1.0",
};

/** Makes a binding whose every request is answered by `answer`. */
export function createRestRig(
  answer: (seen: SeenRestCall) => Response | Promise<Response>,
  limits: Partial<Limits> = {},
): RestRig {
  const clock = createFakeClock();
  const seen: SeenRestCall[] = [];
  const fetch: FetchLike = async (url, init) => {
    const headers = Object.fromEntries(new Headers(init.headers));
    const body = init.body === undefined ? {} : { body: JSON.parse(String(init.body)) };
    const call = { method: String(init.method), url, headers, ...body };
    seen.push(call);
    return answer(call);
  };
  const options: BindingOptions = {
    http: createHttp({ fetch, clock }),
    clock,
    limits: { ...defaultLimits, ...limits },
  };
  return {
    binding: createHttpJsonBinding(options),
    clock,
    seen,
    call: (more = {}) => ({
      interface: restInterface,
      headers: {},
      signal: new AbortController().signal,
      timeouts: { firstByteMs: 1000, idleMs: 1000, firstEventMs: 500 },
      ...more,
    }),
  };
}

/** A `google.rpc.Status` as HTTP+JSON writes it (11.6). */
export const status = (code: number, name: string, reason?: string, message = "no") => ({
  error: {
    code,
    status: name,
    message,
    details: reason === undefined ? [] : [errorInfo(reason)],
  },
});

/** The detail that names an error of A2A. */
export const errorInfo = (reason: string) => ({
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason,
  domain: "a2a-protocol.org",
});
