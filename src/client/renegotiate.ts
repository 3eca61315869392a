import { requireInterface } from "../card/interface.ts";
import { shapeCard } from "../card/parse.ts";
import { attemptOf } from "../card/read.ts";
import type { CardSnapshot } from "../card/snapshot.ts";
import { A2ALeaseError } from "../errors/base.ts";
import { CardNotFoundError } from "../errors/card.ts";
import { LeaseUnverifiableError, RequirementUnmetError } from "../errors/lease.ts";
import { pinSnapshot } from "../lease/pin.ts";
import { checkRequirements, unmetRequirements } from "../lease/requirements.ts";
import type { CardPin, PinnedExtendedCard } from "../model/pin.ts";
import type { CardRequirements } from "../model/requirements.ts";
import { createScope } from "../util/abort.ts";
import { type CallOptions, checkCallOptions } from "./call.ts";
import { readExtendedShared, takeExtended } from "./extended.ts";
import { choiceOptionsOf, type Session } from "./session.ts";
import { limitWait } from "./wait-limits.ts";

/**
 * Reads the live card and takes a pin of it that meets the requirements.
 *
 * @throws LeaseUnverifiableError when the card can't be read; CardNotFoundError when it is gone; RequirementUnmetError
 * when it does not meet the plan; CardInvalidError, CardSignatureError, ProtocolVersionError and
 * NoSupportedInterfaceError when it can't be called.
 */
export async function pinLiveCard(
  session: Session,
  kind: "ordinary" | "forced",
  requirements: CardRequirements,
  options: CallOptions,
  extended?: PinnedExtendedCard,
): Promise<CardPin> {
  checkCallOptions(options);
  checkRequirements(requirements);
  const { source, clock } = session;
  const scope = createScope(clock, [options.signal, session.closed]);
  limitWait(scope, source.url ?? "", options);
  try {
    const reading = await source.check(kind, scope.signal);
    if (reading.kind === "withdrawn") {
      throw new CardNotFoundError([attemptOf(source.url ?? "", reading.status)]);
    }
    if (reading.kind === "refused") throw reading.refusal;
    const isMember = extended !== undefined;
    const live = isMember ? await liveExtended(session, reading.snapshot, scope.signal) : undefined;
    const pin = pinForPlan(session, reading.snapshot, requirements, live);
    session.lastReading = reading;
    session.isStale = false;
    // What the caller accepts is the newest version from now on, even a lower one.
    if (kind === "forced") source.history.resetMark(reading.snapshot.card.version);
    return pin;
  } catch (error) {
    if (scope.signal.aborted) throw scope.signal.reason;
    throw asRenegotiationError(source.url ?? "", error);
  } finally {
    scope.release();
  }
}

/** The extended card beside a public one that is about to be pinned; none where the agent no longer shows it. */
async function liveExtended(
  session: Session,
  snapshot: CardSnapshot,
  signal: AbortSignal,
): Promise<PinnedExtendedCard | undefined> {
  if (snapshot.card.capabilities.extendedAgentCard !== true) return undefined;
  const pin = pinForPlan(session, snapshot, {});
  const reading = await readExtendedShared(session, pin, "forced", signal);
  return reading && takeExtended(pin, reading);
}

/** Takes a pin of a card for a plan, or throws why the plan can't stand on it. */
export function pinForPlan(
  session: Session,
  snapshot: CardSnapshot,
  requirements: CardRequirements,
  extended?: PinnedExtendedCard,
): CardPin {
  const { clock, options } = session;
  const choice = requireInterface(snapshot.card, choiceOptionsOf(session), snapshot.bytesDigest);
  const effective = extended ? shapeCard(extended.card, extended.digest).card : snapshot.card;
  const unmet = unmetRequirements(effective, requirements, options.extensions);
  if (unmet.length > 0) throw new RequirementUnmetError(unmet, snapshot.digest);
  const pin = pinSnapshot(snapshot, choice.interface, clock.now());
  return extended ? Object.freeze({ ...pin, extended }) : pin;
}

/** A card that could not be read says nothing of the plan; a card that was read and won't do says so itself. */
function asRenegotiationError(url: string, error: unknown): unknown {
  const isAnswer =
    error instanceof CardNotFoundError || (error instanceof A2ALeaseError && error.retry === "never");
  if (isAnswer) return error;
  const retryAfterMs = error instanceof A2ALeaseError ? error.retryAfterMs : undefined;
  return new LeaseUnverifiableError(url, { cause: error, retryAfterMs });
}
