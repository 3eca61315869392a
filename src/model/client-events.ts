import type { AgentInterface } from "./card.ts";
import type { ChosenRequirement } from "./credentials.ts";
import type { Deviation } from "./deviation.ts";
import type { CardDrift, DriftReason } from "./drift.ts";
import type { OperationName } from "./operations.ts";

/** What every event carries. */
export interface ClientEvent {
  /** When it happened, RFC 3339, by our clock. */
  readonly at: string;
  /** URL of the agent's card, redacted; `""` for a card that is never checked. */
  readonly cardUrl: string;
  /** The task it is about; absent for the client's plan. */
  readonly taskId?: string;
}

/** A plan or a task was pinned to a card. */
export interface LeaseGrantedEvent extends ClientEvent {
  /** Content digest of the pinned card. */
  readonly digest: string;
  /** The chosen interface. */
  readonly interface: AgentInterface;
}

/** A check found the card unchanged. */
export interface LeaseRenewedEvent extends ClientEvent {
  /** Content digest of the live card. */
  readonly digest: string;
  /**
   * How it was told: by a full read, by a 304, by the check of another process, within the term of an earlier check, or of
   * a card never checked.
   */
  readonly via: "full" | "not-modified" | "shared" | "term" | "static";
}

/** A drift was accepted by the posture: the live card is the pin now. */
export interface LeaseRepinnedEvent extends ClientEvent {
  /** Content digest that was pinned before. */
  readonly from: string;
  /** Content digest that is pinned now. */
  readonly to: string;
  /** What changed. */
  readonly drift: CardDrift;
}

/** The live card is another one than the pinned one, whatever comes of it. */
export interface DriftEvent extends ClientEvent {
  /** What changed. */
  readonly drift: CardDrift;
}

/** A lease is over. */
export interface LeaseEndedEvent extends ClientEvent {
  /** Why: the reason of the drift, or that the card could not be checked for too long. */
  readonly reason: DriftReason | "unverifiable";
}

/** Something on the wire broke the spec and could be read. */
export interface DeviationEvent extends ClientEvent {
  /** What it was. */
  readonly deviation: Deviation;
}

/** A request leaves once more, which is always safe where it is done. */
export interface RetryEvent extends ClientEvent {
  /** The operation; `"card"` for a read of the card. */
  readonly operation: OperationName | "card";
  /** Code of the error that led to it. */
  readonly code: string;
  /** What is different now: other credentials, another interface of the card, or only the time. */
  readonly with: "credentials" | "interface" | "time";
  /** How long it waits before it leaves, in milliseconds; there where the time is what is different. */
  readonly waitMs?: number;
}

/** Credentials were chosen by what the card asks for; told for each request, before it leaves. */
export interface CredentialsChosenEvent extends ClientEvent {
  /** The operation. */
  readonly operation: OperationName;
  /** Origin that they go to. */
  readonly origin: string;
  /** The requirement: all of its schemes, with their scopes. */
  readonly requirement: ChosenRequirement;
}

/** A stream ended before its task was settled. */
export interface StreamCutEvent extends ClientEvent {
  /** Events that it had delivered. */
  readonly eventCount: number;
}

/** A stream was opened again after a cut. */
export interface StreamResumedEvent extends ClientEvent {
  /** Streams opened for the task so far. */
  readonly streamCount: number;
}

/** The events of a client by their names. Nothing in them is a secret. */
export interface ClientEvents {
  /** A plan or a task was pinned to a card. */
  "lease-granted": LeaseGrantedEvent;
  /** A check found the card unchanged. */
  "lease-renewed": LeaseRenewedEvent;
  /** A drift was accepted by the posture. */
  "lease-repinned": LeaseRepinnedEvent;
  /** The live card is another one than the pinned one. */
  drift: DriftEvent;
  /** A lease is over. */
  "lease-ended": LeaseEndedEvent;
  /** Something on the wire broke the spec and could be read. */
  deviation: DeviationEvent;
  /** A request leaves once more. */
  retry: RetryEvent;
  /** Credentials were chosen by what the card asks for. */
  "credentials-chosen": CredentialsChosenEvent;
  /** A stream ended before its task was settled. */
  "stream-cut": StreamCutEvent;
  /** A stream was opened again after a cut. */
  "stream-resumed": StreamResumedEvent;
}

/** Name of a client event. */
export type ClientEventName = keyof ClientEvents;
