import { createAgents, createClient, type TaskHandle } from "a2a-lease";
import { createScriptedAgent } from "a2a-lease/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { taskOf } from "../flow/lifecycle-setup.ts";

const misspelt = { onupdate: 1 } as object;
const refusal = expect.objectContaining({
  name: "TypeError",
  message: expect.stringMatching(/^onupdate: is no option here/),
});

describe("an option that is none is told, before any request", () => {
  const agent = createScriptedAgent();
  const connect = () => createClient(agent.url, { fetch: agent.fetch });

  test("by createClient and createAgents", async () => {
    agent.clearTranscript();
    await expect(createClient(agent.url, { fetch: agent.fetch, ...misspelt })).rejects.toEqual(refusal);
    expect(() => createAgents(misspelt)).toThrow(/^onupdate: is no option here/);
    expect(agent.transcript).toEqual([]);
  });

  describe("by a call", () => {
    let task: TaskHandle;
    beforeEach(async () => {
      task = taskOf(await (await connect()).sendMessage("hello"));
      agent.clearTranscript();
    });

    test.each(["delegate", "sendMessage", "sendStreamingMessage"] as const)("client.%s", async (name) => {
      const client = await connect();
      agent.clearTranscript();
      await expect(client[name]("hello", misspelt)).rejects.toEqual(refusal);
      expect(agent.transcript).toEqual([]);
    });
    test.each(["get", "subscribe", "result", "cancel", "salvage"] as const)("handle.%s", async (name) => {
      await expect(task[name](misspelt)).rejects.toEqual(refusal);
      expect(agent.transcript).toEqual([]);
    });
    test("handle.follow", async () => {
      await expect(task.follow(misspelt)[Symbol.asyncIterator]().next()).rejects.toEqual(refusal);
      expect(agent.transcript).toEqual([]);
    });
  });
});
