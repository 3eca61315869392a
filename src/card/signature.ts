import type { CardSignatureVerdict, CardSigner, CheckedSignature } from "../model/signature.ts";
import { deepFreeze } from "../util/freeze.ts";
import { checkSignature, trustedFor } from "./check-signature.ts";
import { createCardForms } from "./forms.ts";
import { expectKeySet } from "./jku.ts";
import { readHeader } from "./jws-header.ts";
import { maxSignatures } from "./signature-options.ts";
import type { SignatureAsked } from "./signature-rules.ts";

/**
 * Says what the signatures of a card are worth (8.4.3). Each key counts once, and each key id once.
 *
 * @throws the signal's reason, and nothing else.
 */
export async function judgeSignatures(asked: SignatureAsked): Promise<CardSignatureVerdict> {
  const { json, rules } = asked;
  const { signatures: given = [] } = json;
  const listed = Array.isArray(given) ? given : given === null ? [] : [given];
  const checked: CheckedSignature[] = [];
  const signers: CardSigner[] = [];
  const forms = createCardForms(json, rules.profiles);
  const question = { ...asked, keySets: asked.keySets?.forCard() };
  const headers = listed.slice(0, maxSignatures).map((entry) => readHeader(entry, rules.algorithms));
  for (const header of headers) {
    if ("result" in header) continue;
    const { named, possible } = trustedFor(header, rules.keys);
    if (named.length === 0 && possible.length === 0) expectKeySet(header, question);
  }
  for (const header of headers) {
    const one = "result" in header ? header : await checkSignature(header, forms, question);
    checked.push(countOnce(one, signers));
  }
  if (listed.length > maxSignatures) {
    const message = `found ${listed.length} signatures, wanted at most ${maxSignatures}`;
    checked.push({ result: "unverifiable", problem: "too-many", message });
  }
  return deepFreeze({ ...summary(checked, signers, question.rules.threshold), signers, signatures: checked });
}

/** Takes note of who signed; a key or a key id that was counted already does not count again. */
function countOnce(one: CheckedSignature, signers: CardSigner[]): CheckedSignature {
  const { thumbprint, kid, algorithm, profile } = one;
  if (one.result !== "valid" || !thumbprint || !algorithm || !profile) return one;
  const isKnown = signers.some(
    (signer) => signer.thumbprint === thumbprint || (kid !== undefined && signer.kid === kid),
  );
  if (isKnown)
    return { ...one, problem: "repeated", message: "found another signature by the same key or key id" };
  signers.push({ thumbprint, algorithm, profile, ...(kid === undefined ? {} : { kid }) });
  return one;
}

/** What all signatures together come to: the first that applies of valid, invalid, unverifiable, untrusted. */
function summary(
  checked: readonly CheckedSignature[],
  signers: readonly CardSigner[],
  threshold: number,
): Pick<CardSignatureVerdict, "result" | "message"> {
  if (checked.length === 0) return { result: "unsigned", message: "found no signature" };
  if (signers.length >= threshold) return { result: "valid", message: "" };
  const counted =
    signers.length > 0 || threshold > 1 ? `found ${signers.length} trusted signers, wanted ${threshold}` : "";
  const [worst] = (["invalid", "unverifiable", "untrusted-signer"] as const).flatMap(
    (result) => checked.find((one) => one.result === result) ?? [],
  );
  if (worst?.result === undefined) return { result: "untrusted-signer", message: counted };
  const { result, kid, message } = worst;
  const named = kid === undefined ? message : `key id ${JSON.stringify(kid)}: ${message}`;
  return {
    result: result === "valid" ? "untrusted-signer" : result,
    message: [counted, named].filter(Boolean).join("; "),
  };
}

/** Thumbprints of the trusted keys that signed a card. */
export function thumbprintsOf(verdict: CardSignatureVerdict | undefined): readonly string[] {
  return (verdict?.signers ?? []).map(({ thumbprint }) => thumbprint);
}

/** Whether the keys of some signature could not be read, so that there is no telling who made it. */
export function hasUnreadKeys(verdict: CardSignatureVerdict | undefined): boolean {
  return (verdict?.signatures ?? []).some(({ problem }) => problem?.startsWith("keys-") === true);
}

/** Whether asking again may show more: a key set could not be read, and what could does not do. */
export function isTransient(verdict: CardSignatureVerdict | undefined): boolean {
  return verdict?.result !== "valid" && hasUnreadKeys(verdict);
}
