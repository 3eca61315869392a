import type { CardSignatureProfile } from "../model/signature.ts";
import { isLoopback } from "../util/address.ts";
import { checkOptions, type OptionKinds } from "../util/options.ts";
import { defaultAlgorithms } from "./keys.ts";
import type { TrustedKeyInput } from "./trusted-keys.ts";

/** How signatures of cards are checked. */
export interface SignatureCheckOptions {
  /** Public keys that are trusted. @default none */
  readonly keys?: readonly TrustedKeyInput[];
  /**
   * Origins whose key sets (`jku`) are trusted, `"https://keys.example.com"`: https, or http on loopback. No key set of
   * any other origin is read, that of the card's own origin included. Whoever signs chooses among these and nothing else,
   * no redirect is followed, and so `addressPolicy` has no say: an address inside is read where you name it. @default none
   */
  readonly jkuOrigins?: readonly string[];
  /** How many different trusted keys must have signed, 16 at most. @default 1 */
  readonly threshold?: number;
  /** Algorithms that are accepted, some of the default ones. @default ES256 to ES512, EdDSA, RS256 to RS512, PS256 to PS512 */
  readonly algorithms?: readonly string[];
  /** Forms of the card that are accepted; the others are tried for diagnosis. @default ["spec"] */
  readonly profiles?: readonly CardSignatureProfile[];
}

/** What a client makes of the signatures of a card. */
export interface CardSignatureOptions extends SignatureCheckOptions {
  /**
   * `prefer` verifies what is signed where a key can be had, and refuses a card whose signature is invalid; `require`
   * refuses every card that is not validly signed by a trusted key, and wants `keys` or `jkuOrigins`; `ignore` looks at
   * no signature. @default "prefer"
   */
  readonly mode?: "ignore" | "prefer" | "require";
  /**
   * Whether a posture may accept a change of impact `security`, and an older version, on a card that the pinned key
   * signed. @default false
   */
  readonly acceptSignedChanges?: boolean;
}

/** The options with their defaults in. */
export type ResolvedSignatureOptions = Required<CardSignatureOptions>;

/** Most signatures of one card that are looked at. */
export const maxSignatures = 16;

/** What each option has to be, as far as that is not looked into below. */
export const signatureCheckKinds: OptionKinds<SignatureCheckOptions> = Object.freeze({
  keys: "list",
  jkuOrigins: "list",
  threshold: "any",
  algorithms: "list",
  profiles: "list",
});

const signatureKinds: OptionKinds<CardSignatureOptions> = Object.freeze({
  ...signatureCheckKinds,
  mode: ["ignore", "prefer", "require"],
  acceptSignedChanges: "flag",
});

const profileNames: readonly unknown[] = ["spec", "a2a-js", "a2a-python", "as-received"];

/**
 * Checks the options of a client once, at the door, and puts the defaults in. Keys are read later, since that takes time.
 *
 * @throws TypeError naming the option.
 */
export function resolveSignatureOptions(given: CardSignatureOptions): ResolvedSignatureOptions {
  checkOptions(given, signatureKinds, "signatures");
  return withDefaults(given, "signatures");
}

/**
 * Checks what options hold whose names were checked before, and puts the defaults in.
 *
 * @param option - what the options are called, for messages.
 * @throws TypeError naming the option.
 */
export function withDefaults(given: CardSignatureOptions, option: string): ResolvedSignatureOptions {
  const { mode = "prefer", threshold = 1, acceptSignedChanges = false } = given;
  if (!Number.isInteger(threshold) || threshold < 1 || threshold > maxSignatures) {
    throw new TypeError(
      `${option}.threshold: found ${String(threshold)}, wanted a whole number of 1 to ${maxSignatures}`,
    );
  }
  const algorithms = list(given.algorithms ?? defaultAlgorithms, `${option}.algorithms`, defaultAlgorithms);
  const profiles = list(given.profiles ?? ["spec"], `${option}.profiles`, profileNames);
  const { keys = [], jkuOrigins = [] } = given;
  for (const origin of jkuOrigins) checkOrigin(origin, `${option}.jkuOrigins`);
  return Object.freeze({ mode, threshold, acceptSignedChanges, algorithms, profiles, keys, jkuOrigins });
}

function list<T extends string>(
  given: readonly T[],
  option: string,
  known: readonly unknown[],
): readonly T[] {
  const wrong = given.find((item) => !known.includes(item));
  if (wrong === undefined && given.length > 0) return Object.freeze([...given]);
  throw new TypeError(`${option}: found ${JSON.stringify(wrong ?? [])}, wanted some of ${known.join(", ")}`);
}

/** Whoever can change an answer on its way could sign every card, so the way is https, or does not leave the machine. */
function checkOrigin(origin: unknown, option: string): void {
  const url = typeof origin === "string" && URL.canParse(origin) ? new URL(origin) : undefined;
  const isRight =
    url?.origin === origin && (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url)));
  if (isRight) return;
  throw new TypeError(
    `${option}: found ${JSON.stringify(origin)}, wanted an origin like "https://keys.example"`,
  );
}
