import { chooseInterface, type InterfaceChoiceOptions, isSameOrigin } from "../card/interface.ts";
import type { CardReading, CardSource } from "../card/source.ts";
import type { CardVerifier } from "../card/verifier.ts";
import type { CardDriftError, LeaseUnverifiableError } from "../errors/lease.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Deviation } from "../model/deviation.ts";
import type { CardComparison, CardDrift } from "../model/drift.ts";
import type { Lease } from "../model/lease.ts";
import type { CardPin } from "../model/pin.ts";
import type { LeasedTask, Posture } from "../model/posture.ts";
import type { CardRequirements } from "../model/requirements.ts";
import type { TrustLevel, TrustRecord } from "../model/trust.ts";
import { type Clock, isoTime } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import type { Bindings } from "./bindings.ts";
import type { CredentialScope } from "./credentials.ts";
import type { Observer } from "./observer.ts";
import type { ResolvedOptions } from "./resolve-options.ts";
import type { Retrier } from "./retry.ts";
import type { TrustBook } from "./trust.ts";

/** What all calls of one client share. */
export interface Session {
  readonly options: ResolvedOptions;
  readonly source: CardSource;
  /** Judges the signatures of cards that do not come from the source. */
  readonly verifier: CardVerifier;
  /** Names the agent's card in the ledger: its URL, without what may be a secret in it; `""` for one never checked. */
  readonly cardKey: string;
  readonly bindings: Bindings;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly credentials: CredentialScope;
  readonly observer: Observer;
  /** Tries a step over the wire again, where that does no harm. */
  readonly retry: Retrier;
  /** What the agent has earned with its behaviour. */
  readonly trust: TrustBook;
  /** Aborted when the client is closed. */
  readonly closed: AbortSignal;
  /** The last check that went well. */
  lastReading: Extract<CardReading, { kind: "card" }>;
  /** Whether a check has failed since, and the work goes on all the same. */
  isStale: boolean;
}

/** What a pin stands for and what is done when it no longer holds. */
export interface LeasePlan {
  readonly pin: CardPin;
  readonly requirements: CardRequirements;
  readonly policy: LeasePolicy;
}

/** How a difference is told, and what is done about it. */
export interface LeasePolicy {
  readonly posture: Posture;
  readonly compare: CardComparison;
}

/** Who holds a pin: the client for its plan, a handle for its task. */
export interface LeaseHolder extends LeasePlan {
  /** The task, as a posture function sees it; absent for a plan. */
  readonly task?: LeasedTask;
  /** Aborted, with the error as its reason, when the lease ends. */
  readonly signal: AbortSignal;
  /** What ended the lease; thrown again by every later call that depends on the card. */
  readonly ended: CardDriftError | LeaseUnverifiableError | undefined;
  /** Ends the lease by a drift; the first end stays. */
  end(drift: CardDrift, cause: unknown): CardDriftError | LeaseUnverifiableError;
  /** Ends the lease because the card could not be checked for too long. */
  expire(error: LeaseUnverifiableError): void;
  /** Takes or drops what was read beside the public card; no drift, so nobody is told. */
  replacePin(pin: CardPin): Promise<void>;
  /** Goes on under another pin, which the posture accepted. */
  repin(pin: CardPin, drift: CardDrift): Promise<void>;
}

/** The lease on a pin as it stands after the last check. */
export function leaseOf(session: Session, pin: CardPin): Lease {
  const { snapshot, at, ageSeconds } = session.lastReading;
  return Object.freeze({
    url: session.source.url ?? "",
    digest: snapshot.digest,
    fetchedAt: isoTime(at.wallMs),
    interface: pin.interface,
    stale: session.isStale,
    sameOrigin: isSameOrigin(session.source.url, pin.interface.url),
    ...defined({ ageSeconds, signature: snapshot.signature }),
  });
}

/** What a session chooses an interface by. */
export function choiceOptionsOf({ source, bindings, options }: Session): InterfaceChoiceOptions {
  const { names, preferred } = bindings;
  const { addressPolicy } = options;
  return { bindings: names, preferredBindings: preferred, cardUrl: source.url, addressPolicy };
}

/** What of the card breaks the spec and could be read. */
export function cardDeviationsOf(session: Session): readonly Deviation[] {
  const { snapshot } = session.lastReading;
  const choice = chooseInterface(snapshot.card, choiceOptionsOf(session));
  return Object.freeze([...snapshot.deviations, ...(choice.outcome === "chosen" ? choice.deviations : [])]);
}

/** What an agent has earned with its behaviour. */
export interface AgentTrust {
  /** Its level. */
  readonly level: TrustLevel;
  /** The record of it; there is none before the first probe. */
  readonly record: TrustRecord | undefined;
}

/** What the agent behind a pin has earned. */
export function trustIn({ trust }: Session, pin: CardPin): AgentTrust {
  return Object.freeze({ level: trust.level(pin), record: trust.record(pin) });
}
