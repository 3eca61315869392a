import type { A2ALeaseError } from "../errors/base.ts";
import { LifecycleNotTrustedError } from "../errors/lifecycle.ts";
import { calleeOf } from "../ledger/callee.ts";
import { type Ledger, trustKey } from "../ledger/ledger.ts";
import type { CardPin } from "../model/pin.ts";
import type { LedgerEntry } from "../model/record.ts";
import type { ProbedCapability, TrustLevel, TrustRecord } from "../model/trust.ts";
import { type Clock, isoTime } from "../util/clock.ts";
import { writeRecord } from "./write-record.ts";

/** What a passed probe earned. */
export interface EarnedTrust {
  readonly pin: CardPin;
  readonly capabilities: readonly ProbedCapability[];
  readonly originWaived: boolean;
}

/** What trust unlocks in the judgement of a task's life. */
export interface UnlockedJudgements {
  /** Repetitions are told by timestamps, and every transition needs one. */
  readonly trustsTimestamps: boolean;
  /** A history that stands still is held against the agent. */
  readonly trustsHistory: boolean;
}

/** What the agent has earned with its behaviour: one-way up by a probe, down at the first broken rule. */
export interface TrustBook {
  /** Reads what another process may have written. */
  refresh(pin: CardPin): Promise<void>;
  /** The record of the agent that a pin points to. */
  record(pin: CardPin): TrustRecord | undefined;
  /** What the agent has earned. */
  level(pin: CardPin): TrustLevel;
  /** What its trust unlocks. */
  unlocks(pin: CardPin): UnlockedJudgements;
  /**
   * Refuses an agent that has not earned it.
   *
   * @throws LifecycleNotTrustedError.
   */
  require(pin: CardPin, capabilities: readonly ProbedCapability[]): void;
  /** Promotes the agent after a passed probe. */
  promote(earned: EarnedTrust): Promise<TrustRecord>;
  /** Demotes the agent because of a broken rule or a failed probe. Takes effect at once; the ledger follows. */
  demote(pin: CardPin, reason: A2ALeaseError | string): void;
  /** Resolves when what is to be written has been. */
  settled(): Promise<void>;
}

const maxHistory = 50;

/**
 * What two processes know of one agent at once. Whoever saw a rule broken is right, and a probe that was under way then
 * is no fresh one; the probe that gave the trust of before is in both histories.
 */
function joinTrust(theirs: TrustRecord, ours: TrustRecord): TrustRecord {
  const isOld = ({ at, level, reason }: TrustRecord["history"][number]) =>
    theirs.history.some((item) => item.at === at && item.level === level && item.reason === reason);
  const added = ours.history.filter((change) => !isOld(change));
  const history = [...theirs.history, ...added].sort((one, other) => (one.at < other.at ? -1 : 1));
  const lower = theirs.level === "card-trusted" ? theirs : ours;
  return Object.freeze({
    ...lower,
    history: Object.freeze(history.slice(-maxHistory)),
    updatedAt: ours.updatedAt,
  });
}

/** Makes the trust book of a client. */
export function createTrustBook(ledger: Ledger, clock: Clock): TrustBook {
  const entries = new Map<string, LedgerEntry<TrustRecord>>();
  const current = new Map<string, TrustRecord>();
  let writing: Promise<unknown> = Promise.resolve();
  const keyOf = (pin: CardPin) => trustKey(calleeOf(pin), pin.protocolVersion);

  async function refresh(pin: CardPin): Promise<void> {
    const key = keyOf(pin);
    // What is still to be written down goes before what another process wrote.
    await writing;
    const entry = await ledger.read(key);
    if (entry?.record.kind !== "trust") return;
    const known = entries.get(key);
    if (known && known.revision >= entry.revision) return;
    entries.set(key, entry as LedgerEntry<TrustRecord>);
    current.set(key, entry.record);
  }

  /** Writes a record. Where another process wrote meanwhile, the two are joined: a demotion by either stands. */
  async function write(key: string, record: TrustRecord): Promise<void> {
    let next = record;
    const entry = await writeRecord(ledger, entries.get(key), {
      key,
      current: () => next,
      merge: (theirs) => {
        next = joinTrust(theirs, next);
      },
    });
    entries.set(key, entry);
    if (current.get(key) === record) current.set(key, entry.record);
  }

  function enqueue(key: string, record: TrustRecord): Promise<void> {
    current.set(key, record);
    const written = writing.then(() => write(key, record));
    writing = written.catch(() => {});
    return written;
  }

  const record = (pin: CardPin) => current.get(keyOf(pin));
  const isTrusted = (pin: CardPin) => record(pin)?.level === "lifecycle-trusted";

  return {
    refresh,
    record,
    level: (pin) => record(pin)?.level ?? "card-trusted",
    unlocks(pin) {
      const known = record(pin);
      const trusted = known?.level === "lifecycle-trusted";
      return {
        trustsTimestamps: trusted && known.timestamps,
        trustsHistory: trusted && known.capabilities.includes("history"),
      };
    },
    require(pin, capabilities) {
      const known = record(pin);
      if (!isTrusted(pin)) {
        const last = known?.history.at(-1);
        throw new LifecycleNotTrustedError(
          calleeOf(pin),
          last ? `card-trusted (${last.reason})` : "no probe",
        );
      }
      const unprobed = capabilities.filter((name) => !known?.capabilities.includes(name));
      if (unprobed.length > 0) {
        throw new LifecycleNotTrustedError(
          calleeOf(pin),
          `a probe that did not cover ${unprobed.join(", ")}`,
        );
      }
    },
    async promote({ pin, capabilities, originWaived }) {
      const at = isoTime(clock.now());
      const key = keyOf(pin);
      const change = { at, level: "lifecycle-trusted", reason: "a probe passed" } as const;
      const next: TrustRecord = Object.freeze({
        kind: "trust",
        schema: 1,
        callee: calleeOf(pin),
        protocolVersion: pin.protocolVersion,
        level: "lifecycle-trusted",
        digest: pin.digest,
        capabilities: Object.freeze([...capabilities]),
        timestamps: true,
        originWaived,
        history: Object.freeze([...(record(pin)?.history ?? []), change].slice(-maxHistory)),
        updatedAt: at,
      });
      await enqueue(key, next);
      return next;
    },
    demote(pin, cause) {
      const known = record(pin);
      const at = isoTime(clock.now());
      const reason = typeof cause === "string" ? cause : cause.message;
      if (known && known.level !== "lifecycle-trusted" && typeof cause !== "string") return;
      const change = { at, level: "card-trusted", reason } as const;
      const next: TrustRecord = Object.freeze({
        kind: "trust",
        schema: 1,
        callee: calleeOf(pin),
        protocolVersion: pin.protocolVersion,
        digest: pin.digest,
        capabilities: Object.freeze([]),
        timestamps: false,
        originWaived: false,
        ...known,
        level: "card-trusted",
        history: Object.freeze([...(known?.history ?? []), change].slice(-maxHistory)),
        updatedAt: at,
      });
      // The judgement that demotes must not wait for the ledger, nor fail with it.
      enqueue(keyOf(pin), next).catch(() => {});
    },
    async settled() {
      await writing;
    },
  };
}
