import { CardSignatureError } from "../errors/card.ts";
import type { JsonObject } from "../model/schema.ts";
import type { CardSignatureVerdict } from "../model/signature.ts";
import type { Clock } from "../util/clock.ts";
import type { HttpExchange } from "../wire/http.ts";
import type { Limits } from "../wire/limits.ts";
import { createKeySets } from "./key-sets.ts";
import type { VerificationKey } from "./keys.ts";
import { hasUnreadKeys, isTransient, judgeSignatures } from "./signature.ts";
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
 * @throws TypeError naming the option for a key that is none, and for a demand that no card can meet.
 */
export async function createCardVerifier(
  options: ResolvedSignatureOptions,
  { http, clock, limits }: CardVerifierOptions,
): Promise<CardVerifier> {
  const { mode } = options;
  if (mode === "ignore") return { verify: async () => untaken };
  const keys: readonly VerificationKey[] = await readTrustedKeys(options.keys, "signatures.keys");
  requireMeetable(options, keys);
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

/** The error of a card, the public or the extended one, that the pinned key did not sign, whoever else did. */
export function signerFailure(
  url: string | undefined,
  verdict: CardSignatureVerdict,
  signer: string,
): CardSignatureError {
  const isOpen = hasUnreadKeys(verdict);
  const found = verdict.signers.map(({ thumbprint }) => thumbprint).join(", ");
  const by = found === "" ? verdict.message : `found a signature by ${found}`;
  const unread = isOpen ? "; a key set can't be read" : "";
  const result = verdict.result !== "valid" ? verdict.result : isOpen ? "unverifiable" : "untrusted-signer";
  const message = `${by}, wanted one by the pinned key ${signer}${unread}`;
  return new CardSignatureError(url, { ...verdict, result, message }, isOpen);
}

/** Where signatures are required, somebody must be able to make them. */
function requireMeetable(
  { mode, threshold, jkuOrigins }: ResolvedSignatureOptions,
  keys: readonly VerificationKey[],
): void {
  if (mode !== "require" || jkuOrigins.length > 0) return;
  const count = new Set(keys.map(({ thumbprint }) => thumbprint)).size;
  if (count === 0) {
    throw new TypeError(
      'signatures.keys: found no key and no jkuOrigins beside mode "require", wanted one of them: no card could pass',
    );
  }
  if (threshold <= count) return;
  throw new TypeError(
    `signatures.threshold: found ${threshold} beside ${count} different keys and no jkuOrigins, wanted at most ${count}`,
  );
}

function isTaken({ result }: CardSignatureVerdict, mode: CardSignatureOptions["mode"]): boolean {
  return result === "valid" || (mode !== "require" && result !== "invalid");
}
