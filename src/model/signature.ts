/**
 * A way to write a card before it is signed.
 *
 * - `spec`: RFC 8785 over the members that 8.4.1 wants; members that the spec does not have stay.
 * - `a2a-js`: as the JavaScript SDK does: members of the spec alone, and nothing that is empty, REQUIRED or not.
 * - `a2a-python`: as the Python SDK does: the same; its older releases also write non-ASCII text as escapes.
 * - `as-received`: RFC 8785 over the card exactly as it is served.
 *
 * A form leaves out what it does not sign: under `a2a-js` and `a2a-python` nobody vouches for members that the spec does
 * not have, and nobody for whether an empty member is there.
 */
export type CardSignatureProfile = "spec" | "a2a-js" | "a2a-python" | "as-received";

/**
 * What a look at a card's signatures showed.
 *
 * - `valid`: as many trusted keys as were asked for signed this very card.
 * - `invalid`: a signature does not fit the card, or is none at all.
 * - `unsigned`: there is no signature.
 * - `untrusted-signer`: whoever signed is nobody that the caller trusts.
 * - `unverifiable`: there is no telling, because a key can't be read or an algorithm is not accepted.
 */
export type CardSignatureResult = "valid" | "invalid" | "unsigned" | "untrusted-signer" | "unverifiable";

/**
 * Why one signature does not count.
 *
 * - `malformed`: no JSON Web Signature. `critical-header`: it demands (`crit`) what is not known here.
 * - `mismatch`: it fits the card in no form that was tried. `other-profile`: it fits in a form that was not accepted.
 * - `key-unfit`: the key can't have made it: another kind of key than the algorithm needs, or too weak a one.
 * - `algorithm-refused`: an algorithm that is not accepted. `algorithm-none`: no algorithm, so no signature.
 * - `no-key`: nobody trusted has this key id. `key-expired`: the key is past its time, or not yet in force.
 * - `jku-refused`: it names a key set at an origin that is not allowed. `key-unknown`: the set that it names lacks the key.
 * - `keys-unreachable`, `keys-too-large`, `keys-too-many`, `keys-malformed`: the set can't be read, and how.
 * - `repeated`: another signature by the same key was counted. `too-many`: one too many to look at, to try with a key, or
 *   to read a key set for.
 */
export type CardSignatureProblem =
  | "malformed"
  | "critical-header"
  | "mismatch"
  | "other-profile"
  | "key-unfit"
  | "algorithm-refused"
  | "algorithm-none"
  | "no-key"
  | "key-expired"
  | "jku-refused"
  | "key-unknown"
  | "keys-unreachable"
  | "keys-too-large"
  | "keys-too-many"
  | "keys-malformed"
  | "repeated"
  | "too-many";

/** A card as one form writes it, by its digest. */
export interface CanonicalForm {
  /** Which form. */
  readonly profile: CardSignatureProfile;
  /** `sha256:` and hex of the text in UTF-8. */
  readonly digest: string;
  /** First position, in characters (UTF-16 code units), where the text parts from that of the spec; absent where it does not. */
  readonly differsAt?: number;
  /** What stands there, a few characters. */
  readonly excerpt?: string;
  /** What stands there in the text of the spec. */
  readonly specExcerpt?: string;
}

/** What became of one signature. */
export interface CheckedSignature {
  /** What it is. */
  readonly result: Exclude<CardSignatureResult, "unsigned">;
  /** Why it does not count; absent for one that does. */
  readonly problem?: CardSignatureProblem;
  /** What was found and what was wanted; `""` for one that counts. */
  readonly message: string;
  /** Key id that it names. */
  readonly kid?: string;
  /** Algorithm that it names. */
  readonly algorithm?: string;
  /** RFC 7638 thumbprint (SHA-256, base64url) of the key, for a signature that fits. */
  readonly thumbprint?: string;
  /** The form of the card that it fits. */
  readonly profile?: CardSignatureProfile;
  /** Every form that was tried, where it did not fit the one that counts. */
  readonly forms?: readonly CanonicalForm[];
}

/** A trusted key that signed a card. */
export interface CardSigner {
  /** RFC 7638 thumbprint (SHA-256, base64url) of the key. */
  readonly thumbprint: string;
  /** Key id that the signature names. */
  readonly kid?: string;
  /** Algorithm of the signature. */
  readonly algorithm: string;
  /** The form of the card that was signed. */
  readonly profile: CardSignatureProfile;
}

/** What the signatures of a card are worth. Frozen. */
export interface CardSignatureVerdict {
  /** What they come to. */
  readonly result: CardSignatureResult;
  /** The trusted keys that signed this very card, in card order, each once; may be some even where they are too few. */
  readonly signers: readonly CardSigner[];
  /** Every signature, in card order. */
  readonly signatures: readonly CheckedSignature[];
  /** What was found and what was wanted; `""` for `valid`. */
  readonly message: string;
}
