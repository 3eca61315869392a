import { inspect } from "node:util";
import { createClient } from "a2a-lease";
import { answer } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { createWrittenLedger } from "../ledger/written.ts";
import { setUp, taskOf } from "./rig.ts";

const secret = "s3cr3t0123456789abcdef";

describe("a secret", () => {
  test("in the query of the card's URL stays out of the ledger and of a handle's JSON", async () => {
    const path = `/card.json?token=${secret}`;
    const { agent, clock } = setUp({ cardPath: path });
    const { ledger, written } = createWrittenLedger();
    const client = await createClient(`${agent.url}${path}`, { fetch: agent.fetch, clock, ledger });
    const task = taskOf(await client.sendMessage("x"));

    expect(JSON.stringify(task)).not.toContain(secret);
    expect(written.join("\n")).not.toContain(secret);
  });

  test("in what a credentials function throws stays out of the error", async () => {
    const { connect } = setUp();
    const failure = Object.assign(new Error("the token endpoint refused us"), {
      config: { headers: { authorization: `Basic ${secret}` } },
    });
    const client = await connect({ credentials: () => Promise.reject(failure) });

    const error = await caught(client.sendMessage("x"));

    expect(inspect(error, { depth: 9 })).not.toContain(secret);
  });

  test("of ours that the agent gives back without a word beside it stays out of the error", async () => {
    const { agent, connect } = setUp();
    const client = await connect({ credentials: { bearer: secret } });
    agent.once("SendMessage", answer.error(-32602, `did not like ${secret}`));

    const error = await caught(client.sendMessage("x"));

    expect(JSON.stringify(error)).not.toContain(secret);
    expect(inspect(error, { depth: 9 })).not.toContain(secret);
  });
});
