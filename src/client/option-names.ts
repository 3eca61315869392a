import { checkNames } from "./check-options.ts";
import type { ClientOptions } from "./options.ts";

const clientOptions: Readonly<Record<keyof ClientOptions, true>> = Object.freeze({
  credentials: true,
  cardCredentials: true,
  allowedOrigins: true,
  principal: true,
  requires: true,
  preferredBindings: true,
  bindings: true,
  extensions: true,
  pin: true,
  expectedDigest: true,
  acceptDigests: true,
  lifecycle: true,
  maxIdleRounds: true,
  trust: true,
  posture: true,
  compare: true,
  leaseTermMs: true,
  staleIfErrorMs: true,
  maxUnverifiedMs: true,
  revalidateAt: true,
  immutable: true,
  fullCheckEveryMs: true,
  cancelConfirmMs: true,
  headers: true,
  timeouts: true,
  limits: true,
  ledger: true,
  fetch: true,
  clock: true,
  random: true,
  retries: true,
  signatures: true,
  addressPolicy: true,
  onAuthRequired: true,
  signal: true,
});

/**
 * Checks that the options of a client are options of a client: one that is misspelt would not count.
 *
 * @throws TypeError naming the one that is none.
 */
export function checkClientOptionNames(given: ClientOptions): void {
  checkNames(given, Object.keys(clientOptions));
}
