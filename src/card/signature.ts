import type { CardSignatureVerdict, CardSigner, CheckedSignature } from "../model/signature.ts";
import { deepFreeze } from "../util/freeze.ts";
import { type CanonicalText, canonicalTexts } from "./canonical.ts";
import { checkSignature } from "./check-signature.ts";
import { readHeader } from "./jws-header.ts";
import type { SignatureQuestion } from "./signature-rules.ts";

/** Most signatures of one card that are looked at. */
const maxSignatures = 16;

/**
 * Says what the signatures of a card are worth (8.4.3). Each key counts once, and each key id once.
 *
 * @throws the signal's reason, and nothing else.
 */
export async function judgeSignatures(question: SignatureQuestion): Promise<CardSignatureVerdict> {
  const { signatures: given = [] } = question.json;
  const listed = Array.isArray(given) ? given : given === null ? [] : [given];
  const checked: CheckedSignature[] = [];
  const signers: CardSigner[] = [];
  let made: readonly CanonicalText[] | undefined;
  const texts = () => {
    made ??= canonicalTexts(question.json);
    return made;
  };
  for (const entry of listed.slice(0, maxSignatures)) {
    const header = readHeader(entry, question.rules.algorithms);
    const one = "result" in header ? header : await checkSignature(header, texts, question);
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

/** Whether asking again may show more: a key set could not be read. */
export function isTransient(verdict: CardSignatureVerdict | undefined): boolean {
  const { result, signatures = [] } = verdict ?? {};
  return result === "unverifiable" && signatures.some(({ problem }) => problem === "keys-unreachable");
}
