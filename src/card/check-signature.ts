import type { CardSignatureProblem, CheckedSignature } from "../model/signature.ts";
import { type CardForm, type CardForms, noForm, otherForm } from "./forms.ts";
import { keysInSet, maxKeys } from "./jku.ts";
import { checkJws, type JwsCheck } from "./jose.ts";
import type { JwsHeader } from "./jws-header.ts";
import { isInForce, misfitOf, type VerificationKey } from "./keys.ts";
import type { SignatureQuestion } from "./signature-rules.ts";

/** Which trusted keys a signature is tried with: those that it names, else those that it may mean. */
export function trustedFor(
  { kid, algorithm }: JwsHeader,
  keys: readonly VerificationKey[],
): { readonly named: readonly VerificationKey[]; readonly possible: readonly VerificationKey[] } {
  const named = kid === undefined ? [] : keys.filter((key) => key.kid === kid || key.thumbprint === kid);
  if (named.length > 0) return { named, possible: [] };
  const possible = keys.filter(
    (key) => (kid === undefined || key.kid === undefined) && misfitOf(key, algorithm) === undefined,
  );
  return { named, possible };
}

/**
 * Checks one signature against the accepted forms of the card, and the first ones that fit none against the others. A
 * trusted key that has its key id is asked first, then those without a key id, then the key set that it names, where that
 * is allowed.
 *
 * @throws the signal's reason, and nothing else.
 */
export async function checkSignature(
  header: JwsHeader,
  forms: CardForms,
  question: SignatureQuestion,
): Promise<CheckedSignature> {
  const { kid, algorithm } = header;
  const about = { algorithm, ...(kid === undefined ? {} : { kid }) };
  let isDiagnosed: boolean | undefined;
  const trial: Trial = {
    header,
    forms,
    question,
    mayDiagnose() {
      isDiagnosed ??= forms.mayDiagnose();
      return isDiagnosed;
    },
  };
  const { named, possible } = trustedFor(header, question.rules.keys);
  if (named.length > 0) return { ...about, ...(await tryKeys(named, trial)) };
  const tried = possible.length > 0 ? await tryKeys(possible, trial) : undefined;
  if (tried && (tried.result === "valid" || tried.problem === "other-profile" || header.jku === undefined)) {
    return { ...about, ...tried };
  }
  const found = await keysInSet(header, question);
  if (!("keys" in found)) return { ...about, ...found };
  return { ...about, ...(await tryKeys(found.keys, trial)) };
}

type Tried = Omit<CheckedSignature, "kid" | "algorithm">;

/** One signature that is tried with keys. */
interface Trial {
  readonly header: JwsHeader;
  readonly forms: CardForms;
  readonly question: SignatureQuestion;
  /** Whether this signature may be tried with the forms that are not accepted. */
  mayDiagnose(): boolean;
}

/** What comes first is what is told where no key fits. */
const precedence: readonly (CardSignatureProblem | undefined)[] = [
  undefined,
  "other-profile",
  "malformed",
  "mismatch",
  "key-unfit",
  "key-expired",
  "too-many",
];

async function tryKeys(keys: readonly VerificationKey[], trial: Trial): Promise<Tried> {
  const { forms } = trial;
  const tried: Tried[] = [];
  const misfits: VerificationKey[] = [];
  for (const key of keys.slice(0, maxKeys)) {
    const one = await tryKey(key, trial);
    if (one?.result === "valid") return one;
    if (one) tried.push(one);
    else misfits.push(key);
  }
  if (misfits.length > 0)
    tried.push((await diagnose(misfits, trial)) ?? mismatch(forms, trial.mayDiagnose()));
  const [best] = tried.sort((a, b) => precedence.indexOf(a.problem) - precedence.indexOf(b.problem));
  return best ?? { result: "untrusted-signer", problem: "no-key", message: "found no key" };
}

/** Tries one key with the accepted forms; `undefined` where it fits none of them. */
async function tryKey(key: VerificationKey, trial: Trial): Promise<Tried | undefined> {
  const { header, forms, question } = trial;
  const { rules, atMs } = question;
  if (!isInForce(key, atMs)) {
    const message = "found a key that is revoked, past its time or not yet in force (8.4.3)";
    return { result: "untrusted-signer", problem: "key-expired", message };
  }
  const misfit = misfitOf(key, header.algorithm);
  if (misfit !== undefined) return { result: "invalid", problem: "key-unfit", message: misfit };
  for (const form of forms.accepted()) {
    if (!forms.mayTry()) {
      const message = "found more signatures and keys than are tried for one card";
      return { result: "unverifiable", problem: "too-many", message };
    }
    const check = await checkForm(form, key, trial);
    if (check === "malformed") {
      return { result: "invalid", problem: "malformed", message: "found no JSON Web Signature" };
    }
    if (check === "unfit-key") {
      const message = `found a key that is of no use for ${header.algorithm}`;
      return { result: "invalid", problem: "key-unfit", message };
    }
    const profile = form.profiles.find((name) => rules.profiles.includes(name));
    if (check === "fits" && profile) {
      return { result: "valid", message: "", thumbprint: key.thumbprint, profile };
    }
  }
  return undefined;
}

/** Looks for the form that a signature fits which fits no accepted one. */
async function diagnose(keys: readonly VerificationKey[], trial: Trial): Promise<Tried | undefined> {
  const { forms } = trial;
  if (!trial.mayDiagnose()) return undefined;
  for (const key of keys) {
    for (const form of forms.others()) {
      if ((await checkForm(form, key, trial)) !== "fits") continue;
      const { thumbprint } = key;
      const [profile = "spec"] = form.profiles;
      const compared = forms.compared(true);
      const message = otherForm(profile, compared, form.digest());
      return { result: "invalid", problem: "other-profile", message, thumbprint, profile, forms: compared };
    }
  }
  return undefined;
}

function mismatch(forms: CardForms, isDiagnosed: boolean): Tried {
  const compared = forms.compared(isDiagnosed);
  const message = noForm(compared, isDiagnosed);
  return { result: "invalid", problem: "mismatch", message, forms: compared };
}

async function checkForm(
  form: CardForm,
  key: VerificationKey,
  { header, question }: Trial,
): Promise<JwsCheck> {
  question.signal.throwIfAborted();
  const payload = await form.payload(header.isEncoded);
  return checkJws({ ...header, payload }, key.jwk);
}
