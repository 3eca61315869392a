import { CardSignatureError } from "../errors/card.ts";
import type { JsonObject } from "../model/schema.ts";
import type { CardSignatureVerdict } from "../model/signature.ts";
import type { Clock } from "../util/clock.ts";
import type { HttpExchange } from "../wire/http.ts";
import type { Limits } from "../wire/limits.ts";
import { createKeySets } from "./key-sets.ts";
import type { VerificationKey } from "./keys.ts";
import { isTransient, judgeSignatures } from "./signature.ts";
import type { CardSignatureOptions, ResolvedSignatureOptions } from "./signature-options.ts";
import { readTrustedKeys } from "./trusted-keys.ts";

/** A card's signatures, judged; with the error that refuses the card where they are not what the caller asks for. */
export interface VerifiedCard {
  /** What the signatures are worth; `undefined` where nobody asks. */
  readonly verdict: CardSignatureVerdict | undefined;
  /** Why the card is refused; `undefined` for one that is taken. */
  readonly refusal: CardSignatureError | undefined;
}

/** Judges the signatures of cards before they become current. */
export interface CardVerifier {
  /**
   * Judges the signatures of one card.
   *
   * @param url - where the card came from; for the error.
   * @throws the signal's reason, and nothing else.
   */
  verify(json: JsonObject, url: string | undefined, signal: AbortSignal): Promise<VerifiedCard>;
}

/** What a verifier is made with. */
export interface CardVerifierOptions {
  readonly http: HttpExchange;
  readonly clock: Clock;
  readonly limits: Limits;
}

const untaken: VerifiedCard = Object.freeze({ verdict: undefined, refusal: undefined });

/**
 * Makes the verifier of one client. Keys that are handed in are read at once.
 *
 * @throws TypeError naming the option for a key that is none.
 */
export async function createCardVerifier(
  options: ResolvedSignatureOptions,
  { http, clock, limits }: CardVerifierOptions,
): Promise<CardVerifier> {
  const { mode } = options;
  if (mode === "ignore") return { verify: async () => untaken };
  const keys: readonly VerificationKey[] = await readTrustedKeys(options.keys, "signatures.keys");
  const keySets = options.jkuOrigins.length > 0 ? createKeySets({ http, clock, limits }) : undefined;
  return {
    async verify(json, url, signal) {
      const rules = { ...options, keys };
      const verdict = await judgeSignatures({ json, rules, keySets, atMs: clock.now(), signal });
      const refusal = isTaken(verdict, mode) ? undefined : signatureFailure(url, verdict);
      return Object.freeze({ verdict, refusal });
    },
  };
}

/** The error of a card whose signatures are not what somebody needs. */
export function signatureFailure(url: string | undefined, verdict: CardSignatureVerdict): CardSignatureError {
  return new CardSignatureError(url, verdict, isTransient(verdict));
}

function isTaken({ result }: CardSignatureVerdict, mode: CardSignatureOptions["mode"]): boolean {
  return result === "valid" || (mode !== "require" && result !== "invalid");
}
