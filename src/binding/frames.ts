import { MalformedResponseError } from "../errors/transport.ts";
import { addDeviations, type Deviation } from "../model/deviation.ts";
import type { StreamResponse } from "../model/events.ts";
import { cut, redactText } from "../util/redact.ts";
import { strikeJson, strikeSecrets } from "../util/strike.ts";
import { type EventStream, openEventStream } from "../wire/event-stream.ts";
import type { HttpResponse } from "../wire/http.ts";
import type { SseEvent } from "../wire/sse.ts";
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
  /** The secrets that went out with it. */
  readonly secrets: readonly string[];
  /** Reads the JSON of one frame as the binding writes it; throws what an error frame says. */
  readonly readFrame: (wire: unknown) => Frame;
  /** Makes the error that an event is which is named `error` and is no frame. */
  readonly errorOf: (failure: RemoteFailure) => unknown;
}

/** Events of no use that may come in a row: a day of pings, one each second. */
const maxUseless = 100_000;

/** How much of an event is looked at for its beginning, so that no secret is cut in half. */
const snippetSource = 8_192;

/** Reads an event stream with the JSON of one frame in each event (9.4.2, 11.7). */
export function openFrames(response: HttpResponse, context: FrameContext): BindingStream {
  const { call, options, secrets } = context;
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
          deviations = addDeviations(deviations, strikeJson(frame.deviations, secrets));
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

function withFrame(
  { count, first }: SkippedFrames,
  reason: string,
  { data = "" }: SseEvent,
  secrets: readonly string[],
): SkippedFrames {
  if (first) return Object.freeze({ count: count + 1, first });
  const told = cut(strikeSecrets(reason, secrets), 500);
  const snippet = redactText(cut(strikeSecrets(cut(data, snippetSource), secrets), 200));
  return Object.freeze({ count: count + 1, first: Object.freeze({ reason: told, snippet }) });
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
