import type { Ledger } from "../ledger/ledger.ts";
import { listingCases } from "./ledger-listing.ts";
import { retentionCases } from "./ledger-retention.ts";
import { writingCases } from "./ledger-writing.ts";
import type { TestClock } from "./test-clock.ts";
import { createTestClock } from "./test-clock.ts";

/** How a case wants its ledger. */
export interface LedgerFactoryOptions {
  /** Where the ledger is to take time from. */
  readonly clock: TestClock;
  /** How long it is to keep finished tasks and settled intents, in milliseconds. */
  readonly retentionMs: number;
}

/** An empty store for one case. */
export interface LedgerHouse {
  /**
   * Opens a ledger on the store, as one more process would. A store that lives in one process gives the same ledger each
   * time.
   */
  open(): Promise<Ledger> | Ledger;
  /** Does away with the store. The ledgers were closed before. */
  destroy?(): Promise<void> | void;
}

/** Makes an empty store for one case. */
export type LedgerFactory = (options: LedgerFactoryOptions) => Promise<LedgerHouse> | LedgerHouse;

/** One case of the contract. */
export interface LedgerCase {
  /** What it shows, as a sentence. */
  readonly name: string;
  /** Runs it; rejects with an `AssertionError` where the ledger breaks the contract. */
  run(): Promise<void>;
}

/**
 * The contract of a ledger as a list of cases for any test runner:
 * `for (const { name, run } of ledgerSuite(factory)) test(name, run);`
 */
export function ledgerSuite(factory: LedgerFactory): readonly LedgerCase[] {
  const scenes = { ...writingCases, ...listingCases, ...retentionCases };
  return Object.freeze(
    Object.entries(scenes).map(([name, play]) =>
      Object.freeze({
        name,
        async run() {
          const clock = createTestClock();
          const retentionMs = 3_600_000;
          const house = await factory({ clock, retentionMs });
          const opened = new Set<Ledger>();
          const open = async () => {
            const ledger = await house.open();
            opened.add(ledger);
            return ledger;
          };
          try {
            await play({ open, clock, retentionMs });
          } finally {
            for (const ledger of opened) await ledger.close?.();
            await house.destroy?.();
          }
        },
      }),
    ),
  );
}
