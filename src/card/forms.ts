import type { JsonObject } from "../model/schema.ts";
import type { CanonicalForm, CardSignatureProfile } from "../model/signature.ts";
import { sha256Hex } from "../util/hash.ts";
import { type CanonicalText, canonicalWriter, firstDifference } from "./canonical.ts";
import { encodePayload } from "./jose.ts";

/** One form of a card, as signatures are checked against it. */
export interface CardForm extends CanonicalText {
  /** What was signed, as bytes or as the base64url of them; made once for all signatures and keys. */
  payload(isEncoded: boolean): Promise<Uint8Array | string>;
  /** `sha256:` and hex of the text in UTF-8. */
  digest(): string;
}

/** The forms of one card, for all of its signatures: each is written, encoded and hashed at most once. */
export interface CardForms {
  /** Those that the caller accepts. */
  accepted(): readonly CardForm[];
  /** All others, for diagnosis. */
  others(): readonly CardForm[];
  /** The accepted forms, each against the spec's; with `all` the others too. */
  compared(all: boolean): readonly CanonicalForm[];
  /** Whether one more key may be tried with an accepted form; counts it. */
  mayTry(): boolean;
  /** Whether one more signature may be tried with the other forms; counts it. */
  mayDiagnose(): boolean;
}

/** Most trials of a key with a form that the signatures of one card cost, beside those for diagnosis. */
const maxTrials = 64;
/** Most signatures of one card that fit no accepted form and are tried with the others. */
const maxDiagnosed = 2;

/** Makes the forms of a card; nothing is written before it is asked for. */
export function createCardForms(json: JsonObject, profiles: readonly CardSignatureProfile[]): CardForms {
  const write = canonicalWriter(json);
  let accepted: readonly KnownForm[] | undefined;
  let others: readonly KnownForm[] | undefined;
  let tried = 0;
  let diagnosed = 0;

  const acceptedForms = () => {
    accepted ??= write(profiles).map(createForm);
    return accepted;
  };
  const otherForms = () => {
    const known = new Set(acceptedForms().map(({ text }) => text));
    others ??= write()
      .filter(({ text }) => !known.has(text))
      .map(createForm);
    return others;
  };
  const specText = () => write(["spec"])[0]?.text ?? "";

  return {
    accepted: acceptedForms,
    others: otherForms,
    compared(all) {
      const forms = new Map(
        [...acceptedForms(), ...(all ? otherForms() : [])].map((form) => [form.text, form]),
      );
      return write(all ? undefined : profiles).flatMap(({ text, profiles: named }) =>
        named.flatMap((profile) => forms.get(text)?.against(specText(), profile) ?? []),
      );
    },
    mayTry: () => ++tried <= maxTrials,
    mayDiagnose: () => ++diagnosed <= maxDiagnosed,
  };
}

interface KnownForm extends CardForm {
  against(spec: string, profile: CardSignatureProfile): CanonicalForm;
}

function createForm({ text, profiles }: CanonicalText): KnownForm {
  let bytes: Uint8Array | undefined;
  let encoded: Promise<string> | undefined;
  let hash: string | undefined;
  let parts: Omit<CanonicalForm, "profile" | "digest"> | undefined;
  const inBytes = () => {
    bytes ??= new TextEncoder().encode(text);
    return bytes;
  };
  const digest = () => {
    hash ??= `sha256:${sha256Hex(inBytes())}`;
    return hash;
  };
  return {
    text,
    profiles,
    async payload(isEncoded) {
      if (!isEncoded) return inBytes();
      encoded ??= encodePayload(inBytes());
      return encoded;
    },
    digest,
    against(spec, profile) {
      parts ??= parting(spec, text);
      return { profile, digest: digest(), ...parts };
    },
  };
}

function parting(spec: string, text: string): Omit<CanonicalForm, "profile" | "digest"> {
  const at = firstDifference(spec, text);
  return at === undefined
    ? {}
    : { differsAt: at, excerpt: excerpt(text, at), specExcerpt: excerpt(spec, at) };
}

function excerpt(text: string, at: number): string {
  return text.slice(at, at + 24);
}

/** How a signature is told of that fits the card in a form that is not accepted. */
export function otherForm(
  profile: CardSignatureProfile,
  forms: readonly CanonicalForm[],
  digest: string,
): string {
  const found = forms.find((form) => form.digest === digest);
  const wanted = forms.find((form) => form.profile === "spec");
  const parts =
    found?.differsAt === undefined
      ? ""
      : `; they part at character ${found.differsAt}: ${JSON.stringify(found.excerpt)} and ${JSON.stringify(found.specExcerpt)}`;
  return `the signature fits the card as ${profile} writes it (${digest}), which is not accepted; the spec's form is ${wanted?.digest}${parts}`;
}

/** How a signature is told of that fits the card in no form that was tried. */
export function noForm(forms: readonly CanonicalForm[], isDiagnosed: boolean): string {
  const listed = [...new Set(forms.map(({ digest }) => digest))].map((digest) => {
    const same = forms.filter((form) => form.digest === digest);
    const at = same[0]?.differsAt;
    const parts = at === undefined ? "" : `, parts from the spec's at character ${at}`;
    return `${same.map(({ profile }) => profile).join(", ")} ${digest}${parts}`;
  });
  return isDiagnosed
    ? `the signature fits the card in none of its forms: ${listed.join("; ")}`
    : `the signature fits the card in no accepted form: ${listed.join("; ")}; ` +
        `the others were tried for the first ${maxDiagnosed} such signatures alone`;
}
