import { frames } from "./rpc.ts";

export interface RestOptions {
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** Sends one HTTP+JSON call by hand and gives back the response with its body unread. */
export function ask(
  base: string,
  method: string,
  path: string,
  { body, headers, signal }: RestOptions = {},
): Promise<Response> {
  return fetch(base + path, {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/a2a+json" }),
      "a2a-version": "1.0",
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  });
}

/** Sends one call and gives back status and parsed body. */
export async function rest(base: string, method: string, path: string, options?: RestOptions) {
  const response = await ask(base, method, path, options);
  const text = await response.text();
  return {
    status: response.status,
    type: response.headers.get("content-type"),
    body: text === "" ? undefined : JSON.parse(text),
  };
}

/** Events of a whole stream, which come bare (11.7). */
export async function bareEvents(response: Response): Promise<unknown[]> {
  return frames(await response.text()).map((data) => JSON.parse(data));
}
