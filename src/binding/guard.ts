import { A2ALeaseError } from "../errors/base.ts";
import { MalformedResponseError } from "../errors/transport.ts";
import type { Deviation } from "../model/deviation.ts";
import type { StreamResponse } from "../model/events.ts";
import type { OperationName, Operations } from "../model/operations.ts";
import { withSignal } from "../util/abort.ts";
import { deepFreeze, isRecord } from "../util/freeze.ts";
import { toConnectionError } from "../wire/failure.ts";
import type { Binding, BindingAnswer, BindingCall, BindingStream, StreamingOperation } from "./binding.ts";
import { readResponse } from "./body.ts";
import { secretsOf } from "./secrets.ts";

/** What a binding was asked. */
interface Asked {
  readonly call: BindingCall;
  readonly request: object;
}

/**
 * Takes a binding that was handed in at its word, and no further: what it throws beside this library's errors is a
 * connection that failed, so that a message which may have left is never told as refused; what it answers with is
 * looked at once more; and whoever gives up waiting for it is let go.
 */
export function guardBinding(binding: Binding): Binding {
  return {
    name: binding.name,
    async call(operation, request, call) {
      try {
        const answering = Promise.resolve(binding.call(operation, request, call));
        return guardAnswer(operation, await withSignal(answering, call.signal));
      } catch (error) {
        throw told(error, { call, request }, "head");
      }
    },
    async open(operation, request, call) {
      try {
        const opening = Promise.resolve(binding.open(operation, request, call));
        // One that comes after nobody waits any more is let go of.
        opening.then(
          (late) => call.signal.aborted && closeQuietly(late),
          () => {},
        );
        return guardStream(operation, await withSignal(opening, call.signal), { call, request });
      } catch (error) {
        throw told(error, { call, request }, "head");
      }
    },
  };
}

function guardAnswer<O extends OperationName>(
  operation: O,
  answer: BindingAnswer<Operations[O]["response"]>,
): BindingAnswer<Operations[O]["response"]> {
  if (!isRecord(answer)) throw malformed("found no answer, wanted { value, deviations }");
  // The digest of an extended card is over what was sent; where the binding does not say, that is its answer.
  const { wire = answer.value } = answer;
  return deepFreeze({
    value: guardValue(operation, answer.value),
    deviations: deviationsOf(answer),
    ...(operation === "GetExtendedAgentCard" ? { wire } : {}),
  });
}

/** A value is frozen when it was read; one that is not is read as what came over the wire is. */
function guardValue<O extends OperationName>(
  operation: O,
  value: Operations[O]["response"],
): Operations[O]["response"] {
  const reading = readResponse(operation, value, "$");
  if (!reading.ok) throw new MalformedResponseError(reading.issues);
  return Object.isFrozen(value) ? value : reading.value;
}

function deviationsOf({ deviations }: { readonly deviations: unknown }): readonly Deviation[] {
  const given: readonly unknown[] = Array.isArray(deviations) ? deviations : [];
  return given.filter((item): item is Deviation => isRecord(item) && typeof item.kind === "string");
}

function guardStream(
  operation: StreamingOperation,
  stream: BindingStream,
  { call, request }: Asked,
): BindingStream {
  const { events }: { readonly events?: unknown } = isRecord(stream) ? stream : {};
  if (!isRecord(events) || !(Symbol.asyncIterator in events)) {
    throw malformed("found no stream, wanted { events, close }");
  }

  async function* read(): AsyncGenerator<StreamResponse> {
    const iterator = stream.events[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { done, value } = await withSignal(Promise.resolve(iterator.next()), call.signal);
        if (done) return;
        yield guardValue(operation, value);
      }
    } catch (error) {
      throw told(error, { call, request }, "body");
    } finally {
      leave(iterator);
    }
  }
  return {
    events: read(),
    ...(stream.isWhole === undefined ? {} : { isWhole: stream.isWhole }),
    get deviations() {
      return deviationsOf(stream);
    },
    get skipped() {
      return isRecord(stream.skipped) ? stream.skipped : { count: 0 };
    },
    get retryMs() {
      return stream.retryMs;
    },
    close: () => closeQuietly(stream),
  };
}

/** Nobody waits for a reading that was left. */
function leave(iterator: AsyncIterator<unknown>): void {
  try {
    Promise.resolve(iterator.return?.()).catch(() => {});
  } catch {
    // It was left all the same.
  }
}

function closeQuietly(stream: BindingStream): void {
  try {
    stream.close();
  } catch {
    // What closing throws says nothing that anybody waits for.
  }
}

function malformed(message: string): MalformedResponseError {
  return new MalformedResponseError([{ path: "$", message }]);
}

/** The failure itself is not kept: it can hold the request with its headers, and its words may repeat them. */
function told(error: unknown, { call, request }: Asked, phase: "head" | "body"): unknown {
  if (call.signal.aborted) return call.signal.reason;
  if (error instanceof A2ALeaseError) return error;
  return toConnectionError(call.interface.url, error, phase, secretsOf(call, request));
}
