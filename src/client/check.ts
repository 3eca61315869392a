import type { FlightKind } from "../card/flight.ts";
import type { CardReading } from "../card/source.ts";
import { A2ALeaseError } from "../errors/base.ts";
import { CapabilityMissingError, LeaseUnverifiableError, RequirementUnmetError } from "../errors/lease.ts";
import type { JudgeOptions } from "../lease/judge.ts";
import { judgeExtended } from "../lease/judge-extended.ts";
import { decideDrift } from "../lease/posture.ts";
import { judgeReading, type Renewal, renewLease } from "../lease/renew.ts";
import { unmetRequirements } from "../lease/requirements.ts";
import type { CardDrift, DriftPhase } from "../model/drift.ts";
import { type OperationName, operationFacts } from "../model/operations.ts";
import type { CardPin, PinnedExtendedCard } from "../model/pin.ts";
import type { CardRequirements } from "../model/requirements.ts";
import type { Scope } from "../util/abort.ts";
import { elapsedMs } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import { type Call, isCallersAbort } from "./call.ts";
import { readExtendedShared } from "./extended.ts";
import { effectiveCard } from "./pinned.ts";
import { pinForPlan } from "./renegotiate.ts";
import type { LeaseHolder, LeasePolicy, Session } from "./session.ts";
import { followSigner, isSignedByPin } from "./signer.ts";

/** One check of the card, for whom and why. */
export interface CheckRequest {
  readonly holder: LeaseHolder;
  readonly requirements: CardRequirements;
  readonly phase: DriftPhase;
  readonly signal: AbortSignal;
  /** What this call does about a drift. @default what the holder does */
  readonly policy?: LeasePolicy | undefined;
  /** The surprise that forces the check; the cause of whatever the check throws. */
  readonly cause?: unknown;
  /** Whether the agent took a message already, whose answer asks for the check. @default false */
  readonly isTaken?: boolean;
}

type Reading = Extract<CardReading, { kind: "card" }>;

/**
 * Checks that the live card is still the one that the holder pinned. A check with the phase `"forced"` is a full read
 * that began after it was asked for; any other may be skipped within the lease's term.
 *
 * @throws CardDriftError, and ends the holder's lease, unless the posture pins the live card; LeaseUnverifiableError
 * when there is no telling; the signal's reason.
 */
export async function checkLease(session: Session, request: CheckRequest): Promise<void> {
  const { holder, signal } = request;
  const renewal = await renew(session, request);
  switch (renewal.outcome) {
    case "renewed":
      accept(session, request, renewal.reading);
      await followSigner(session, holder, renewal.reading);
      // The extended card, where there is one, is checked with the public one: both must still hold.
      if (renewal.reading.via !== "term") await checkExtended(session, request);
      // What another process found out about the agent is known here with the next check; that it can't be read is no
      // news of the card.
      if (session.ledger.shared) await session.trust.refresh(holder.pin).catch(() => {});
      return;
    case "drift":
      return settleDrift(session, refusedBy(request, renewal.refusal), renewal.drift, renewal.reading);
    case "unverifiable": {
      if (signal.aborted) throw signal.reason;
      const { source, options, clock } = session;
      const { checkedAt } = source;
      const unverifiedMs = checkedAt === undefined ? Number.POSITIVE_INFINITY : elapsedMs(clock, checkedAt);
      const isBorne = options.staleIfErrorMs > 0 && unverifiedMs <= options.staleIfErrorMs;
      if (isBorne && request.phase.check !== "forced") {
        return goOnStale(session, request);
      }
      const isOver = unverifiedMs > options.maxUnverifiedMs;
      const error = unverifiable(request, source.url ?? "", renewal.failure, isOver);
      if (isOver) holder.expire(error);
      throw error;
    }
  }
}

/** What refused the live card is the cause, where nothing else is. */
function refusedBy(request: CheckRequest, refusal: unknown): CheckRequest {
  return refusal === undefined ? request : { ...request, cause: request.cause ?? refusal };
}

/** There is no telling whether a pin still holds. What led to the check, where something did, is the cause. */
function unverifiable(
  { holder, cause, isTaken = false }: CheckRequest,
  url: string,
  failure: unknown,
  isOver = false,
): LeaseUnverifiableError {
  return new LeaseUnverifiableError(url, {
    ...(cause === undefined ? { cause: failure } : { cause, checkFailure: failure }),
    taskId: holder.task?.id,
    retryAfterMs: failure instanceof A2ALeaseError ? failure.retryAfterMs : undefined,
    isOver,
    isTaken,
  });
}

/** Checks the extended card that is pinned, if one is. */
async function checkExtended(session: Session, request: CheckRequest): Promise<void> {
  const { holder, requirements, phase, signal, cause } = request;
  const { pin } = holder;
  const { extended, ...publicPin } = pin;
  if (!extended) return;
  let live: PinnedExtendedCard | undefined;
  try {
    const kind = phase.check === "forced" ? "forced" : "ordinary";
    live = await readExtendedShared(session, pin, kind, signal);
  } catch (failure) {
    if (signal.aborted) throw signal.reason;
    throw unverifiable(request, pin.interface.url, failure);
  }
  // These credentials no longer open it: what is public is all there is.
  if (!live) return holder.replacePin(Object.freeze(publicPin));
  const judge = judgeOptionsOf(session, phase, request.policy ?? holder.policy);
  const verdict = judgeExtended({ ...pin, extended }, live, requirements, judge);
  if (verdict.outcome === "same") return;
  const taskId = holder.task?.id;
  session.observer.emit("drift", { ...defined({ taskId }), drift: verdict.drift });
  const { posture } = request.policy ?? holder.policy;
  if (decideDrift(posture, verdict.drift, holder.task) === "fail") throw holder.end(verdict.drift, cause);
  await holder.repin(Object.freeze({ ...pin, extended: live }), verdict.drift);
}

