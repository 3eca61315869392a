import { describe, expect, test } from "vitest";
import { longestRetryMs, readRetryAfter } from "../../src/wire/retry-after.ts";

const nowMs = Date.UTC(2026, 0, 1, 12, 0, 0);

describe("a Retry-After header", () => {
  test.each([
    ["0", 0],
    ["5", 5000],
    [" 30 ", 30_000],
    ["3601", longestRetryMs],
    ["999999999999999", longestRetryMs],
    ["Thu, 01 Jan 2026 12:00:30 GMT", 30_000],
    ["Thursday, 01-Jan-26 12:01:00 GMT", 60_000],
    ["Thu, 01 Jan 2026 18:00:00 GMT", longestRetryMs],
  ])("%j is a wait of %d ms", (value, delayMs) => {
    expect(readRetryAfter(value, nowMs)).toBe(delayMs);
  });

  test.each([
    null,
    "",
    "-5",
    "1.5",
    "soon",
    "5 s",
    "NaN",
    "Infinity",
    "1e3",
    "2026-01-01T13:00:00Z",
    "Thu, 01 Jan 2026 11:59:59 GMT",
    "Thu, 99 Foo 2026 12:00:00 GMT",
    "9".repeat(100_000),
  ])("%j is no wait", (value) => {
    expect(readRetryAfter(value, nowMs)).toBeUndefined();
  });
});
