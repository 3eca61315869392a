import { ledgerSuite } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { storeKinds } from "./stores.ts";

describe.each(storeKinds.filter(({ leftOut }) => leftOut === undefined))("in $name", ({ factory }) => {
  for (const { name, run } of ledgerSuite(factory)) test(name, run);
});

describe.each(storeKinds.filter(({ leftOut }) => leftOut !== undefined))("in $name", ({ leftOut }) => {
  test.skip(`left out: ${leftOut}`, () => {});
});

test("nothing is left out where everything was asked for", () => {
  const missing = storeKinds.flatMap(({ name, leftOut }) =>
    leftOut === undefined ? [] : [`${name}: ${leftOut}`],
  );
  expect(process.env.A2A_LEASE_ALL_LEDGERS === "1" ? missing : []).toEqual([]);
});
