import { LedgerUnavailableError } from "../errors/ledger.ts";

/**
 * Loads an optional package.
 *
 * @throws LedgerUnavailableError that names the package and says how to get it.
 */
export async function loadPeer<T>(name: string, range: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const details = { reason: "peer-missing" } as const;
    const hint = new TypeError(
      `the package ${name} could not be loaded; it is optional: npm install ${name}@${range}`,
      { cause },
    );
    throw new LedgerUnavailableError(`load ${name}`, hint, details);
  }
}
