import type { Binding, BindingFactory } from "../binding/binding.ts";
import type { AddressPolicy } from "../card/address-policy.ts";
import type { CardSignatureOptions } from "../card/signature-options.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { AuthRequiredHook } from "../model/auth-required.ts";
import type { Credentials } from "../model/credentials.ts";
import type { CardComparison } from "../model/drift.ts";
import type { CardPin } from "../model/pin.ts";
import type { Posture } from "../model/posture.ts";
import type { CardRequirements } from "../model/requirements.ts";
import type { RetryOptions } from "../model/retry.ts";
import type { Clock } from "../util/clock.ts";
import type { FetchLike } from "../wire/http.ts";
import type { Limits } from "../wire/limits.ts";

/** Budget of a read in all, where the caller names none, in milliseconds. */
export const defaultReadMs = 30_000;
/** Budget of a send in all, where the caller names none, in milliseconds: agents that ignore `returnImmediately` exist. */
export const defaultSendMs = 300_000;

/** How long things may take, in milliseconds. */
export interface TimeoutOptions {
  /** From a request to the head of its answer. @default 30 000; a send has its whole budget */
  readonly firstByteMs?: number;
  /** Longest silence in the middle of an answer or a stream; any byte counts as life. @default 60 000 */
  readonly idleMs?: number;
  /** From the head of a stream to its first event. @default 30 000 */
  readonly firstEventMs?: number;
  /** A whole call. @default 30 000 for reads, 300 000 for sends, none for streams */
  readonly totalMs?: number;
}

/** Options of {@link createClient}. Everything has a default. */
export interface ClientOptions {
  /** Credentials for calls, and for the card where it asks for them. They go to the card's own origin and `allowedOrigins`. */
  readonly credentials?: Credentials;
  /**
   * Called when a wait for a task comes upon `TASK_STATE_AUTH_REQUIRED`: to have somebody authenticate at the agent, out
   * of band (7.6). @default the wait ends with the outcome `auth-required`
   */
  readonly onAuthRequired?: AuthRequiredHook;
  /** Whether card reads carry credentials unasked. @default "on-demand" */
  readonly cardCredentials?: "on-demand" | "always";
  /** Origins beside the card's own that credentials and `headers` may go to, `"https://rpc.example.com"`. */
  readonly allowedOrigins?: readonly string[];
  /**
   * Where the URLs that a card names may lead. @default https on the open internet; loopback and private addresses where
   * the card itself came from one
   */
  readonly addressPolicy?: AddressPolicy;
  /** Stable id of whom the calls are made for; never a token. @default "default" */
  readonly principal?: string;
  /** What every plan of this client needs from the card. */
  readonly requires?: CardRequirements;
  /**
   * Names of bindings in the order of preference, which goes before the card's own order; those that are not named come
   * after. A name that the client has no binding for is an error. @default the order of the card
   */
  readonly preferredBindings?: readonly string[];
  /**
   * Bindings of your own, or functions that make one: for wire forms beside JSON-RPC and HTTP+JSON, or in the place of
   * the built-in one of the same name. @default none
   */
  readonly bindings?: readonly (Binding | BindingFactory)[];
  /** URIs of extensions that the caller supports; those that the card lists are declared on every call. */
  readonly extensions?: readonly string[];
  /** A pin taken elsewhere; the first send is checked against it. @default a pin of the card that was read */
  readonly pin?: CardPin;
  /** Content digest that a registry or a reviewer vouched for; checked once, against the card that is read. */
  readonly expectedDigest?: string;
  /** Content digests that are as good as the pinned one, for a fleet that serves several cards. @default none */
  readonly acceptDigests?: readonly string[];
  /**
   * What is done about an agent that breaks a rule of a task's life: `enforce` throws, `observe` reports it as a
   * deviation and goes on. @default "enforce"
   */
  readonly lifecycle?: "enforce" | "observe";
  /** How often in a row a task may ask the same thing without any progress; the last time breaks `progress`. @default 3 */
  readonly maxIdleRounds?: number;
  /**
   * Whether sends want an agent that passed a probe: `required` refuses to send to any other. Under `advisory` the card
   * routes, and nothing is read into timestamps and histories until a probe passed. @default "advisory"
   */
  readonly trust?: "advisory" | "required";
  /** What is made of the card's signatures. @default what is signed is verified where a key can be had */
  readonly signatures?: CardSignatureOptions;
  /** What to do when the card drifts. @default "fail-closed" */
  readonly posture?: Posture;
  /** Which digest decides whether the card is the same. @default "content" */
  readonly compare?: CardComparison;
  /**
   * For how long after a check the card is believed without another one, in milliseconds; `"http"` believes what the
   * server's cache headers say (RFC 9111). A surprise is checked all the same. @default 0
   */
  readonly leaseTermMs?: number | "http";
  /**
   * For how long after the last good check the work goes on when the card can't be read, in milliseconds; every lease
   * is marked stale then. Never after a surprise. @default 0
   */
  readonly staleIfErrorMs?: number;
  /** After how long without a good check a failed one ends the lease, in milliseconds. @default never */
  readonly maxUnverifiedMs?: number;
  /** For a card that is handed in: the URL where it is checked. */
  readonly revalidateAt?: string;
  /**
   * For a card that is handed in: that it is never checked; with `untilMs`, a wall time in milliseconds since the
   * epoch, until when. @default false
   */
  readonly immutable?: boolean | { readonly untilMs: number };
  /**
   * How often a lease that was renewed by 304 alone is read in full, and one under an open stream is checked, in
   * milliseconds. @default 60 000
   */
  readonly fullCheckEveryMs?: number;
  /** How long `cancel()` waits to see the task canceled. @default 30 000 */
  readonly cancelConfirmMs?: number;
  /**
   * How what may be said twice is tried again after a failure that passes: reads of the card and of tasks, the opening
   * of a subscription, cancellations. A send only ever goes again when it provably never left. `false` turns it off.
   */
  readonly retries?: RetryOptions | false;
  /** Headers on every request to the card's origin and the allowed ones, card reads included. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Budgets of time. */
  readonly timeouts?: TimeoutOptions;
  /** Bounds on what comes back. */
  readonly limits?: Partial<Limits>;
  /** Where handles and intents are remembered. @default memory, for this client alone */
  readonly ledger?: Ledger;
  /** The platform's fetch, or one of your own: for proxies, mutual TLS, tests. @default globalThis.fetch */
  readonly fetch?: FetchLike;
  /** Time. @default the machine's clock */
  readonly clock?: Clock;
  /** Chance, from 0 up to 1. @default the platform's */
  readonly random?: () => number;
  /** Aborts the reading of the card in {@link createClient}. */
  readonly signal?: AbortSignal;
}
