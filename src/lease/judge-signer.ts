import { thumbprintsOf } from "../card/signature.ts";
import type { AgentCard } from "../model/card.ts";
import type { CardChange } from "../model/drift.ts";
import type { CardPin } from "../model/pin.ts";
import type { CardSignatureVerdict } from "../model/signature.ts";

/**
 * A pin that names a signer wants a valid signature by that key on the live card, even at an equal digest; on the
 * extended card as on the public one.
 */
export function judgeSigner(
  pin: CardPin,
  live: Pick<AgentCard, "signatures">,
  signers: readonly string[] = [],
): CardChange | undefined {
  if (pin.signer === undefined || signers.includes(pin.signer)) return undefined;
  const isGone = (live.signatures ?? []).length === 0;
  return Object.freeze({
    pointer: "/signatures",
    kind: isGone ? "signature-removed" : "signer-changed",
    before: pin.signer,
    after: isGone ? undefined : signers,
    impact: "security",
  });
}

/** What became of the signer says more than that the signatures went. */
export function withSignature(
  signature: CardChange | undefined,
  changes: readonly CardChange[],
): readonly CardChange[] {
  return signature ? [signature, ...changes.filter((item) => item.kind !== "signature-removed")] : changes;
}

/** Who signed, for a judgement. Where nobody asks for signatures, nobody asks who signed. */
export function signersFor(pin: CardPin, verdict: CardSignatureVerdict | undefined): readonly string[] {
  return verdict ? thumbprintsOf(verdict) : [pin.signer ?? ""];
}
