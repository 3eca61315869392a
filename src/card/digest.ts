import type { AgentCard } from "../model/card.ts";
import type { CardDigests } from "../model/pin.ts";
import type { JsonObject } from "../model/schema.ts";
import { sha256HexOfText } from "../util/hash.ts";
import { canonicalJson } from "../util/json.ts";
import { type CardInput, cardFromInput } from "./parse.ts";
import { cardStructure } from "./structure.ts";

/**
 * The content digest of a card: `sha256:` and lower-case hex of SHA-256 over the RFC 8785 form of the card as it was
 * received, without its `signatures`. Unknown members count.
 *
 * @param card - the card as an object, as JSON text, or as the bytes received.
 * @throws CardUnreadableError and CardInvalidError for text or bytes that are no I-JSON object.
 * @throws TypeError for an object with a value that JSON can't carry.
 */
export function cardDigest(card: CardInput): string {
  return contentDigest(cardFromInput(card).json);
}

/**
 * The structural digest of a card: `sha256-s1:` and lower-case hex of SHA-256 over what a plan can depend on, without
 * text and without order that means nothing.
 *
 * @param card - the card as an object, as JSON text, or as the bytes received.
 * @throws CardUnreadableError and CardInvalidError for what is no agent card.
 */
export function cardStructureDigest(card: CardInput): string {
  return structuralDigest(cardFromInput(card).card());
}

/** Both digests of a card, from its JSON and its typed view. */
export function digestsOf(json: JsonObject, card: AgentCard): CardDigests {
  return { digest: contentDigest(json), structuralDigest: structuralDigest(card) };
}

/** Content digest of a card's JSON. */
export function contentDigest(json: JsonObject): string {
  const { signatures: _excluded, ...content } = json;
  return `sha256:${sha256HexOfText(canonicalJson(content))}`;
}

function structuralDigest(card: AgentCard): string {
  return `sha256-s1:${sha256HexOfText(canonicalJson(cardStructure(card)))}`;
}
