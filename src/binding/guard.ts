import { A2ALeaseError } from "../errors/base.ts";
import type { StreamResponse } from "../model/events.ts";
import { toConnectionError } from "../wire/failure.ts";
import type { Binding, BindingCall, BindingStream } from "./binding.ts";

/**
 * Takes a binding that was handed in at its word, and no further: what it throws beside this library's errors is a
 * connection that failed, so that a message which may have left is never told as refused.
 */
export function guardBinding(binding: Binding): Binding {
  return {
    name: binding.name,
    async call(operation, request, call) {
      try {
        return await binding.call(operation, request, call);
      } catch (error) {
        throw told(error, call, "head");
      }
    },
    async open(operation, request, call) {
      try {
        return guardStream(await binding.open(operation, request, call), call);
      } catch (error) {
        throw told(error, call, "head");
      }
    },
  };
}

function guardStream(stream: BindingStream, call: BindingCall): BindingStream {
  async function* read(): AsyncGenerator<StreamResponse> {
    try {
      yield* stream.events;
    } catch (error) {
      throw told(error, call, "body");
    }
  }
  return {
    events: read(),
    ...(stream.isWhole === undefined ? {} : { isWhole: stream.isWhole }),
    get deviations() {
      return stream.deviations;
    },
    get skipped() {
      return stream.skipped;
    },
    get retryMs() {
      return stream.retryMs;
    },
    close: () => stream.close(),
  };
}

/** The failure itself is not kept: it can hold the request with its headers. */
function told(error: unknown, { signal, interface: { url } }: BindingCall, phase: "head" | "body"): unknown {
  if (signal.aborted) return signal.reason;
  return error instanceof A2ALeaseError ? error : toConnectionError(url, error, phase);
}
