import { hasUnreadKeys, isTransient } from "../card/signature.ts";
import { signerFailure } from "../card/verifier.ts";
import { judgeExtended } from "../lease/judge-extended.ts";
import { signersFor } from "../lease/judge-signer.ts";
import { decideDrift } from "../lease/posture.ts";
import type { CardPin } from "../model/pin.ts";
import { defined } from "../util/freeze.ts";
import { type CheckRequest, judgeOptionsOf, refusedBy, unverifiable } from "./check-request.ts";
import { type ExtendedReading, readExtendedShared } from "./extended.ts";
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
  const { holder, requirements, phase, signal } = request;
  const { pin } = holder;
  const { extended, ...publicPin } = pin;
  if (!extended) return;
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
  const judge = judgeOptionsOf(session, phase, request.policy ?? holder.policy);
  const signers = signersFor(pin, signature);
  const verdict = judgeExtended({ ...pin, extended }, live, requirements, { ...judge, signers });
  if (verdict.outcome === "same") {
    if (refusal) throw unverifiable(request, pin.interface.url, refusal);
    return;
  }
  const taskId = holder.task?.id;
  session.observer.emit("drift", { ...defined({ taskId }), drift: verdict.drift });
  const { posture } = request.policy ?? holder.policy;
  const isVouched = isVouchedFor(session, pin, signature);
  const decision = refusal ? "fail" : decideDrift(posture, verdict.drift, holder.task, isVouched);
  if (decision === "fail") throw holder.end(verdict.drift, refusedBy(request, refusal).cause);
  await holder.repin(Object.freeze({ ...pin, extended: live }), verdict.drift);
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
