import { A2ALeaseError } from "../errors/base.ts";
import { LeaseUnverifiableError } from "../errors/lease.ts";
import type { JudgeOptions } from "../lease/judge.ts";
import type { DriftPhase } from "../model/drift.ts";
import type { CardRequirements } from "../model/requirements.ts";
import type { LeaseHolder, LeasePolicy, Session } from "./session.ts";

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

/** What refused the live card is the cause, where nothing else is. */
export function refusedBy(request: CheckRequest, refusal: unknown): CheckRequest {
  return refusal === undefined ? request : { ...request, cause: request.cause ?? refusal };
}

/** There is no telling whether a pin still holds. What led to the check, where something did, is the cause. */
export function unverifiable(
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
