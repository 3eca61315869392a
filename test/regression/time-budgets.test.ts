import { createClient } from "a2a-lease";
import { answer, createScriptedAgent, createTestClock, step } from "a2a-lease/testing";
import { expect, test } from "vitest";
import { caught } from "../flow/caught.ts";

/** A client whose agent never ends a task, and shows its card only while it may. */
async function setUp() {
  const clock = createTestClock();
  const agent = createScriptedAgent({ clock, plan: [step.working("on it"), step.wait(3_600_000)] });
  let isSilent = false;
  const client = await createClient(agent.url, {
    clock,
    async fetch(url, init) {
      if (!isSilent || init?.method !== "GET") return agent.fetch(url, init);
      return new Promise((_resolve, reject) => {
        init.signal?.addEventListener("abort", () => reject(init.signal?.reason));
      });
    },
  });
  const reply = await client.sendMessage("x");
  if (!("task" in reply)) expect.fail("no task");
  const silence = () => {
    isSilent = true;
  };
  return { agent, clock, client, task: reply.task, silence };
}

type Rig = Awaited<ReturnType<typeof setUp>>;

test.each<[string, (rig: Rig) => Promise<unknown>]>([
  ["handle.renegotiate", ({ task }) => task.renegotiate({ timeoutMs: 800 })],
  ["client.renegotiate", ({ client }) => client.renegotiate({ timeoutMs: 800 })],
  ["client.revalidate", ({ client }) => client.revalidate({ timeoutMs: 800 })],
  ["handle.get", ({ task }) => task.get({ timeoutMs: 800 })],
])("%s keeps to its own time while the card is silent", async (_name, act) => {
  const rig = await setUp();
  rig.silence();
  let found: unknown;
  const failing = caught(act(rig)).then((error) => {
    found = error;
  });
  await rig.clock.advance(799);
  expect(found).toBeUndefined();
  await rig.clock.advance(1);
  await failing;
  expect(found).toMatchObject({ code: "TIMEOUT", budget: "total", budgetMs: 800 });
});

test.each<[string, (rig: Rig) => Promise<unknown>]>([
  ["handle.cancel", ({ task }) => task.cancel({ timeoutMs: 2_000 })],
  ["client.cancelTask", ({ client, task }) => client.cancelTask({ id: task.id }, { timeoutMs: 2_000 })],
])("%s keeps to its own time while the agent goes on with the task", async (_name, act) => {
  const rig = await setUp();
  const { task } = rig.task.toJSON();
  rig.agent.on("CancelTask", answer.result({ ...task, status: { state: "TASK_STATE_WORKING" } }));
  let found: unknown;
  const failing = caught(act(rig)).then((error) => {
    found = error;
  });
  await rig.clock.advance(1_999);
  expect(found).toBeUndefined();
  await rig.clock.advance(1);
  await failing;
  expect(found).toMatchObject({ code: "TIMEOUT", budget: "total", budgetMs: 2_000, taskId: rig.task.id });
});
