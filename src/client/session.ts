import type { Binding } from "../binding/binding.ts";
import { isSameOrigin } from "../card/interface.ts";
import type { CardReading, CardSource } from "../card/source.ts";
import type { CardDriftError } from "../errors/lease.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { CardDrift } from "../model/drift.ts";
import type { Lease } from "../model/lease.ts";
import type { CardPin } from "../model/pin.ts";
import type { CardRequirements } from "../model/requirements.ts";
import { type Clock, isoTime } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import type { CredentialScope } from "./credentials.ts";
import type { ResolvedOptions } from "./options.ts";

/** What all calls of one client share. */
export interface Session {
  readonly options: ResolvedOptions;
  readonly source: CardSource;
  readonly binding: Binding;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly credentials: CredentialScope;
  /** Aborted when the client is closed. */
  readonly closed: AbortSignal;
  /** The last check that went well. */
  lastReading: Extract<CardReading, { kind: "card" }>;
}

/** Who holds a pin: the client for its plan, a handle for its task. */
export interface LeaseHolder {
  readonly pin: CardPin;
  readonly requirements: CardRequirements;
  /** The task; absent for a plan. */
  readonly taskId?: string;
  /** The drift that ended the lease; thrown again by every later call that depends on the card. */
  readonly ended: CardDriftError | undefined;
  /** Ends the lease; the first drift stays. */
  end(drift: CardDrift, cause: unknown): CardDriftError;
}

/** The lease on a pin as it stands after the last check. */
export function leaseOf(session: Session, pin: CardPin): Lease {
  const { snapshot, at, ageSeconds } = session.lastReading;
  return Object.freeze({
    url: session.source.url ?? "",
    digest: snapshot.digest,
    fetchedAt: isoTime(at.wallMs),
    interface: pin.interface,
    stale: false,
    sameOrigin: isSameOrigin(session.source.url, pin.interface.url),
    ...defined({ ageSeconds }),
  });
}
