import { checkKind, checkOptions, type OptionKinds } from "../util/options.ts";
import type { Limits } from "../wire/limits.ts";
import type { ClientOptions, TimeoutOptions } from "./options.ts";

const clientOptions: OptionKinds<ClientOptions> = Object.freeze({
  credentials: "any",
  cardCredentials: ["on-demand", "always"],
  allowedOrigins: "list",
  principal: "text",
  requires: "object",
  preferredBindings: "list",
  bindings: "list",
  extensions: "list",
  pin: "object",
  expectedDigest: "text",
  acceptDigests: "list",
  lifecycle: ["enforce", "observe"],
  maxIdleRounds: "amount",
  trust: ["advisory", "required"],
  posture: "any",
  compare: ["content", "structure"],
  leaseTermMs: "any",
  staleIfErrorMs: "amount",
  maxUnverifiedMs: "amount",
  revalidateAt: "text",
  immutable: "any",
  fullCheckEveryMs: "amount",
  cancelConfirmMs: "amount",
  headers: "object",
  timeouts: "object",
  limits: "object",
  ledger: "object",
  fetch: "function",
  clock: "object",
  random: "function",
  retries: "any",
  signatures: "object",
  addressPolicy: "object",
  onAuthRequired: "function",
  signal: "object",
});

const timeouts: OptionKinds<TimeoutOptions> = Object.freeze({
  firstByteMs: "amount",
  idleMs: "amount",
  firstEventMs: "amount",
  totalMs: "amount",
});

/** Bounds on what comes back: each of them is a number. */
export const limitKinds: OptionKinds<Limits> = Object.freeze({
  cardBytes: "amount",
  cardDepth: "amount",
  keySetBytes: "amount",
  keySetKeys: "amount",
  responseBytes: "amount",
  responseDepth: "amount",
  errorBytes: "amount",
  eventBytes: "amount",
  redirects: "amount",
  pages: "amount",
  emptyPages: "amount",
});

/**
 * Checks that the options of a client are options of a client, and that each is of its kind, those within `timeouts`,
 * `limits`, `retries` and `immutable` too: one that is misspelt would not count.
 *
 * @throws TypeError naming the one that is none.
 */
export function checkClientOptions(given: ClientOptions): void {
  checkOptions(given, clientOptions);
  checkOptions(given.timeouts, timeouts, "timeouts");
  checkOptions(given.limits, limitKinds, "limits");
  if (given.leaseTermMs !== "http") checkKind("leaseTermMs", given.leaseTermMs, "amount");
  if (given.retries !== false) {
    const kinds = {
      maxAttempts: "amount",
      firstMs: "amount",
      longestMs: "amount",
      budget: "amount",
    } as const;
    checkOptions(given.retries, kinds, "retries");
  }
  if (typeof given.immutable !== "boolean") {
    checkOptions(given.immutable, { untilMs: "amount" }, "immutable");
  }
}
