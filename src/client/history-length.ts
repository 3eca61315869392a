/**
 * Checks how much history is asked for: none given is no limit, 0 is none of it (3.2.4).
 *
 * @throws TypeError for what is no whole number of at least 0.
 */
export function checkHistoryLength(historyLength: number | undefined): void {
  if (historyLength === undefined || (Number.isInteger(historyLength) && historyLength >= 0)) return;
  throw new TypeError(
    `historyLength: found ${String(historyLength)}, wanted a whole number of messages of at least 0`,
  );
}
