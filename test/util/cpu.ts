import { expect } from "vitest";

/**
 * CPU time in milliseconds that no piece of work here may take. A measure of the work, so that it does not matter what
 * else the machine does; what grows with the square of its size takes minutes.
 */
const longestCpuMs = 10_000;

/** Room for the clock on the wall, which measures no work. */
export const patience = Object.freeze({ timeout: 300_000 });

/** Does something and fails where that took too much work. */
export function measured<T>(run: () => T): T {
  const before = process.cpuUsage();
  const result = run();
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(longestCpuMs);
  return result;
}
