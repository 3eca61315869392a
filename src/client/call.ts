import { TimeoutError } from "../errors/transport.ts";
import type { Message } from "../model/message.ts";
import { type CardCheck, type OperationName, type Operations, operationFacts } from "../model/operations.ts";
import type { CardRequirements } from "../model/requirements.ts";
import { createScope, type Scope } from "../util/abort.ts";
import { checkOptions, type OptionKind } from "../util/options.ts";
import { defaultReadMs, defaultSendMs } from "./options.ts";
import type { LeaseHolder, LeasePolicy, Session } from "./session.ts";

/** What every call takes. */
export interface CallOptions {
  /** Aborts the call; its reason is rethrown unchanged. */
  readonly signal?: AbortSignal;
  /** Budget of the whole call in milliseconds. @default the client's */
  readonly timeoutMs?: number;
  /**
   * Headers on each request of this call beside the client's: a `traceparent` and a `tracestate`, for one. The checks of
   * the card go without them.
   */
  readonly headers?: Readonly<Record<string, string>>;
}

/** One call on its way through. */
export interface Call<O extends OperationName> {
  readonly operation: O;
  readonly request: Operations[O]["request"];
  /** Who holds the pin that the call depends on. */
  readonly holder: LeaseHolder;
  /** What the call asks of the card. */
  readonly requirements: CardRequirements;
  readonly options: CallOptions;
  /** What this call does about a drift. @default what the holder does */
  readonly policy?: LeasePolicy;
  /** Whether the task is known to exist, so that "not found" is a surprise. */
  readonly knowsTask: boolean;
  /** The message that is sent; there for sends only. */
  readonly message?: Message;
  /** Writes down what is about to be sent, once the card was checked and before anything leaves. */
  readonly prepare?: (() => Promise<void>) | undefined;
  /** Whether the call leaves the lease aside: a salvage, or the reads that confirm a cancellation. */
  readonly isUnleased?: boolean;
  /** Whether something else than a changed card explains an error: the task's own end does, say. */
  readonly explains?: (error: unknown) => Promise<boolean>;
  /** Whether it is made once, come what may: a look that is a second thought already. */
  readonly isOnce?: boolean;
  /** Whether the card was checked for this call a moment ago. */
  readonly isChecked?: boolean;
}

/** When the card is checked for a call. */
export function checkOf<O extends OperationName>(call: Call<O>): CardCheck {
  return call.isUnleased ? "none" : operationFacts[call.operation].check;
}

/** Budget of a whole call in milliseconds. */
export function budgetOf<O extends OperationName>(session: Session, call: Call<O>): number {
  const usual = call.message ? defaultSendMs : defaultReadMs;
  return call.options.timeoutMs ?? session.options.timeouts.totalMs ?? usual;
}

/** What any call takes: of a call, a read, a send, a wait, a listing and a cancellation; requests bring their id along. */
const callOptions: Readonly<Record<string, OptionKind>> = Object.freeze({
  ...{ id: "any", pageSize: "any", pageToken: "any", historyLength: "any" },
  ...{ signal: "object", timeoutMs: "amount", headers: "object", metadata: "object" },
  ...{ requires: "object", posture: "any", compare: ["content", "structure"], blocking: "flag" },
  ...{ contextId: "text", referenceTaskIds: "list", acceptedOutputModes: "list" },
  ...{ pushNotificationConfig: "object" },
  ...{ deadlineMs: "amount", noProgressMs: "amount", maxAttempts: "amount" },
  ...{ until: ["settled", "terminal"], onUpdate: "function" },
} satisfies Record<string, OptionKind>);

/**
 * Checks the options of a call.
 *
 * @throws TypeError naming the option.
 */
export function checkCallOptions(options: CallOptions): void {
  checkOptions<Readonly<Record<string, unknown>>>({ ...options }, callOptions);
  checkSignal(options.signal);
}

/** Checks a signal. Throws a TypeError that names it. */
export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal !== undefined && typeof signal?.addEventListener !== "function") {
    throw new TypeError("signal: wanted an AbortSignal");
  }
}

/** Whether the caller, or the closing of the client, ended the call, and not its own budget of time. */
export function isCallersAbort(scope: Scope): boolean {
  return scope.signal.aborted && !(scope.signal.reason instanceof TimeoutError);
}

/** The time that a call lives: the caller's signal, the client's life, and its own budget. */
export function scopeOf<O extends OperationName>(
  session: Session,
  call: Call<O>,
  totalMs: number | undefined,
): Scope {
  checkCallOptions(call.options);
  const scope = createScope(session.clock, [call.options.signal, session.closed]);
  if (totalMs !== undefined) limitScope(scope, call, totalMs);
  return scope;
}

/** Gives a call's scope its budget; the returned function takes it back. */
export function limitScope<O extends OperationName>(
  scope: Scope,
  call: Call<O>,
  totalMs: number,
): () => void {
  return scope.deadline(totalMs, () => new TimeoutError(call.holder.pin.interface.url, "total", totalMs));
}
