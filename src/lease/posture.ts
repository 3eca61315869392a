import type { CardDrift, DriftReason } from "../model/drift.ts";
import type { DriftDecision, LeasedTask, Posture } from "../model/posture.ts";

/** Reasons that no posture accepts: who answers, or how it is secured, is not what was agreed to. */
const unacceptable: ReadonlySet<DriftReason> = new Set<DriftReason>([
  "signer-changed",
  "signature-removed",
  "rolled-back",
  "interface-moved",
  "security-changed",
  "protocol-version-changed",
  "card-withdrawn",
]);

/** Reasons that no posture accepts even of the pinned signer: that it is somebody else, or that nothing is there. */
const neverAcceptable: ReadonlySet<DriftReason> = new Set<DriftReason>([
  "signer-changed",
  "signature-removed",
  "card-withdrawn",
]);

/**
 * What a posture makes of a drift. A change of impact `security` fails under every posture, unless the pinned key signed
 * the live card and the caller accepts what it signs (`isVouched`).
 */
export function decideDrift(
  posture: Posture,
  drift: CardDrift,
  handle: LeasedTask | undefined,
  isVouched = false,
): DriftDecision {
  const refused = isVouched ? neverAcceptable.has(drift.reason) : isUnacceptable(drift);
  if (posture === "fail-closed" || refused) return "fail";
  if (posture.onDrift === "degrade") return drift.breaks.length === 0 ? "repin" : "fail";
  try {
    // A function in plain JavaScript may answer anything; only the one word goes on.
    return posture.onDrift(drift, handle) === "repin" ? "repin" : "fail";
  } catch {
    // A policy that fails has accepted nothing.
    return "fail";
  }
}

function isUnacceptable(drift: CardDrift): boolean {
  return unacceptable.has(drift.reason) || drift.changes.some((item) => item.impact === "security");
}
