import type { Deviation } from "../model/deviation.ts";
import type { StreamResponse } from "../model/events.ts";
import type { BindingStream } from "./binding.ts";

/** Makes a stream of the one event that an agent answered a streaming call with. */
export function createSingleEventStream(
  event: StreamResponse,
  deviations: readonly Deviation[],
  signal: AbortSignal,
): BindingStream {
  let isClosed = false;
  async function* read() {
    signal.throwIfAborted();
    if (!isClosed) yield event;
  }
  return {
    events: read(),
    deviations: Object.freeze(deviations),
    skipped: Object.freeze({ count: 0 }),
    isWhole: true,
    close() {
      isClosed = true;
    },
  };
}
