import { MalformedResponseError } from "../errors/transport.ts";
import { addDeviations, type Deviation } from "../model/deviation.ts";
import type { StreamResponse } from "../model/events.ts";
import { cut, redactText, strikeSecrets } from "../util/redact.ts";
import { type EventStream, openEventStream } from "../wire/event-stream.ts";
import type { HttpResponse } from "../wire/http.ts";
import type { SseEvent } from "../wire/sse.ts";
import { secretsOf } from "./answer.ts";
import type { BindingCall, BindingOptions, BindingStream, SkippedFrames } from "./binding.ts";
import { readJson } from "./json.ts";
import { type RemoteFailure, readRemoteFailure } from "./remote-failure.ts";

/** One frame of a stream: an event, or why it can't be used. */
export type Frame =
  | { readonly ok: true; readonly value: StreamResponse; readonly deviations: readonly Deviation[] }
  | { readonly ok: false; readonly reason: string };

/** A streaming call whose answer is an event stream. */
export interface FrameContext {
  /** The call. */
  readonly call: BindingCall;
  /** What the binding is built on. */
  readonly options: BindingOptions;
  /** Reads the JSON of one frame as the binding writes it; throws what an error frame says. */
  readonly readFrame: (wire: unknown) => Frame;
  /** Makes the error that an event is which is named `error` and is no frame. */
  readonly errorOf: (failure: RemoteFailure) => unknown;
}

/** Events of no use that may come in a row: a day of pings, one each second. */
const maxUseless = 100_000;

/** Reads an event stream with the JSON of one frame in each event (9.4.2, 11.7). */
export function openFrames(response: HttpResponse, context: FrameContext): BindingStream {
  const { call, options } = context;
  const stream = openEventStream(response, {
    clock: options.clock,
    signal: call.signal,
    firstEventMs: call.timeouts.firstEventMs,
    idleMs: call.timeouts.idleMs,
    maxEventBytes: options.limits.eventBytes,
    onSilence: call.onSilence,
  });
  let deviations: readonly Deviation[] = Object.freeze([]);
  let skipped: SkippedFrames = Object.freeze({ count: 0 });
  let isClosed = false;
  const secrets = secretsOf(call);

  async function* read() {
    let isEmpty = true;
    let useless = 0;
    for await (const batch of stream.batches) {
      for (const event of batch) {
        // The consumer may have aborted or closed between two events of one batch.
        call.signal.throwIfAborted();
        if (isClosed) return;
        const frame = readEvent(event, context);
        if (frame.ok) {
          isEmpty = false;
          useless = 0;
          deviations = addDeviations(deviations, strikeDeviations(frame.deviations, secrets));
          yield frame.value;
          continue;
        }
        skipped = withFrame(skipped, frame.reason, event, secrets);
        useless += 1;
        const isEndless = useless > maxUseless && problemOf(stream, skipped, secrets);
        if (isEndless) throw isEndless;
      }
    }
    const problem = isEmpty && !isClosed ? problemOf(stream, skipped, secrets) : undefined;
    if (problem) throw problem;
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

/**
 * An event counts by its data, whatever its name: agents name them as they like, and heartbeats hold no frame. Only one
 * that is named an error, and is no frame, can't be a heartbeat.
 */
function readEvent({ name, data }: SseEvent, { options, readFrame, errorOf }: FrameContext): Frame {
  if (data === undefined) return { ok: false, reason: "found bytes that are no UTF-8" };
  const reading = readJson(data, options.limits.responseDepth);
  const frame: Frame = reading.ok ? readFrame(reading.value) : { ok: false, reason: reading.issue.message };
  if (frame.ok || name !== "error") return frame;
  throw errorOf(readRemoteFailure(reading.ok ? reading.value : data));
}

/** What was odd, without the secrets that the agent may have given back. */
function strikeDeviations(list: readonly Deviation[], secrets: readonly string[]): readonly Deviation[] {
  return list.map((item) => ({ ...item, message: strikeSecrets(item.message, secrets) }));
}

function withFrame(
  { count, first }: SkippedFrames,
  reason: string,
  { data = "" }: SseEvent,
  secrets: readonly string[],
): SkippedFrames {
  const [told, snippet] = [cut(reason, 500), cut(data, 200)].map((text) => strikeSecrets(text, secrets));
  const evidence = { reason: told ?? "", snippet: redactText(snippet ?? "") };
  return Object.freeze({ count: count + 1, first: first ?? Object.freeze(evidence) });
}

/** A body that has something, and nothing of use, is no stream that was cut. */
function problemOf(
  { ignored }: EventStream,
  skipped: SkippedFrames,
  secrets: readonly string[],
): MalformedResponseError | undefined {
  const { count, first } = skipped;
  if (first) {
    const message = `found ${count} events and none of use, the first because: ${first.reason}`;
    return new MalformedResponseError([{ path: "$", message }], first.snippet);
  }
  if (ignored.count === 0) return undefined;
  const message = `found ${ignored.count} lines that belong to no event, wanted an event stream`;
  return new MalformedResponseError([{ path: "$", message }], strikeSecrets(ignored.first ?? "", secrets));
}
