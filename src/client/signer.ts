import { thumbprintsOf } from "../card/signature.ts";
import type { CardReading } from "../card/source.ts";
import { signerOf } from "../lease/pin.ts";
import type { CardPin } from "../model/pin.ts";
import type { CardSignatureVerdict } from "../model/signature.ts";
import type { LeaseHolder, Session } from "./session.ts";

type CardRead = Extract<CardReading, { kind: "card" }>;

/** The first of several signers takes over from the pinned one, as long as that one still signs beside it. */
export async function followSigner(session: Session, holder: LeaseHolder, reading: CardRead): Promise<void> {
  const { pin } = holder;
  const next = { ...pin, ...signerOf(reading.snapshot.signature) };
  if (next.signer === pin.signer || !isSignedByPin(session, pin, reading)) return;
  await holder.replacePin(Object.freeze(next));
}

/** Whether the key that is pinned signed the live card, and the caller accepts what it signs. */
export function isSignedByPin(session: Session, pin: CardPin, { snapshot }: CardRead): boolean {
  return isVouchedFor(session, pin, snapshot.signature);
}

/** The same for a card, the public or the extended one, whose signatures are judged. */
export function isVouchedFor(
  { options }: Session,
  { signer }: CardPin,
  verdict: CardSignatureVerdict | undefined,
): boolean {
  if (!options.signatures.acceptSignedChanges || signer === undefined) return false;
  return verdict?.result === "valid" && thumbprintsOf(verdict).includes(signer);
}
