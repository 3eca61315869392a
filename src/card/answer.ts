/** What a conditional read is made with, and what a full read brings. */
export interface CardValidators {
  /** `ETag`. */
  readonly etag?: string;
  /** `Last-Modified`. */
  readonly lastModified?: string;
}

/** What one read of a card URL brought. */
export type CardAnswer =
  | {
      readonly kind: "card";
      readonly bytes: Uint8Array;
      readonly validators: CardValidators;
      readonly mediaType: string;
      /** What went out with the read, which no error about the card may hold. */
      readonly secrets: readonly string[];
      readonly ageSeconds?: number;
      /** For how long the answer may be used without asking, by RFC 9111, in milliseconds. */
      readonly freshForMs: number;
    }
  | {
      readonly kind: "not-modified";
      readonly validators: CardValidators;
      readonly ageSeconds?: number;
      /** For how long, from now on. */
      readonly freshForMs: number;
    }
  /** 404, 405 or 410: nothing there. */
  | { readonly kind: "absent"; readonly status: number };
