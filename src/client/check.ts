import type { FlightKind } from "../card/flight.ts";
import { shapeCard } from "../card/parse.ts";
import { A2ALeaseError } from "../errors/base.ts";
import { CapabilityMissingError, LeaseUnverifiableError, RequirementUnmetError } from "../errors/lease.ts";
import type { JudgeOptions } from "../lease/judge.ts";
import { renewLease } from "../lease/renew.ts";
import { unmetRequirements } from "../lease/requirements.ts";
import type { AgentCard } from "../model/card.ts";
import type { DriftPhase } from "../model/drift.ts";
import { type OperationName, operationFacts } from "../model/operations.ts";
import type { CardPin } from "../model/pin.ts";
import type { CardRequirements } from "../model/requirements.ts";
import type { LeaseHolder, Session } from "./session.ts";

/** One check of the card, for whom and why. */
export interface CheckRequest {
  readonly holder: LeaseHolder;
  readonly requirements: CardRequirements;
  readonly phase: DriftPhase;
  readonly signal: AbortSignal;
  /** The surprise that forces the check; the cause of whatever the check throws. */
  readonly cause?: unknown;
}

/**
 * Checks that the live card is still the one that the holder pinned. A check with the phase `"forced"` is a full read
 * that began after it was asked for.
 *
 * @throws CardDriftError, and ends the holder's lease; LeaseUnverifiableError when there is no telling; the signal's
 * reason.
 */
export async function checkLease(session: Session, request: CheckRequest): Promise<void> {
  const { holder, phase, signal, cause } = request;
  const { source } = session;
  const kind: FlightKind = phase.check === "forced" ? "forced" : "ordinary";
  const renewal = await renewLease(source, {
    pin: holder.pin,
    requirements: request.requirements,
    kind,
    signal,
    judge: judgeOptionsOf(session, phase),
  });
  switch (renewal.outcome) {
    case "renewed":
      session.lastReading = renewal.reading;
      return;
    case "drift":
      throw holder.end(renewal.drift, cause);
    case "unverifiable": {
      if (signal.aborted) throw signal.reason;
      const { failure } = renewal;
      const retryAfterMs = failure instanceof A2ALeaseError ? failure.retryAfterMs : undefined;
      throw new LeaseUnverifiableError(
        source.url ?? "",
        cause === undefined
          ? { cause: failure, retryAfterMs }
          : { cause, checkFailure: failure, retryAfterMs },
      );
    }
  }
}

/** What the session's judgements depend on beside the cards. */
export function judgeOptionsOf(session: Session, phase: DriftPhase): JudgeOptions {
  const { options, source, binding, clock } = session;
  return {
    compare: options.compare,
    bindings: [binding.name],
    extensions: options.extensions,
    phase,
    atMs: clock.now(),
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
  const card = pinnedCard(pin);
  const unmet = unmetRequirements(card, requirements, session.options.extensions);
  if (unmet.length > 0) throw new RequirementUnmetError(unmet, pin.digest);
  if (capability && card.capabilities[capability] !== true) {
    throw new CapabilityMissingError(capability, operation, pin.digest);
  }
}

const views = new WeakMap<CardPin, AgentCard>();

/** The typed view of a pinned card; made once for each pin. */
export function pinnedCard(pin: CardPin): AgentCard {
  const known = views.get(pin);
  if (known) return known;
  const { card } = shapeCard(pin.card, pin.digest);
  views.set(pin, card);
  return card;
}
