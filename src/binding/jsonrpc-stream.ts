import { MalformedResponseError } from "../errors/transport.ts";
import { addDeviations, type Deviation } from "../model/deviation.ts";
import type { StreamResponse } from "../model/events.ts";
import { cut, redactText } from "../util/redact.ts";
import { openEventStream } from "../wire/event-stream.ts";
import type { HttpResponse } from "../wire/http.ts";
import type { SseEvent } from "../wire/sse.ts";
import { headOf } from "./answer.ts";
import type {
  BindingCall,
  BindingOptions,
  BindingStream,
  SkippedFrames,
  StreamingOperation,
} from "./binding.ts";
import { readResponse } from "./body.ts";
import { readEnvelope } from "./envelope.ts";
import { errorOf } from "./errors.ts";
import { readJson } from "./json.ts";

/** A streaming call whose answer is an event stream. */
export interface StreamContext {
  /** The operation. */
  readonly operation: StreamingOperation;
  /** Id of the request. */
  readonly id: number;
  /** The answer. */
  readonly response: HttpResponse;
  /** The call. */
  readonly call: BindingCall;
  /** What the binding is built on. */
  readonly options: BindingOptions;
}

type Frame =
  | { readonly isUsable: true; readonly value: StreamResponse; readonly deviations: readonly Deviation[] }
  | { readonly isUsable: false; readonly reason: string };

const snippetLength = 200;

/** Reads a stream of JSON-RPC responses, one in each event (9.4.2). */
export function openJsonRpcStream(context: StreamContext): BindingStream {
  const { call, options } = context;
  const stream = openEventStream(context.response, {
    clock: options.clock,
    signal: call.signal,
    firstEventMs: call.timeouts.firstEventMs,
    idleMs: call.timeouts.idleMs,
    maxEventBytes: options.limits.eventBytes,
  });
  let deviations: readonly Deviation[] = Object.freeze([]);
  let skipped: SkippedFrames = Object.freeze({ count: 0 });
  let isClosed = false;

  async function* read() {
    let isEmpty = true;
    for await (const batch of stream.batches) {
      for (const event of batch) {
        // The consumer may have aborted between two events of one batch.
        call.signal.throwIfAborted();
        const frame = readFrame(event, context);
        if (frame.isUsable) {
          isEmpty = false;
          deviations = addDeviations(deviations, frame.deviations);
          yield frame.value;
        } else skipped = withFrame(skipped, frame.reason, event);
        if (isClosed) return;
      }
    }
    if (isEmpty && !isClosed) throwWithoutFrames();
  }

  /** A body of which nothing can be used is no stream that was cut. */
  function throwWithoutFrames() {
    const { count, first } = skipped;
    if (first) {
      const message = `found ${count} events and none of use, the first: ${first.reason}; wanted JSON-RPC responses`;
      throw new MalformedResponseError([{ path: "$", message }], first.snippet);
    }
    const { ignored } = stream;
    if (ignored.count === 0) return;
    const message = `found ${ignored.count} lines that belong to no event, wanted an event stream`;
    throw new MalformedResponseError([{ path: "$", message }], ignored.first);
  }

  return {
    events: read(),
    get deviations() {
      return deviations;
    },
    get skipped() {
      return skipped;
    },
    get retryMs() {
      return stream.retryMs;
    },
    close() {
      isClosed = true;
      stream.close();
    },
  };
}

/** An event counts by its data, whatever its name: agents name them as they like, and heartbeats have no envelope. */
function readFrame({ data }: SseEvent, { operation, id, response, options }: StreamContext): Frame {
  if (data === undefined) return { isUsable: false, reason: "found bytes that are no UTF-8" };
  const reading = readJson(data, options.limits.responseDepth);
  if (!reading.ok) return { isUsable: false, reason: reading.issue.message };
  const envelope = readEnvelope(reading.value, id);
  if (envelope.kind === "error") {
    throw errorOf({ operation, ...headOf(response), failure: envelope.failure });
  }
  if (envelope.kind === "none") return { isUsable: false, reason: textOf(envelope.issue) };
  const body = readResponse(operation, envelope.result, "$.result");
  if (!body.ok) return { isUsable: false, reason: body.issues.map(textOf).join("; ") };
  return {
    isUsable: true,
    value: body.value,
    deviations: [...envelope.deviations, ...body.deviations],
  };
}

function textOf({ path, message }: { readonly path: string; readonly message: string }): string {
  return `${path}: ${message}`;
}

function withFrame({ count, first }: SkippedFrames, reason: string, { data = "" }: SseEvent): SkippedFrames {
  return Object.freeze({
    count: count + 1,
    first:
      first ?? Object.freeze({ reason: cut(reason, 500), snippet: redactText(cut(data, snippetLength)) }),
  });
}
