import type { BindingAnswer, BindingCall, UnaryOperation } from "../binding/binding.ts";
import { AuthenticationError } from "../errors/auth.ts";
import { A2ALeaseError } from "../errors/base.ts";
import { CardDriftError } from "../errors/lease.ts";
import { SendOutcomeUnknownError } from "../errors/sending.ts";
import type { OperationName, Operations } from "../model/operations.ts";
import { createScope, type Scope, withSignal } from "../util/abort.ts";
import { readInstant } from "../util/clock.ts";
import { type Attempt, attemptCall } from "./attempt.ts";
import { budgetOf, type Call, checkOf, isCallersAbort, scopeOf } from "./call.ts";
import { checkLease, forcedCheck, requirePinned } from "./check.ts";
import { canRefresh } from "./credentials.ts";
import { type Intent, openIntent } from "./intent.ts";
import type { LeaseHolder, Session } from "./session.ts";
import { isSurprise, isUnknownOutcome } from "./surprise.ts";

/** What a finished exchange hands on to the steps that need the answer's meaning: fold it in, keep it. */
export interface Passage<T> {
  readonly answer: T;
  /** The intent of a send, to be closed once its answer is kept. */
  readonly intent: Intent | undefined;
  /** Asks for the live card because of what the answer says, before anybody sees it. */
  readonly forceCheck: (holder: LeaseHolder, cause?: unknown) => Promise<void>;
}

/**
 * Carries out a call that is answered once. The order of its steps is the library's promise: no card-dependent request
 * leaves under a broken lease, and nothing is delivered before the card was judged.
 */
export async function callOnce<O extends UnaryOperation, R>(
  session: Session,
  call: Call<O>,
  settle: (passage: Passage<BindingAnswer<Operations[O]["response"]>>) => Promise<R>,
): Promise<R> {
  const scope = scopeOf(session, call, budgetOf(session, call));
  const caller = createScope(session.clock, [call.options.signal, session.closed]);
  const carryOut = async () => {
    const exchange = (wire: BindingCall) =>
      session.bindings.of(wire.interface).call(call.operation, call.request, wire);
    const { answer, intent } = await pass(session, call, scope, exchange);
    return settle({ answer, intent, forceCheck: forcedCheck(session, call, scope) });
  };
  try {
    // Whatever a call waits for, a ledger that hangs included, a caller who gave up is let go at once.
    return await withSignal(carryOut(), caller.signal);
  } catch (error) {
    throw isCallersAbort(scope) ? scope.signal.reason : error;
  } finally {
    caller.release();
    scope.release();
  }
}

/** Steps 1 to 5: what the call asks, the lease, the intent, one exchange. */
export async function pass<O extends OperationName, T>(
  session: Session,
  call: Call<O>,
  scope: Scope,
  carryOut: (wire: BindingCall) => Promise<T>,
): Promise<{ answer: T; intent: Intent | undefined }> {
  const since = readInstant(session.clock);
  const trip = { hasLeft: false };
  const exchange = async (wire: BindingCall) => {
    trip.hasLeft = true;
    try {
      return await carryOut(wire);
    } catch (error) {
      if (error instanceof A2ALeaseError && !isUnknownOutcome(error)) trip.hasLeft = false;
      throw error;
    }
  };
  const { holder, operation, requirements } = call;
  const check = checkOf(call);
  if (check !== "none") {
    if (holder.ended) throw holder.ended;
    requirePinned(session, operation, holder.pin, requirements);
  }
  const isChecked = check === "none" || call.isChecked === true;
  if (check === "before" && !isChecked) await checkCall(session, call, "before", scope.signal);
  await call.prepare?.();
  const intent = call.message ? await openIntent(session, call.message, holder, requirements) : undefined;
  const attempt = () => attemptCall(session, call, { exchange, signal: scope.signal, since });
  try {
    const answer =
      check === "alongside" && !isChecked
        ? await alongside(session, call, scope, { exchange, since })
        : await attempt();
    return { answer, intent };
  } catch (error) {
    return { answer: await recover(session, call, scope, { error, exchange, since, intent, trip }), intent };
  }
}

