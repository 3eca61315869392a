import type { JsonObject } from "../model/schema.ts";
import type { CanonicalForm, CardSignatureProblem, CheckedSignature } from "../model/signature.ts";
import { originOfUrl } from "../util/address.ts";
import { sha256HexOfText } from "../util/hash.ts";
import { redactUrl } from "../util/redact.ts";
import { type CanonicalText, firstDifference } from "./canonical.ts";
import { checkJws } from "./jose.ts";
import type { JwsHeader } from "./jws-header.ts";
import { isInForce, misfitOf, readJwk, type VerificationKey } from "./keys.ts";
import type { SignatureQuestion } from "./signature-rules.ts";

/** Keys to try one signature with, or why there are none. */
type Candidates =
  | { readonly keys: readonly VerificationKey[] }
  | Pick<CheckedSignature, "result" | "problem" | "message">;

/** Most keys that one signature is tried with. */
const maxKeys = 16;

/**
 * Checks one signature against every known form of the card. A trusted key that has its key id is asked first, then those
 * without a key id, then the key set that it names, where that is allowed.
 *
 * @throws the signal's reason, and nothing else.
 */
export async function checkSignature(
  header: JwsHeader,
  texts: () => readonly CanonicalText[],
  question: SignatureQuestion,
): Promise<CheckedSignature> {
  const { kid, algorithm } = header;
  const named = { algorithm, ...(kid === undefined ? {} : { kid }) };
  const { keys } = question.rules;
  const own = kid === undefined ? [] : keys.filter((key) => key.kid === kid || key.thumbprint === kid);
  if (own.length > 0) return { ...named, ...(await tryKeys(own, header, texts, question)) };
  const others = keys.filter(
    (key) => (kid === undefined || key.kid === undefined) && misfitOf(key, algorithm) === undefined,
  );
  const tried = others.length > 0 ? await tryKeys(others, header, texts, question) : undefined;
  if (tried && (tried.result === "valid" || tried.problem === "other-profile" || header.jku === undefined)) {
    return { ...named, ...tried };
  }
  const found = await keysInSet(header, question);
  if (!("keys" in found)) return { ...named, ...found };
  return { ...named, ...(await tryKeys(found.keys, header, texts, question)) };
}

/** The keys that a signature's own key set has for it; only sets at allowed origins are read. */
async function keysInSet(header: JwsHeader, question: SignatureQuestion): Promise<Candidates> {
  const { kid, jku, algorithm } = header;
  if (jku === undefined) {
    const message = kid === undefined ? "found no key id" : "found a key id that no trusted key has";
    return { result: "untrusted-signer", problem: "no-key", message };
  }
  const { rules, keySets, signal } = question;
  const url = URL.canParse(jku) ? new URL(jku) : undefined;
  const isAllowed =
    url && rules.jkuOrigins.includes(originOfUrl(url) ?? "") && url.username === "" && url.password === "";
  if (!isAllowed || !keySets) {
    const message = `found a key set at ${redactUrl(jku)}, wanted one at ${rules.jkuOrigins.join(", ") || "no place at all"}`;
    return { result: "untrusted-signer", problem: "jku-refused", message };
  }
  url.hash = "";
  const hasKey = (keys: readonly JsonObject[]) =>
    kid === undefined ? keys.length > 0 : keys.some((key) => key.kid === kid);
  const reading = await keySets.read(url.href, hasKey, signal);
  if (!reading.ok) return { result: "unverifiable", problem: reading.problem, message: reading.message };
  const listed = kid === undefined ? reading.keys : reading.keys.filter((key) => key.kid === kid);
  const read = await Promise.all(listed.slice(0, maxKeys).map(readJwk));
  const usable = read.filter((key) => typeof key !== "string");
  // Without a key id, only a key that leaves no choice is meant.
  const meant = kid === undefined ? usable.filter((key) => misfitOf(key, algorithm) === undefined) : usable;
  if (meant.length > 0 && (kid !== undefined || meant.length === 1)) return { keys: meant };
  const why = read.find((key) => typeof key === "string");
  const message = `the key set at ${redactUrl(url.href)} has no such key${why === undefined ? "" : `: ${why}`}`;
  return { result: "untrusted-signer", problem: "key-unknown", message };
}

type Tried = Omit<CheckedSignature, "kid" | "algorithm">;

