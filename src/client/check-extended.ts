import { hasUnreadKeys, isTransient } from "../card/signature.ts";
import { signerFailure } from "../card/verifier.ts";
import type { CardSignatureError } from "../errors/card.ts";
import { judgeExtended } from "../lease/judge-extended.ts";
import { signersFor } from "../lease/judge-signer.ts";
import { decideDrift } from "../lease/posture.ts";
import type { CardPin, PinnedExtendedCard } from "../model/pin.ts";
import type { CardSignatureVerdict } from "../model/signature.ts";
import { defined } from "../util/freeze.ts";
import { type CheckRequest, judgeOptionsOf, refusedBy, unverifiable } from "./check-request.ts";
import { type ExtendedReading, readExtendedShared } from "./extended.ts";
import { publicCard } from "./pinned.ts";
import type { Session } from "./session.ts";
import { isVouchedFor } from "./signer.ts";

/**
 * Checks the extended card that is pinned, if one is, by the rules of the public one: who is pinned as the signer has to
 * have signed it, and a key set that can't be read leaves it open who did.
 *
 * @throws CardDriftError, and ends the holder's lease, unless the posture pins the live card; LeaseUnverifiableError
 * when there is no telling; the signal's reason.
 */
export async function checkExtended(session: Session, request: CheckRequest): Promise<void> {
  const { holder, phase, signal } = request;
  const { pin } = holder;
  const { extended, ...publicPin } = pin;
  if (!extended) return;
  if (publicCard(pin).capabilities.extendedAgentCard !== true) {
    // The posture took a card that has no extended one beside it: what is public counts in its place, if that will do.
    const { json: card, digest, structuralDigest, signature } = session.source.current;
    const live = { digest, structuralDigest, card };
    return settle(session, request, { live, signature, next: publicPin });
  }
  let reading: ExtendedReading | undefined;
  try {
    const kind = phase.check === "forced" ? "forced" : "ordinary";
    reading = await readExtendedShared(session, pin, kind, signal);
  } catch (failure) {
    if (signal.aborted) throw signal.reason;
    throw unverifiable(request, pin.interface.url, failure);
  }
  // These credentials no longer open it: what is public is all there is.
  if (!reading) return holder.replacePin(Object.freeze(publicPin));
  const open = openQuestion(pin, reading);
  if (open) throw unverifiable(request, pin.interface.url, open);
  const { extended: live, verdict: signature, refusal } = reading;
  return settle(session, request, { live, signature, refusal, next: { ...pin, extended: live } });
}

/** What stands in the place of the pinned extended card. */
interface Successor {
  readonly live: PinnedExtendedCard;
  readonly signature: CardSignatureVerdict | undefined;
  /** Why it is refused. */
  readonly refusal?: CardSignatureError | undefined;
  /** The pin with it. */
  readonly next: CardPin;
}

/** Judges what stands in the place of the extended card, and lets the posture say whether the work goes on with it. */
async function settle(
  session: Session,
  request: CheckRequest,
  { live, signature, refusal, next }: Successor,
): Promise<void> {
  const { holder, requirements, phase } = request;
  const { pin } = holder;
  const { extended } = pin;
  if (!extended) return;
  const judge = judgeOptionsOf(session, phase, request.policy ?? holder.policy);
  const signers = signersFor(pin, signature);
  const verdict = judgeExtended({ ...pin, extended }, live, requirements, { ...judge, signers });
  if (verdict.outcome === "same") {
    if (refusal) throw unverifiable(request, pin.interface.url, refusal);
    return next.extended ? undefined : holder.replacePin(Object.freeze(next));
  }
  const taskId = holder.task?.id;
  session.observer.emit("drift", { ...defined({ taskId }), drift: verdict.drift });
  const { posture } = request.policy ?? holder.policy;
  const isVouched = isVouchedFor(session, pin, signature);
  const decision = refusal ? "fail" : decideDrift(posture, verdict.drift, holder.task, isVouched);
  if (decision === "fail") throw holder.end(verdict.drift, refusedBy(request, refusal).cause);
  await holder.repin(Object.freeze(next), verdict.drift);
}

/** Why a reading says nothing of the pinned extended card; `undefined` where it can be judged. */
function openQuestion(pin: CardPin, { verdict, refusal }: ExtendedReading): unknown {
  const isOpen = pin.signer !== undefined && verdict && hasUnreadKeys(verdict);
  if (isOpen && !signersFor(pin, verdict).includes(pin.signer)) {
    return signerFailure(pin.interface.url, verdict, pin.signer);
  }
  // A card that is refused says nothing of a pin, unless the pin says who must have signed.
  return refusal && (pin.signer === undefined || isTransient(verdict)) ? refusal : undefined;
}
