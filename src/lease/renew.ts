import type { FlightKind } from "../card/flight.ts";
import { hasUnreadKeys, thumbprintsOf } from "../card/signature.ts";
import type { CardReading, CardSource } from "../card/source.ts";
import { signerFailure } from "../card/verifier.ts";
import type { CardChange, CardDrift } from "../model/drift.ts";
import type { CardPin } from "../model/pin.ts";
import type { CardRequirements } from "../model/requirements.ts";
import { type JudgeOptions, judgeSnapshot } from "./judge.ts";
import { signersFor } from "./judge-signer.ts";

/** What a check of a pin against the live card came to. */
export type Renewal =
  | {
      readonly outcome: "renewed";
      readonly reading: Extract<CardReading, { kind: "card" }>;
      /** What changed and does not count under the comparison that was asked for. */
      readonly changes: readonly CardChange[];
    }
  | {
      readonly outcome: "drift";
      readonly drift: CardDrift;
      /** The live card; absent when it is gone, or was refused. */
      readonly reading?: Extract<CardReading, { kind: "card" }>;
      /** Why the live card was refused. */
      readonly refusal?: unknown;
    }
  | { readonly outcome: "unverifiable"; readonly failure: unknown };

/** What a renewal is asked with. */
export interface RenewalRequest {
  readonly pin: CardPin;
  readonly requirements: CardRequirements;
  readonly kind: FlightKind;
  readonly judge: JudgeOptions;
  readonly signal: AbortSignal;
}

/** Asks the card source for the live card, then judges it against the pin. */
export async function renewLease(source: CardSource, request: RenewalRequest): Promise<Renewal> {
  const { pin, requirements, judge } = request;
  let reading: CardReading;
  try {
    reading = await source.check(request.kind, request.signal);
  } catch (failure) {
    return { outcome: "unverifiable", failure };
  }
  if (reading.kind === "withdrawn") {
    const verdict = judgeSnapshot(pin, undefined, requirements, judge);
    return verdict.outcome === "drift" ? verdict : { outcome: "unverifiable", failure: reading };
  }
  if (reading.kind === "card") return judgeReading(reading, request, source);
  const { refusal: failure, snapshot } = reading;
  // A card that is refused says nothing of a pin, unless the pin says who must have signed.
  if (pin.signer === undefined) return { outcome: "unverifiable", failure };
  const verdict = judgeSnapshot(pin, snapshot, requirements, {
    ...judge,
    signers: thumbprintsOf(snapshot.signature),
  });
  return verdict.outcome === "drift"
    ? { ...verdict, refusal: failure }
    : { outcome: "unverifiable", failure };
}

/** Judges a card that was read against the pin. */
export function judgeReading(
  reading: Extract<CardReading, { kind: "card" }>,
  { pin, requirements, judge }: Pick<RenewalRequest, "pin" | "requirements" | "judge">,
  { history, url }: Pick<CardSource, "history" | "url">,
): Renewal {
  const { snapshot } = reading;
  const { signature } = snapshot;
  const signers = thumbprintsOf(signature);
  if (pin.signer !== undefined && signature && hasUnreadKeys(signature) && !signers.includes(pin.signer)) {
    // Somebody else's signature counts, and whether the pinned key's does can't be told now.
    return { outcome: "unverifiable", failure: signerFailure(url, signature, pin.signer) };
  }
  const verdict = judgeSnapshot(pin, snapshot, requirements, {
    ...judge,
    signers: signersFor(pin, signature),
    flapping: history.isFlapping(snapshot.digest),
    rolledBack: history.isRolledBack(snapshot.card.version),
  });
  return verdict.outcome === "drift"
    ? { ...verdict, reading }
    : { outcome: "renewed", reading, changes: verdict.changes };
}