/** The exchange and the check leave together; a drift cancels the exchange, and nothing is delivered before both are in. */
async function alongside<O extends OperationName, T>(
  session: Session,
  call: Call<O>,
  scope: Scope,
  parts: Omit<Attempt<T>, "signal">,
): Promise<T> {
  const wire = createScope(session.clock, [scope.signal]);
  const checking = checkCall(session, call, "alongside", scope.signal);
  const exchanging = attemptCall(session, call, { ...parts, signal: wire.signal });
  exchanging.catch(() => {});
  try {
    await checking;
  } catch (error) {
    wire.abort(error);
    wire.release();
    // An answer that had come in all the same is let go of, and its connection with it.
    exchanging.then(closeIfStream, () => {});
    if (!(error instanceof CardDriftError)) throw new NotASurprise(error);
    throw error;
  }
  // The link to the call's scope stays: a stream goes on under it.
  return exchanging;
}

/** Carries a failed check past the judgement of surprises. */
class NotASurprise {
  constructor(readonly error: unknown) {}
}

function closeIfStream(answer: unknown): void {
  if (
    typeof answer === "object" &&
    answer !== null &&
    "close" in answer &&
    typeof answer.close === "function"
  ) {
    answer.close();
  }
}

/** An exchange that failed. */
interface Failed {
  readonly error: unknown;
  readonly intent: Intent | undefined;
  /** Whether anything left that was not refused; what is not sent has no unknown outcome. */
  readonly trip: { hasLeft: boolean };
}

/** What a failed exchange leads to: one more try with fresh credentials, or the end that {@link conclude} finds. */
async function recover<O extends OperationName, T>(
  session: Session,
  call: Call<O>,
  scope: Scope,
  failed: Failed & Omit<Attempt<T>, "signal">,
): Promise<T> {
  const { error, exchange, since, intent, trip } = failed;
  const { signal } = scope;
  const outcome = await conclude(session, call, scope, failed);
  if (!(error instanceof AuthenticationError) || !canRefresh(session.credentials)) throw outcome;
  // 401 is a refusal before any work, so the same message may go once more, with the credentials of a second asking.
  await intent?.reopen();
  session.observer.emit("retry", { operation: call.operation, code: error.code, with: "credentials" });
  try {
    const challenge = error.challenge ?? "";
    return await attemptCall(session, call, { exchange, signal, since, challenge });
  } catch (again) {
    throw await conclude(session, call, scope, { error: again, intent, trip });
  }
}

/**
 * What a failed exchange comes to: where a changed card would explain it, the card is asked first.
 *
 * @returns what is to be thrown when the card did not change.
 * @throws the drift, with the failure as its cause; what says that there is no telling.
 */
async function conclude<O extends OperationName>(
  session: Session,
  call: Call<O>,
  scope: Scope,
  { error, intent, trip }: Failed,
): Promise<unknown> {
  if (isCallersAbort(scope)) throw scope.signal.reason;
  if (error instanceof NotASurprise) return error.error;
  if (error instanceof CardDriftError || error === call.holder.ended) {
    await intent?.close("refused");
    return error;
  }
  const isLost = call.message && trip.hasLeft && isUnknownOutcome(error);
  const outcome = isLost ? new SendOutcomeUnknownError(call.message, error) : error;
  await intent?.close(isLost ? "unknown" : "refused");
  const isSuspicious = checkOf(call) !== "none" && isSurprise(error, call.knowsTask);
  if (!isSuspicious || (await call.explains?.(error))) return outcome;
  await forcedCheck(session, call, scope)(call.holder, outcome);
  return outcome;
}

/** Checks the card for a call; a pin that the posture moved must still allow it. */
async function checkCall<O extends OperationName>(
  session: Session,
  { operation, requirements, holder, policy }: Call<O>,
  check: "before" | "alongside",
  signal: AbortSignal,
): Promise<void> {
  const { pin } = holder;
  await checkLease(session, { holder, requirements, policy, signal, phase: { operation, check } });
  if (holder.pin !== pin) requirePinned(session, operation, holder.pin, requirements);
}
