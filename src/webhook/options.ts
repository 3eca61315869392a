import { checkLedger } from "../ledger/given.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { PushUpdate } from "../model/push-update.ts";
import { type Clock, systemClock } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import { checkOptions, type OptionKinds } from "../util/options.ts";
import type { JwtVerification } from "./jwt-options.ts";

/** Bounds on what a webhook takes. */
export interface WebhookLimits {
  /** Longest body, in bytes; past it the answer is 413. @default 8 388 608 */
  readonly bodyBytes?: number;
  /** How long a body may take to arrive, in milliseconds; past it the answer is 408. @default 10 000 */
  readonly bodyMs?: number;
  /** Deepest nesting of a body. @default 128 */
  readonly bodyDepth?: number;
  /** Notifications that are taken at once; past it the answer is 429. @default 2048 */
  readonly pending?: number;
  /** Bytes of bodies that are held at once; past it the answer is 429. @default 67 108 864 */
  readonly pendingBytes?: number;
}

/** Options of {@link createWebhookReceiver}. */
export interface WebhookOptions {
  /** The ledger of the clients whose tasks are notified of, in this process or another. */
  readonly ledger: Ledger;
  /**
   * How a notification is verified. By the secret of its push configuration, which the ledger knows by its hash; or by
   * a JWT that the agent signed. @default "secret"
   */
  readonly verify?: "secret" | JwtVerification;
  /**
   * Hears the news, not the content, of each new thing that was pushed, once, after the ledger has it. It is not waited for, and what it throws goes
   * to `onError`. It gets no content: read the task, and the card is checked before it is delivered.
   */
  readonly onUpdate?: (update: PushUpdate) => unknown;
  /** Hears what failed: `onUpdate`, the ledger, the key set, a broken rule of a task's life. @default nobody */
  readonly onError?: (error: unknown) => unknown;
  /** Keeps a worker alive until what goes on after the answer is done: a platform's `waitUntil`. */
  readonly waitUntil?: (work: Promise<unknown>) => void;
  /** Bounds on what is taken. */
  readonly limits?: WebhookLimits;
  /** Time. @default the machine's clock */
  readonly clock?: Clock;
}

/** The options with their defaults in. */
export interface ResolvedWebhookOptions
  extends Required<Omit<WebhookOptions, "onUpdate" | "onError" | "waitUntil" | "limits">> {
  readonly onUpdate: (update: PushUpdate) => unknown;
  readonly onError: (error: unknown) => unknown;
  readonly waitUntil: (work: Promise<unknown>) => void;
  readonly limits: Required<WebhookLimits>;
}

const defaultLimits: Required<WebhookLimits> = Object.freeze({
  bodyBytes: 8 * 1024 * 1024,
  bodyMs: 10_000,
  bodyDepth: 128,
  pending: 2048,
  pendingBytes: 64 * 1024 * 1024,
});

const kinds: OptionKinds<WebhookOptions> = Object.freeze({
  ledger: "object",
  verify: "any",
  onUpdate: "function",
  onError: "function",
  waitUntil: "function",
  limits: "object",
  clock: "object",
});

const limitKinds: OptionKinds<WebhookLimits> = Object.freeze({
  bodyBytes: "amount",
  bodyMs: "amount",
  bodyDepth: "amount",
  pending: "amount",
  pendingBytes: "amount",
});

const verificationKinds: OptionKinds<JwtVerification> = Object.freeze({
  jwks: "any",
  audience: "any",
  issuer: "any",
  algorithms: "list",
  maxAgeMs: "amount",
  cardUrl: "text",
  principal: "text",
  fetch: "function",
});

/**
 * Checks the options, and puts the defaults in.
 *
 * @throws TypeError naming the option.
 */
export function resolveWebhookOptions(given: WebhookOptions): ResolvedWebhookOptions {
  checkOptions(given, kinds);
  const { ledger, verify = "secret" } = given ?? {};
  checkLedger(ledger);
  if (verify !== "secret" && (typeof verify !== "object" || verify === null)) {
    throw new TypeError(
      'verify: wanted "secret", or how a JWT is verified; a webhook that verifies nothing is refused',
    );
  }
  if (verify !== "secret") checkOptions(verify, verificationKinds, "verify");
  checkOptions(given.limits, limitKinds, "limits");
  for (const [name, value] of Object.entries(given.limits ?? {})) {
    if (value !== undefined && value < 1) {
      throw new TypeError(`limits.${name}: found ${String(value)}, wanted a number of at least 1`);
    }
  }
  return Object.freeze({
    ledger,
    verify,
    onUpdate: given.onUpdate ?? (() => {}),
    onError: given.onError ?? (() => {}),
    waitUntil: given.waitUntil ?? (() => {}),
    limits: Object.freeze({ ...defaultLimits, ...defined(given.limits ?? {}) }),
    clock: given.clock ?? systemClock,
  });
}
