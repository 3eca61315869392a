import type { AgentInterface } from "./card.ts";
import type { CardSignatureVerdict } from "./signature.ts";

/** The right to go on believing a pin, as it stands now. */
export interface Lease {
  /** URL of the card that is checked. */
  readonly url: string;
  /** Content digest of the card that was last read. */
  readonly digest: string;
  /** When that card was last seen to be live, RFC 3339. */
  readonly fetchedAt: string;
  /** The chosen interface. */
  readonly interface: AgentInterface;
  /** Whether the last check could not be made, so that the card may have changed unseen. */
  readonly stale: boolean;
  /** Whether the chosen interface lives at the card's own origin. */
  readonly sameOrigin: boolean;
  /** Seconds that the card had already spent in caches when it was read, where a cache said so (`Age`). */
  readonly ageSeconds?: number;
  /** What the signatures of that card are worth; absent where they are ignored. */
  readonly signature?: CardSignatureVerdict;
}
