import { shapeCard } from "../card/parse.ts";
import type { AgentCard } from "../model/card.ts";
import type { CardPin } from "../model/pin.ts";
import type { JsonObject } from "../model/schema.ts";
import { isRecord } from "../util/freeze.ts";

const views = new WeakMap<JsonObject, AgentCard>();

/** The typed view of the public card that is pinned: who is called, and where. */
export function publicCard(pin: CardPin): AgentCard {
  return viewOf(pin.card, pin.digest);
}

/** The typed view of the card that requirements are judged by: the extended one, once it was read. */
export function effectiveCard(pin: CardPin): AgentCard {
  return pin.extended ? viewOf(pin.extended.card, pin.extended.digest) : publicCard(pin);
}

/** Whether the card claims that history grows with the task; a capability of older cards that newer ones still carry. */
export function claimsHistory(pin: CardPin): boolean {
  const { capabilities } = pin.card;
  return isRecord(capabilities) && capabilities.stateTransitionHistory === true;
}

/** Made once for each card. */
function viewOf(json: JsonObject, digest: string): AgentCard {
  const known = views.get(json);
  if (known) return known;
  const { card } = shapeCard(json, digest);
  views.set(json, card);
  return card;
}
