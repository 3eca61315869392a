import type { FlightKind } from "../card/flight.ts";
import type { CardReading } from "../card/source.ts";
import { CapabilityMissingError, RequirementUnmetError } from "../errors/lease.ts";
import { decideDrift } from "../lease/posture.ts";
import { judgeReading, type Renewal, renewLease } from "../lease/renew.ts";
import { unmetRequirements } from "../lease/requirements.ts";
import type { CardDrift } from "../model/drift.ts";
import { type OperationName, operationFacts } from "../model/operations.ts";
import type { CardPin } from "../model/pin.ts";
import type { CardRequirements } from "../model/requirements.ts";
import type { Scope } from "../util/abort.ts";
import { elapsedMs } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import { type Call, isCallersAbort } from "./call.ts";
import { checkExtended } from "./check-extended.ts";
import { type CheckRequest, judgeOptionsOf, refusedBy, unverifiable } from "./check-request.ts";
import { effectiveCard } from "./pinned.ts";
import { pinForPlan } from "./renegotiate.ts";
import type { LeaseHolder, Session } from "./session.ts";
import { followSigner, isSignedByPin } from "./signer.ts";

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
      await settleDrift(session, refusedBy(request, renewal.refusal), renewal.drift, renewal.reading);
      // A public card that the posture takes says nothing of the extended one.
      return renewal.reading?.via === "term" ? undefined : checkExtended(session, request);
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
  if (capability && card.capabilities[capability] !== true) {
    throw new CapabilityMissingError(capability, operation, pin.digest);
  }
  const unmet = unmetRequirements(card, requirements, session.options.extensions);
  if (unmet.length > 0) throw new RequirementUnmetError(unmet, pin.digest);
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
