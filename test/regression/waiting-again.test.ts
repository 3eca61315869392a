import { CardDriftError, type TaskHandle } from "a2a-lease";
import { answer, step } from "a2a-lease/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { taskOf } from "../flow/lifecycle-setup.ts";
import { useLoopback } from "./streams-setup.ts";

const at = useLoopback();

/** What the agent was asked since the last look, card reads aside. */
const asked = () => at.agent.calls().map(({ operation }) => operation);

describe("a question may be over before anybody answers it: result() looks before it says that it stands", () => {
  let task: TaskHandle;

  beforeEach(async () => {
    at.agent.planNext([
      step.working(),
      step.authRequired("Sign in"),
      step.working(),
      step.hold(),
      step.artifact("a", "42"),
      step.completed(),
    ]);
    task = taskOf(await (await at.connect()).sendMessage("hello"));
    expect((await task.result()).status).toBe("auth-required");
    await at.streamCount(0);
  });

  test("it still stands: one read under the lease, and the same outcome", async () => {
    const before = asked().length;
    expect((await task.result()).status).toBe("auth-required");
    expect(asked().slice(before)).toEqual(["GetTask"]);
  });

  test("the login was done elsewhere: the wait goes on to the end", async () => {
    at.agent.step(task.id);
    const states: string[] = [];
    const waiting = task.result({ onUpdate: ({ task: { status } }) => states.push(status.state) });
    await at.streamCount(1);
    at.agent.step(task.id);
    expect(await waiting).toMatchObject({ status: "completed", text: "42" });
    expect(states).toEqual(expect.arrayContaining(["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]));
  });

  test("the work is over meanwhile: its outcome, and no other request", async () => {
    at.agent.step(task.id);
    at.agent.step(task.id);
    const before = asked().length;
    expect(await task.result()).toMatchObject({ status: "completed", text: "42" });
    expect(asked().slice(before)).toEqual(["GetTask"]);
  });

  test("the card changed meanwhile: that is the answer", async () => {
    at.agent.rotateCard((card) => ({ ...card, description: "Something else." }));
    await expect(task.result()).rejects.toThrow(CardDriftError);
  });

  test("a read that fails for a moment is tried again", async () => {
    at.agent.once("GetTask", answer.reset());
    expect((await at.inTime(task.result())).status).toBe("auth-required");
  });
});
