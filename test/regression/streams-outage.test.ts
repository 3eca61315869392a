import { LeaseUnverifiableError } from "a2a-lease";
import { answer, event } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { all } from "../flow/lifecycle-setup.ts";
import { useLoopback } from "./streams-setup.ts";

const at = useLoopback();
const working = event.task("TASK_STATE_WORKING");
const done = answer.stream([working, event.status("TASK_STATE_COMPLETED")]);
const put = (state: string) => at.agent.tasks.put({ id: "t1", contextId: "c1", status: { state } } as never);

describe("a network that is down takes the card along with the stream", () => {
  const downs = [
    ["a broken connection", answer.reset()],
    ["a status that passes", answer.http(503, "")],
  ] as const;

  test.each(downs)("and who follows goes on when it is back (%s)", async (_what, down) => {
    at.agent.once("SubscribeToTask", () => {
      at.agent.once("card", down, down);
      return answer.stream([working], { end: "cut" });
    });
    at.agent.on("SubscribeToTask", () => {
      put("TASK_STATE_COMPLETED");
      return done;
    });
    const task = await at.known();
    const outcome = await at.inTime(task.result());

    expect(outcome).toMatchObject({ status: "completed" });
  });

  test.each(downs)("and who polls goes on when it is back (%s)", async (_what, down) => {
    at.agent.on("SubscribeToTask", answer.error(-32004, "no streams"));
    let reads = 0;
    at.agent.on("GetTask", () => {
      reads += 1;
      if (reads === 2) at.agent.once("card", down, down);
      if (reads === 6) put("TASK_STATE_COMPLETED");
      return answer.honest();
    });
    const task = await at.known();
    const seen = await at.inTime(all(task.follow()));

    expect(seen.at(-1)?.task.status.state).toBe("TASK_STATE_COMPLETED");
  });

  test.each(downs)("and who follows gives up where it stays away (%s)", async (_what, down) => {
    at.agent.on("SubscribeToTask", () => {
      at.agent.on("card", down);
      return answer.stream([working], { end: "cut" });
    });
    const task = await at.known();
    const error = await caught(at.inTime(all(task.follow())), LeaseUnverifiableError);

    expect(error.retry).toBe("safe");
  });
});

test("leaving a sequence that waits for its next update ends it at once, and lets its connection go", async () => {
  const task = await at.working();
  const updates = task.follow()[Symbol.asyncIterator]();
  await updates.next();
  const waiting = updates.next();
  await updates.return?.();

  expect(await waiting).toEqual({ done: true, value: undefined });
  await at.streamCount(0);
  expect(at.clock.pendingCount).toBe(0);
});
