import type { AgentFetch, ScriptedAgent } from "../../src/testing.ts";

export interface CallOptions {
  readonly url?: string;
  readonly fetch?: AgentFetch | typeof fetch;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
  readonly id?: string | number;
}

/** Sends one JSON-RPC call by hand and gives back the response with its body unread. */
export function post(
  agent: ScriptedAgent,
  method: string,
  params: unknown,
  options: CallOptions = {},
): Promise<Response> {
  const { url = `${agent.url}/rpc`, fetch = agent.fetch, headers, signal, id = 1 } = options;
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
    ...(signal ? { signal } : {}),
  });
}

/** Sends one call and gives back the parsed body. */
export async function rpc(agent: ScriptedAgent, method: string, params: unknown, options?: CallOptions) {
  return (await post(agent, method, params, options)).json();
}

/** Parameters of a send of one text. */
export function text(said: string, message: object = {}, configuration?: object) {
  return {
    message: { messageId: "m1", role: "ROLE_USER", parts: [{ text: said }], ...message },
    ...(configuration ? { configuration } : {}),
  };
}

/** Results in a whole event stream. */
export async function results(response: Response): Promise<unknown[]> {
  return frames(await response.text()).map((data) => JSON.parse(data).result);
}

/** The data of each frame in a text of events. */
export function frames(body: string): string[] {
  return body.split("\n\n").flatMap((part) => (part.startsWith("data: ") ? [part.slice(6)] : []));
}

/** What an event is about, in one word. */
export function gist(event: unknown): string {
  const { task, statusUpdate, artifactUpdate } = event as Record<string, Record<string, unknown>>;
  const status = (task ?? statusUpdate)?.status as { state: string } | undefined;
  if (status) return `${task ? "task" : "status"} ${status.state.replace("TASK_STATE_", "")}`;
  return artifactUpdate ? "artifact" : "message";
}

/** Reads an open stream piece by piece. */
export function reader(response: Response) {
  if (!response.body) throw new TypeError("a response without a body");
  const source = response.body.pipeThrough(new TextDecoderStream()).getReader();
  return {
    async next(): Promise<string> {
      const { value } = await source.read();
      return frames(value ?? "")
        .map((data) => gist(JSON.parse(data).result))
        .join(", ");
    },
    cancel: () => source.cancel(),
  };
}
