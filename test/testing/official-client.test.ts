import { ClientFactory } from "@a2a-js/sdk/client";
import { afterEach, expect, test } from "vitest";
import { type AgentListener, createScriptedAgent, step } from "../../src/testing.ts";

let listener: AgentListener | undefined;
afterEach(() => listener?.close());

const send = (said: string) => ({
  tenant: "",
  message: {
    messageId: "m1",
    contextId: "",
    taskId: "",
    role: 1,
    parts: [
      { content: { $case: "text" as const, value: said }, metadata: undefined, filename: "", mediaType: "" },
    ],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  },
  configuration: undefined,
  metadata: undefined,
});

test("the official client reads the card, sends, gets, streams and cancels", async () => {
  const agent = createScriptedAgent();
  listener = await agent.listen();
  const client = await new ClientFactory().createFromUrl(listener.url);
  const answered = await client.sendMessage(send("hello"));
  const read = await client.getTask({ tenant: "", id: "task-1" });
  agent.plan([step.working(), step.hold(), step.completed()]);
  const cases: string[] = [];
  for await (const { payload } of client.sendMessageStream(send("again"))) {
    cases.push(payload?.$case ?? "none");
    if (cases.length === 2) await client.cancelTask({ tenant: "", id: "task-2", metadata: undefined });
  }
  expect("id" in answered ? answered.id : undefined).toBe("task-1");
  expect(read.artifacts[0]?.parts[0]?.content).toEqual({ $case: "text", value: "hello" });
  expect(cases).toEqual(["task", "statusUpdate", "statusUpdate"]);
  expect(agent.tasks.get("task-2")?.status.state).toBe("TASK_STATE_CANCELED");
});
