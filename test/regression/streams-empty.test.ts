import { type TaskUpdate, TimeoutError } from "a2a-lease";
import { answer, frame } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { all } from "../flow/lifecycle-setup.ts";
import { useLoopback } from "./streams-setup.ts";

const at = useLoopback();
const empty = { "content-type": "text/event-stream", "content-length": "0" };
const put = (state: string, more: object = {}) =>
  at.agent.tasks.put({ id: "t1", contextId: "c1", status: { state }, ...more } as never);
const updates = (items: readonly TaskUpdate[]) => items.map(({ kind }) => kind);

describe("an agent whose streams show nothing at all", () => {
  const ways = [
    ["without a byte", answer.http(200, "", empty)],
    ["of a comment alone", answer.stream([frame.comment("hello")])],
    ["that break after their head", answer.stream([], { end: "cut" })],
  ] as const;

  test.each(ways)("%s: what the task came to is seen all the same", async (_what, reply) => {
    at.agent.on("SubscribeToTask", () => {
      if (at.agent.calls("SubscribeToTask").length === 3) put("TASK_STATE_COMPLETED");
      return reply;
    });
    const seen = await at.inTime(all((await at.known()).follow()));

    expect(seen.at(-1)?.task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(at.agent.calls("SubscribeToTask")).toHaveLength(3);
  });

  test.each(ways)("%s: is polled where that goes on, however long its task takes", async (_what, reply) => {
    at.agent.on("SubscribeToTask", reply);
    at.agent.on("GetTask", () => {
      const reads = at.agent.calls("GetTask").length;
      const artifacts = [{ artifactId: "a", parts: [{ text: "1" }] }];
      if (reads === 30) put("TASK_STATE_COMPLETED", { artifacts });
      return answer.honest();
    });
    const seen = await at.inTime(all((await at.known()).follow()), 10_000);

    expect(updates(seen).at(-1)).toBe("status");
    expect(seen.at(-1)?.task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(at.agent.calls("SubscribeToTask")).toHaveLength(5);
  });

  test("can be waited for by its deadline", async () => {
    at.agent.on("SubscribeToTask", ways[0][1]);
    const task = await at.known();
    const error = await caught(at.inTime(task.result({ deadlineMs: 600_000 }), 10_000), TimeoutError);
    expect(error).toMatchObject({ budget: "deadline" });
  });

  test("and whose task can't be read is given up", async () => {
    at.agent.on("SubscribeToTask", ways[0][1]);
    at.agent.on("GetTask", answer.http(503, ""));
    const task = await at.known();
    await caught(at.inTime(all(task.follow({ maxAttempts: 3 }))));
    expect(at.agent.calls("SubscribeToTask").length).toBeLessThanOrEqual(3);
  });
});
