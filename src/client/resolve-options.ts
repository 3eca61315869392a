import { checkAddressPolicy } from "../card/address-policy.ts";
import { type ResolvedSignatureOptions, resolveSignatureOptions } from "../card/signature-options.ts";
import { checkExtensions, checkRequirements } from "../lease/requirements.ts";
import { checkLedger } from "../ledger/given.ts";
import { createMemoryLedger } from "../ledger/memory.ts";
import type { AuthRequiredHook } from "../model/auth-required.ts";
import type { Credentials } from "../model/credentials.ts";
import type { CardPin } from "../model/pin.ts";
import type { RetryOptions } from "../model/retry.ts";
import { systemClock } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import type { FetchLike } from "../wire/http.ts";
import { defaultLimits, type Limits } from "../wire/limits.ts";
import { checkPosture } from "./check-posture.ts";
import { checkHeaders } from "./headers.ts";
import type { ClientOptions, TimeoutOptions } from "./options.ts";
import { usualBudget } from "./retry-budget.ts";

/** The options with their defaults in. */
export interface ResolvedOptions
  extends Required<
    Omit<
      ClientOptions,
      | "credentials"
      | "onAuthRequired"
      | "pin"
      | "expectedDigest"
      | "revalidateAt"
      | "signal"
      | "signatures"
      | "timeouts"
      | "limits"
      | "random"
      | "retries"
    >
  > {
  readonly signatures: ResolvedSignatureOptions;
  readonly credentials: Credentials | undefined;
  readonly onAuthRequired: AuthRequiredHook | undefined;
  readonly pin: CardPin | undefined;
  readonly revalidateAt: string | undefined;
  readonly expectedDigest: string | undefined;
  readonly timeouts: Required<Omit<TimeoutOptions, "totalMs">> & { readonly totalMs: number | undefined };
  readonly limits: Limits;
  readonly retries: Required<RetryOptions> | undefined;
  readonly random: (() => number) | undefined;
}

const defaultRetries: Required<RetryOptions> = Object.freeze({
  maxAttempts: 3,
  firstMs: 250,
  longestMs: 5_000,
  budget: usualBudget,
});

/**
 * Checks what options hold, whose names and kinds were checked before, and puts the defaults in.
 *
 * @throws TypeError naming the option.
 */
export function resolveOptions(given: ClientOptions): ResolvedOptions {
  checkExtensions("extensions", given.extensions);
  checkPosture(given.posture);
  checkRequirements(given.requires);
  for (const origin of given.allowedOrigins ?? []) {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw new TypeError(
        `allowedOrigins: found ${JSON.stringify(origin)}, wanted an origin like "https://a.example"`,
      );
    }
  }
  if (given.ledger !== undefined) checkLedger(given.ledger);
  const { credentials } = given;
  if (
    credentials !== undefined &&
    typeof credentials !== "function" &&
    typeof credentials?.bearer !== "string"
  ) {
    throw new TypeError(
      "credentials: found neither { bearer } nor a function; providers for the schemes of a card go into createCredentials",
    );
  }
  if (typeof credentials === "object" && credentials.bearer === "") {
    throw new TypeError("credentials.bearer: found an empty text, wanted a token");
  }
  return Object.freeze({
    credentials,
    onAuthRequired: given.onAuthRequired,
    cardCredentials: given.cardCredentials ?? "on-demand",
    allowedOrigins: given.allowedOrigins ?? [],
    addressPolicy: checkAddressPolicy("addressPolicy", given.addressPolicy ?? {}),
    principal: given.principal ?? "default",
    requires: given.requires ?? {},
    preferredBindings: given.preferredBindings ?? [],
    bindings: given.bindings ?? [],
    extensions: given.extensions ?? [],
    pin: given.pin,
    expectedDigest: given.expectedDigest,
    acceptDigests: given.acceptDigests ?? [],
    lifecycle: given.lifecycle ?? "enforce",
    maxIdleRounds: given.maxIdleRounds ?? 3,
    trust: given.trust ?? "advisory",
    signatures: resolveSignatureOptions(given.signatures ?? {}),
    posture: given.posture ?? "fail-closed",
    compare: given.compare ?? "content",
    leaseTermMs: given.leaseTermMs ?? 0,
    staleIfErrorMs: given.staleIfErrorMs ?? 0,
    maxUnverifiedMs: given.maxUnverifiedMs ?? Number.POSITIVE_INFINITY,
    revalidateAt: given.revalidateAt,
    immutable: given.immutable ?? false,
    fullCheckEveryMs: given.fullCheckEveryMs ?? 60_000,
    cancelConfirmMs: given.cancelConfirmMs ?? 30_000,
    retries: given.retries === false ? undefined : { ...defaultRetries, ...defined(given.retries ?? {}) },
    headers: checkHeaders("headers", given.headers ?? {}),
    timeouts: Object.freeze({
      firstByteMs: given.timeouts?.firstByteMs ?? 30_000,
      idleMs: given.timeouts?.idleMs ?? 60_000,
      firstEventMs: given.timeouts?.firstEventMs ?? 30_000,
      totalMs: given.timeouts?.totalMs,
    }),
    limits: Object.freeze({ ...defaultLimits, ...defined(given.limits ?? {}) }),
    ledger: given.ledger ?? createMemoryLedger(),
    fetch: given.fetch ?? platformFetch,
    clock: given.clock ?? systemClock,
    random: given.random,
  });
}

/** The platform's fetch, looked up at each call, so that one put in its place later is used too. */
const platformFetch: FetchLike = (url, init) => globalThis.fetch(url, init);