/** What comes first is what is told where no key fits. */
const precedence: readonly (CardSignatureProblem | undefined)[] = [
  undefined,
  "other-profile",
  "malformed",
  "mismatch",
  "key-unfit",
  "key-expired",
];

async function tryKeys(
  keys: readonly VerificationKey[],
  header: JwsHeader,
  texts: () => readonly CanonicalText[],
  question: SignatureQuestion,
): Promise<Tried> {
  const tried: Tried[] = [];
  for (const key of keys.slice(0, maxKeys)) tried.push(await tryKey(key, header, texts, question));
  const [best] = tried.sort((a, b) => precedence.indexOf(a.problem) - precedence.indexOf(b.problem));
  return best ?? { result: "untrusted-signer", problem: "no-key", message: "found no key" };
}

async function tryKey(
  key: VerificationKey,
  header: JwsHeader,
  texts: () => readonly CanonicalText[],
  { rules, atMs, signal }: SignatureQuestion,
): Promise<Tried> {
  if (!isInForce(key, atMs)) {
    const message = "found a key that is revoked, past its time or not yet in force (8.4.3)";
    return { result: "untrusted-signer", problem: "key-expired", message };
  }
  const misfit = misfitOf(key, header.algorithm);
  if (misfit !== undefined) return { result: "invalid", problem: "key-unfit", message: misfit };
  for (const { text, profiles } of texts()) {
    signal.throwIfAborted();
    const check = await checkJws({ ...header, payload: new TextEncoder().encode(text) }, key.jwk);
    if (check === "malformed") {
      return { result: "invalid", problem: "malformed", message: "found no JSON Web Signature" };
    }
    if (check === "unfit-key") {
      const message = `found a key that is of no use for ${header.algorithm}`;
      return { result: "invalid", problem: "key-unfit", message };
    }
    if (check === "misfits") continue;
    const { thumbprint } = key;
    const accepted = profiles.find((profile) => rules.profiles.includes(profile));
    if (accepted) return { result: "valid", message: "", thumbprint, profile: accepted };
    const forms = formsOf(texts());
    const profile = profiles[0] ?? "spec";
    const message = otherForm(profile, `sha256:${sha256HexOfText(text)}`, forms);
    return { result: "invalid", problem: "other-profile", message, thumbprint, profile, forms };
  }
  const forms = formsOf(texts());
  return { result: "invalid", problem: "mismatch", message: noForm(forms), forms };
}

const knownForms = new WeakMap<readonly CanonicalText[], readonly CanonicalForm[]>();

/** The card in all its forms, each against the spec's; made once for all its signatures. */
function formsOf(texts: readonly CanonicalText[]): readonly CanonicalForm[] {
  const forms = knownForms.get(texts) ?? compareForms(texts);
  knownForms.set(texts, forms);
  return forms;
}

function compareForms(texts: readonly CanonicalText[]): readonly CanonicalForm[] {
  const spec = texts.find(({ profiles }) => profiles.includes("spec"))?.text ?? "";
  return texts.flatMap(({ text, profiles }) => {
    const digest = `sha256:${sha256HexOfText(text)}`;
    const at = firstDifference(spec, text);
    const parting =
      at === undefined ? {} : { differsAt: at, excerpt: excerpt(text, at), specExcerpt: excerpt(spec, at) };
    return profiles.map((profile) => ({ profile, digest, ...parting }));
  });
}

function excerpt(text: string, at: number): string {
  return text.slice(at, at + 24);
}

function otherForm(profile: string, digest: string, forms: readonly CanonicalForm[]): string {
  const found = forms.find((form) => form.digest === digest);
  const wanted = forms.find((form) => form.profile === "spec");
  const parting =
    found?.differsAt === undefined
      ? ""
      : `; they part at character ${found.differsAt}: ${JSON.stringify(found.excerpt)} and ${JSON.stringify(found.specExcerpt)}`;
  return `the signature fits the card as ${profile} writes it (${digest}), which is not accepted; the spec's form is ${wanted?.digest}${parting}`;
}

function noForm(forms: readonly CanonicalForm[]): string {
  const listed = [...new Set(forms.map(({ digest }) => digest))].map((digest) => {
    const same = forms.filter((form) => form.digest === digest);
    const at = same[0]?.differsAt;
    const parting = at === undefined ? "" : `, parts from the spec's at character ${at}`;
    return `${same.map(({ profile }) => profile).join(", ")} ${digest}${parting}`;
  });
  return `the signature fits the card in none of its forms: ${listed.join("; ")}`;
}
