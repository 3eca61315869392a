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

/** What a posture makes of a drift. A change of impact `security` fails under every posture. */
export function decideDrift(
  posture: Posture,
  drift: CardDrift,
  handle: LeasedTask | undefined,
): DriftDecision {
  if (posture === "fail-closed" || isUnacceptable(drift)) return "fail";
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
