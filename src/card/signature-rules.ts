import type { JsonObject } from "../model/schema.ts";
import type { CardSignatureProfile } from "../model/signature.ts";
import type { CardKeySets, KeySets } from "./key-sets.ts";
import type { VerificationKey } from "./keys.ts";

/** What the signatures of a card are judged by. */
export interface SignatureRules {
  /** Keys that are trusted. */
  readonly keys: readonly VerificationKey[];
  /** Origins whose key sets are trusted. */
  readonly jkuOrigins: readonly string[];
  /** How many different trusted keys must have signed. */
  readonly threshold: number;
  /** Algorithms that are accepted. */
  readonly algorithms: readonly string[];
  /** Forms of the card that are accepted. */
  readonly profiles: readonly CardSignatureProfile[];
}

/** One judgement of a card's signatures, as it is asked for. */
export interface SignatureAsked {
  /** The card as received. */
  readonly json: JsonObject;
  readonly rules: SignatureRules;
  /** Reads the key sets that signatures name; without it none is read. */
  readonly keySets: KeySets | undefined;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  readonly signal: AbortSignal;
}

/** One judgement of a card's signatures under way. */
export interface SignatureQuestion extends Omit<SignatureAsked, "keySets"> {
  /** The same, within the bounds of one card. */
  readonly keySets: CardKeySets | undefined;
}
