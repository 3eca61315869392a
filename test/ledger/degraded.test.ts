import { LedgerConflictError, LedgerUnavailableError } from "a2a-lease";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { intentRecord, taskRecord } from "../../src/testing/ledger-records.ts";
import { setUp, taskOf, watch } from "../attack/rig.ts";
import { rejectionOf } from "../card/cards.ts";
import { type Wreck, wreckKinds } from "./wrecks.ts";

describe.each(wreckKinds.filter(({ leftOut }) => leftOut !== undefined))("$name", ({ leftOut }) => {
  test.skip(`left out: ${leftOut}`, () => {});
});

describe.each(wreckKinds.filter(({ leftOut }) => leftOut === undefined))("$name", ({ faults, make }) => {
  let wreck: Wreck;
  beforeEach(async () => {
    wreck = await make();
  });
  afterEach(() => wreck.destroy());

  describe.each(faults)("that is %s", (name) => {
    test("stops a send before the wire, and loses nothing", async () => {
      const fault = wreck.faults[name] ?? expect.fail(`no fault ${name}`);
      const { agent, clock, connect } = setUp();
      const client = await connect({ ledger: wreck.ledger });
      const first = taskOf(await client.sendMessage("first"));

      await fault.breakIt();
      const sending = watch(client.sendMessage("second"));
      // A ledger that gives no answer is waited for as long as the client's clock says.
      await clock.advance(0);
      if (name === "slow") await clock.advance(10_000);
      await expect.poll(() => sending.outcome, { timeout: 15_000 }).toBeDefined();

      expect(sending.error).toBeInstanceOf(LedgerUnavailableError);
      expect(agent.acceptedMessageIds).toHaveLength(1);

      await fault.mend();
      await client.sendMessage("third");
      expect(agent.acceptedMessageIds).toHaveLength(2);
      const again = await wreck.reopen();
      const { entries } = await again.list({ kind: "task" });
      expect(entries.map(({ record }) => record)).toContainEqual(
        expect.objectContaining({ taskId: first.id }),
      );
      expect((await again.list({ kind: "intent", states: ["answered"] })).entries).toHaveLength(2);
      await again.close?.();
    });
  });

  test.each<[string, string, number, { reason: string; foundSchema?: number }]>([
    [
      "a newer schema",
      JSON.stringify({ ...taskRecord("t"), schema: 2 }),
      2,
      { reason: "schema", foundSchema: 2 },
    ],
    [
      "an older schema",
      JSON.stringify({ ...taskRecord("t"), schema: 0 }),
      0,
      { reason: "schema", foundSchema: 0 },
    ],
    ["no JSON", '{"kind":"task', 1, { reason: "corrupt" }],
    ["another shape", '{"kind":"task","schema":1}', 1, { reason: "corrupt" }],
    ["a list", "[]", 1, { reason: "corrupt" }],
    ["nothing", "", 1, { reason: "corrupt" }],
  ])(
    "tells of a record with %s, and neither overwrites nor hides it",
    async (_what, body, schema, expected) => {
      const { ledger } = wreck;
      const { revision } = await ledger.write("k", taskRecord("t"), 0);
      await ledger.write("other", taskRecord("other"), 0);
      await wreck.tamper("k", body, schema);

      const error = await rejectionOf(ledger.read("k"));
      expect(error).toBeInstanceOf(LedgerUnavailableError);
      expect(error).toMatchObject({ ...expected, retry: "never" });
      const { entries, unreadable } = await ledger.list({ kind: "task" });
      expect(entries.map(({ key }) => key)).toEqual(["other"]);
      const { foundSchema } = expected;
      expect(unreadable).toMatchObject([{ key: "k", ...(foundSchema === undefined ? {} : { foundSchema }) }]);

      const anew = await rejectionOf(ledger.write("k", taskRecord("t"), 0));
      if (schema > 1) expect(anew).toMatchObject({ reason: "schema", foundSchema: schema, wantedSchema: 1 });
      else expect(anew).toBeInstanceOf(LedgerConflictError);
      if (schema > 1)
        expect(await rejectionOf(ledger.write("k", taskRecord("t"), revision))).toMatchObject(expected);
      expect(await wreck.body("k")).toBe(body);
    },
  );

  test("names the schemas in the message, and holds nothing of the record in it", async () => {
    const { ledger } = wreck;
    await ledger.write("k", intentRecord("secret-message"), 0);
    await wreck.tamper("k", JSON.stringify({ ...intentRecord("secret-message"), schema: 7 }), 7);
    const error = await rejectionOf(ledger.read("k"));
    expect((error as Error).message).toContain("found a record of schema 7, wanted 1");
    expect(JSON.stringify(error)).not.toContain("secret-message");
  });
});
