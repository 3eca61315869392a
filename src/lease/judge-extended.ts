import { diffReadCards } from "../card/diff.ts";
import { shapeCard } from "../card/parse.ts";
import type { CardVerdict } from "../model/drift.ts";
import type { CardPin, PinnedExtendedCard } from "../model/pin.ts";
import type { CardRequirements } from "../model/requirements.ts";
import { isoTime, systemClock } from "../util/clock.ts";
import { createDrift, driftReason } from "./drift.ts";
import type { JudgeOptions } from "./judge.ts";
import { judgeSigner, withSignature } from "./judge-signer.ts";
import { unmetRequirements } from "./requirements.ts";

/**
 * Judges a live extended card against the pinned one. The interface and the origin stay with the public card, so where
 * the extended one points does not count. A pin that names a signer wants it of both cards.
 */
export function judgeExtended(
  pin: CardPin & { readonly extended: PinnedExtendedCard },
  live: PinnedExtendedCard,
  requirements: CardRequirements,
  options: JudgeOptions,
): CardVerdict {
  const { extended } = pin;
  const isSame =
    live.digest === extended.digest ||
    (options.compare === "structure" && live.structuralDigest === extended.structuralDigest);
  const after = { json: live.card, card: shapeCard(live.card, live.digest).card };
  const signature = judgeSigner(pin, after.card, options.signers);
  if (isSame && !signature) return { outcome: "same", changes: [] };
  const before = { json: extended.card, card: shapeCard(extended.card, extended.digest).card };
  const changes = withSignature(signature, diffReadCards(before, after));
  const breaks = unmetRequirements(after.card, requirements, options.extensions);
  const reason = driftReason({ changes, breaks, moved: undefined, withdrawn: false, rolledBack: false });
  const drift = createDrift({
    pinned: pin,
    live: { ...live, version: after.card.version },
    reason,
    changes,
    breaks,
    flapping: false,
    at: isoTime(options.atMs ?? systemClock.now()),
    phase: options.phase ?? { operation: "revalidate", check: "before" },
  });
  return { outcome: "drift", drift };
}
