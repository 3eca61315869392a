import type { CardSignatureVerdict } from "../model/signature.ts";
import { createScope } from "../util/abort.ts";
import { type Clock, systemClock } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import { checkOptions, type OptionKinds } from "../util/options.ts";
import { createHttp, type FetchLike } from "../wire/http.ts";
import { defaultLimits, type Limits } from "../wire/limits.ts";
import { createKeySets } from "./key-sets.ts";
import { type CardInput, cardFromInput } from "./parse.ts";
import { judgeSignatures } from "./signature.ts";
import { type SignatureCheckOptions, signatureCheckKinds, withDefaults } from "./signature-options.ts";
import { readTrustedKeys } from "./trusted-keys.ts";

/** Options of {@link verifyCardSignatures}. */
export interface VerifySignaturesOptions extends SignatureCheckOptions {
  /** Bounds on key sets. */
  readonly limits?: Partial<Pick<Limits, "keySetBytes" | "keySetKeys">>;
  /** The platform's fetch, or one of your own; used for key sets alone. @default globalThis.fetch */
  readonly fetch?: FetchLike;
  /** Time: whether a key is in force, and for how long a key set is waited for. @default the machine's clock */
  readonly clock?: Clock;
  /** Aborts the reading of key sets. */
  readonly signal?: AbortSignal;
}

const kinds: OptionKinds<VerifySignaturesOptions> = Object.freeze({
  ...signatureCheckKinds,
  limits: "object",
  fetch: "function",
  clock: "object",
  signal: "object",
});

/**
 * Says what the signatures of a card are worth (8.4): who signed it, and whether they signed this very card, as it was
 * received. Asks the network for nothing but key sets at `jkuOrigins`. The verdict is told and never thrown.
 *
 * @throws CardUnreadableError and CardInvalidError for text or bytes that are no I-JSON object.
 * @throws TypeError naming the option for a wrong option, or a key that is none.
 */
export async function verifyCardSignatures(
  card: CardInput,
  options: VerifySignaturesOptions = {},
): Promise<CardSignatureVerdict> {
  checkOptions(options, kinds, "options");
  checkOptions(options.limits, { keySetBytes: "amount", keySetKeys: "amount" }, "options.limits");
  const { clock = systemClock, fetch = (url, init) => globalThis.fetch(url, init) } = options;
  const { json } = cardFromInput(card);
  const resolved = withDefaults(options, "options");
  const rules = { ...resolved, keys: await readTrustedKeys(resolved.keys, "options.keys") };
  const scope = createScope(clock, [options.signal]);
  try {
    const limits = { ...defaultLimits, ...defined(options.limits ?? {}) };
    const keySets = createKeySets({ http: createHttp({ fetch, clock }), clock, limits });
    return await judgeSignatures({ json, rules, keySets, atMs: clock.now(), signal: scope.signal });
  } finally {
    scope.release();
  }
}