async function renew(session: Session, request: CheckRequest): Promise<Renewal> {
  const { holder, phase, requirements, signal } = request;
  const { source, options } = session;
  const kind: FlightKind = phase.check === "forced" ? "forced" : "ordinary";
  const judge = judgeOptionsOf(session, phase, request.policy ?? holder.policy);
  const asked = { pin: holder.pin, requirements, kind, signal, judge };
  const isSkipped =
    kind === "ordinary" && phase.operation !== "watch" && source.isWithin(options.leaseTermMs);
  if (!isSkipped) return renewLease(source, asked);
  return judgeReading({ ...session.lastReading, snapshot: source.current, via: "term" }, asked, source);
}

function accept(session: Session, { holder }: CheckRequest, reading: Reading): void {
  if (reading.via !== "term") session.lastReading = reading;
  session.isStale = false;
  const taskId = holder.task?.id;
  session.observer.emit("lease-renewed", {
    ...defined({ taskId }),
    digest: reading.snapshot.digest,
    via: reading.via,
  });
}

/** The card is another one: the posture says whether the work goes on with it. */
async function settleDrift(
  session: Session,
  request: CheckRequest,
  drift: CardDrift,
  reading: Reading | undefined,
): Promise<void> {
  const { holder, requirements, cause } = request;
  const taskId = holder.task?.id;
  session.observer.emit("drift", { ...defined({ taskId }), drift });
  const { posture } = request.policy ?? holder.policy;
  const isVouched = reading !== undefined && isSignedByPin(session, holder.pin, reading);
  const decision = reading ? decideDrift(posture, drift, holder.task, isVouched) : "fail";
  if (!reading || decision === "fail") throw holder.end(drift, cause);
  let pin: CardPin;
  try {
    pin = pinForPlan(session, reading.snapshot, requirements, holder.pin.extended);
  } catch {
    // A posture can't accept a card that the plan can't stand on.
    throw holder.end(drift, cause);
  }
  session.lastReading = reading;
  session.isStale = false;
  // What the pinned key signed is the newest version from now on, even a lower one.
  if (isVouched) session.source.history.resetMark(reading.snapshot.card.version);
  // Who is pinned as the signer stays it, unless what he signs is accepted: then the first signer takes over.
  const signer = isVouched ? {} : defined({ signer: holder.pin.signer });
  await holder.repin(Object.freeze({ ...pin, ...signer }), drift);
}

/** The card can't be read, and the caller allowed to go on for a while; marked in every result. */
function goOnStale(session: Session, request: CheckRequest): Promise<void> | undefined {
  const { holder, requirements, phase } = request;
  const judge = judgeOptionsOf(session, phase, request.policy ?? holder.policy);
  const reading: Reading = { ...session.lastReading, snapshot: session.source.current, via: "term" };
  const judged = judgeReading(reading, { pin: holder.pin, requirements, judge }, session.source);
  if (judged.outcome === "drift") return settleDrift(session, request, judged.drift, judged.reading);
  if (judged.outcome === "unverifiable") {
    throw unverifiable(request, session.source.url ?? "", judged.failure);
  }
  session.isStale = true;
  return undefined;
}

/** What the session's judgements depend on beside the cards. */
export function judgeOptionsOf(session: Session, phase: DriftPhase, { compare }: LeasePolicy): JudgeOptions {
  const { options, source, bindings, clock } = session;
  return {
    compare,
    acceptDigests: options.acceptDigests,
    bindings: bindings.names,
    preferredBindings: bindings.preferred,
    extensions: options.extensions,
    phase,
    atMs: clock.now(),
    addressPolicy: options.addressPolicy,
    ...(source.url === undefined ? {} : { cardUrl: source.url }),
  };
}

/**
 * Judges a call by the pinned card alone, before any request.
 *
 * @throws CapabilityMissingError when the card does not declare what the operation needs.
 * @throws RequirementUnmetError when the card does not meet what the call requires.
 */
export function requirePinned(
  session: Session,
  operation: OperationName,
  pin: CardPin,
  requirements: CardRequirements,
): void {
  const { capability } = operationFacts[operation];
  const card = effectiveCard(pin);
  const unmet = unmetRequirements(card, requirements, session.options.extensions);
  if (unmet.length > 0) throw new RequirementUnmetError(unmet, pin.digest);
  if (capability && card.capabilities[capability] !== true) {
    throw new CapabilityMissingError(capability, operation, pin.digest);
  }
}

/** Asks for the live card in the middle of a call, because of what came in or went wrong. */
export function forcedCheck<O extends OperationName>(session: Session, call: Call<O>, scope: Scope) {
  const { operation, requirements, policy } = call;
  const { signal } = scope;
  const phase = { operation, check: "forced" } as const;
  return async (holder: LeaseHolder, cause?: unknown): Promise<void> => {
    // What an answer shows asks for the card without an error: the agent took the message that it answers.
    const isTaken = call.message !== undefined && cause === undefined;
    const request = { holder, requirements, policy, signal, cause, phase, isTaken };
    try {
      await checkLease(session, request);
    } catch (error) {
      // Where the call's own time ends before the check does, what made it necessary is told all the same.
      if (error !== signal.reason || isCallersAbort(scope)) throw error;
      throw unverifiable(request, session.source.url ?? "", error);
    }
  };
}
