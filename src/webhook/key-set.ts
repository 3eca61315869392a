import { LimitExceededError } from "../errors/transport.ts";
import { withSignal } from "../util/abort.ts";
import type { JwtVerification } from "./jwt-options.ts";

/** Largest key set that is read, in bytes. */
const maxKeySetBytes = 65_536;

/** How a key set is asked for. */
type KeySetFetch = (url: string, init: RequestInit & { readonly signal: AbortSignal }) => Promise<Response>;

/**
 * A `fetch` for key sets that hands on no more than a bounded body: anybody can have the set read, and who serves it may
 * never come to an end.
 *
 * It throws LimitExceededError, what `fetch` throws, and the signal's reason.
 */
export function boundedFetch(fetch: JwtVerification["fetch"]): KeySetFetch {
  return async (url, init) => {
    // The platform's is looked up at each call.
    const response = await withSignal((fetch ?? globalThis.fetch)(url, init), init.signal);
    const { status, headers } = response;
    if (status === 200) return new Response(await readBounded(response, init.signal), { status, headers });
    response.body?.cancel().catch(() => {});
    return response;
  };
}

async function readBounded({ body }: Response, signal: AbortSignal): Promise<string> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  try {
    while (reader) {
      const { done, value } = await withSignal(reader.read(), signal);
      if (done) break;
      length += value.length;
      if (length > maxKeySetBytes) {
        throw new LimitExceededError("verify.jwks", maxKeySetBytes, "more bytes of a key set");
      }
      text += decoder.decode(value, { stream: true });
    }
    return text + decoder.decode();
  } catch (error) {
    reader?.cancel().catch(() => {});
    throw error;
  }
}
