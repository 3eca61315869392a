import { createScriptedAgent, createTestClock, step } from "a2a-lease/testing";
import { CardDriftError, createClient } from "a2a-lease";
import { expect, test } from "vitest";

test("smoke", async () => {
  const clock = createTestClock();
  const agent = createScriptedAgent({ clock });
  const client = await createClient(agent.url, { fetch: agent.fetch, clock });
  agent.planNext([step.working(), step.hold(), step.artifact("a", "x"), step.completed()]);
  const reply = await client.sendMessage("hello", { requires: { skills: ["summarize"] } });
  if (!("task" in reply)) throw new TypeError("no task");
  const { task } = reply;
  expect(task.state).toBe("TASK_STATE_SUBMITTED");
  const stream = await task.subscribe();
  const seen: string[] = [];
  const done = (async () => {
    for await (const event of stream) seen.push(Object.keys(event)[0] ?? "");
  })();
  await clock.advance(0);
  agent.step(task.id);
  await done;
  expect(seen).toEqual(["task", "artifactUpdate", "statusUpdate"]);
  expect(task.state).toBe("TASK_STATE_COMPLETED");
  expect(task.artifacts).toHaveLength(1);
  agent.rotateCard((card) => ({ ...card, capabilities: {} }));
  await expect(client.sendMessage("x")).rejects.toBeInstanceOf(CardDriftError);
  await expect(task.get()).rejects.toMatchObject({ name: "CardDriftError", reason: "content-changed" });
  const error = await client.sendMessage("x").catch((e) => e);
  console.log(JSON.stringify(error, null, 1));
  const again = await task.renegotiate();
  await again.get();
  expect(again.state).toBe("TASK_STATE_COMPLETED");
  expect(again.artifacts).toHaveLength(1);
  expect(clock.pendingCount).toBe(0);
  expect(agent.openRequestCount).toBe(0);
  console.log(agent.transcript.map((e) => `${e.step} ${e.kind} ${e.operation ?? e.path} ${e.status} ${e.fullRead ?? ""} ${e.outcome}`).join("\n"));
});
