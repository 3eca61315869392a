import { expect, test } from "vitest";
import { createScriptedAgent, createTestNetwork } from "../../src/testing.ts";
import { rpc, text } from "./rpc.ts";

test("each agent is reached at its own origin, and another origin can't be resolved", async () => {
  const one = createScriptedAgent({ url: "https://one.example" });
  const two = createScriptedAgent({ url: "https://two.example" });
  const fetch = createTestNetwork([one, two]);
  await rpc(one, "SendMessage", text("a"), { fetch });
  await rpc(two, "SendMessage", text("b", { messageId: "m2" }), { fetch });
  await expect(rpc(one, "GetTask", {}, { fetch, url: "https://three.example/" })).rejects.toMatchObject({
    cause: { code: "ENOTFOUND" },
  });
  expect([one.acceptedMessageIds, two.acceptedMessageIds]).toEqual([["m1"], ["m2"]]);
});

test("two agents at one origin are refused", () => {
  expect(() => createTestNetwork([createScriptedAgent(), createScriptedAgent()])).toThrow(/^url/);
});
