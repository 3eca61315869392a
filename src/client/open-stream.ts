import type { BindingCall, BindingStream, StreamingOperation } from "../binding/binding.ts";
import { StreamStalledError } from "../errors/stream.ts";
import type { Scope } from "../util/abort.ts";
import type { Silence } from "../wire/event-stream.ts";
import { type Call, isCallersAbort, limitScope, scopeOf } from "./call.ts";
import { forcedCheck } from "./check.ts";
import { type Passage, pass } from "./pipeline.ts";
import type { LeaseHolder, Session } from "./session.ts";
import { isSurprise } from "./surprise.ts";

/** A stream whose head was accepted. The scope lives as long as the stream does. */
export interface OpenedStream extends Passage<BindingStream> {
  readonly scope: Scope;
  /** The caller's own signal. */
  readonly callers: AbortSignal | undefined;
  /** Says what answers a silence of the stream; without an answer it ends the stream. */
  readonly listen: (answerSilence: (silence: Silence) => Promise<void>) => void;
  /** Judges the card because of an error in the middle of the stream; always throws. */
  readonly fail: (
    error: unknown,
    told: { readonly holder: LeaseHolder; readonly knowsTask: boolean; readonly outcome: unknown },
  ) => Promise<never>;
}

/** A silence that nobody knows an answer to ends its stream. */
async function failSilence({ budget, silentMs }: Silence): Promise<void> {
  throw new StreamStalledError(budget, silentMs);
}

/** Opens a stream, through the same steps. */
export async function openStream<O extends StreamingOperation>(
  session: Session,
  call: Call<O>,
): Promise<OpenedStream> {
  const { explains, message, options } = call;
  const scope = scopeOf(session, call, undefined);
  const totalMs = options.timeoutMs ?? session.options.timeouts.totalMs;
  const unlimit = totalMs === undefined ? () => {} : limitScope(scope, call, totalMs);
  let onSilence = failSilence;
  try {
    const exchange = (wire: BindingCall) =>
      session.bindings.of(wire.interface).open(call.operation, call.request, {
        ...wire,
        onSilence: (silence) => onSilence(silence),
      });
    const { answer, intent } = await pass(session, call, scope, exchange);
    const forceCheck = forcedCheck(session, call, scope);
    const fail: OpenedStream["fail"] = async (error, { holder, knowsTask, outcome }) => {
      if (isCallersAbort(scope)) throw scope.signal.reason;
      // What explains a refusal in place of a stream explains it in a frame too; a send has asked already.
      const isSuspicious = isSurprise(error, knowsTask);
      if (isSuspicious && (message || !(await explains?.(error)))) await forceCheck(holder, outcome);
      throw outcome;
    };
    if (answer.deviations.length > 0) await forceCheck(call.holder);
    // An answer that came whole is here, however long its reader takes.
    if (answer.isWhole) unlimit();
    const listen: OpenedStream["listen"] = (answerSilence) => {
      onSilence = answerSilence;
    };
    return { answer, intent, scope, callers: options.signal, forceCheck, fail, listen };
  } catch (error) {
    const thrown = isCallersAbort(scope) ? scope.signal.reason : error;
    scope.abort(error);
    scope.release();
    throw thrown;
  }
}
