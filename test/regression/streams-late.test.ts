import { LifecycleMismatchError } from "a2a-lease";
import { answer, event } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { all, kindsOf } from "../flow/lifecycle-setup.ts";
import { useLoopback } from "./streams-setup.ts";

const at = useLoopback();
const kinds = (items: readonly object[]) => items.map((item) => Object.keys(item)[0]);
const date = (second: number) => ({ timestamp: `2026-01-01T00:00:0${second}Z` });
const put = (state: string, status: object = {}) =>
  at.agent.tasks.put({ id: "t1", contextId: "c1", status: { state, ...status } } as never);

/** A raw stream whose events are all on this side before the first of them is read, after a read of the task. */
async function readLate(items: readonly object[], end: { readonly state: string } & object) {
  at.agent.on(
    "SubscribeToTask",
    answer.stream(items as never, { chunkBytes: Number.POSITIVE_INFINITY, end: "silence" }),
  );
  const task = await at.known();
  await task.get();
  const stream = await task.subscribe();
  put(end.state, end);
  await task.get();
  return { task, reading: all(stream) };
}

describe("a stream that is read late, after a read of the task saw its end", () => {
  const dates: readonly (readonly [string, object, object])[] = [
    ["without dates", {}, {}],
    ["of one and the same date", date(1), date(1)],
    ["that are older", date(1), date(2)],
    ["without dates before an end that has one", {}, date(2)],
  ];
  test.each(dates)("brings its old events %s, and nobody is accused", async (_what, old, last) => {
    const items = [
      event.task("TASK_STATE_WORKING"),
      event.status("TASK_STATE_WORKING", { ...old, text: "half" }),
      event.artifact("a", "1"),
      event.status("TASK_STATE_COMPLETED", last),
    ];
    const { task, reading } = await readLate(items, { state: "TASK_STATE_COMPLETED", ...last });

    expect(kinds(await reading)).toEqual(["task", "statusUpdate", "artifactUpdate", "statusUpdate"]);
    expect(task.state).toBe("TASK_STATE_COMPLETED");
    expect(kindsOf(task)).not.toContain("terminal-is-final");
  });

  test.each([
    ["of an older date", date(1)],
    ["without a date", {}],
    ["with a text that the task does not have", { ...date(2), text: "done" }],
  ])("ends with the same end %s", async (_what, last) => {
    const items = [event.task("TASK_STATE_WORKING"), event.status("TASK_STATE_COMPLETED", last)];
    const { reading } = await readLate(items, { state: "TASK_STATE_COMPLETED", ...date(2) });

    expect(kinds(await reading)).toEqual(["task", "statusUpdate"]);
  });

  test.each([
    ["goes on at a later date", [event.status("TASK_STATE_WORKING", { ...date(3), text: "still" })]],
    ["ends otherwise", [event.status("TASK_STATE_FAILED", date(1))]],
  ])("and %s breaks a rule", async (_what, items) => {
    const end = { state: "TASK_STATE_COMPLETED", ...date(2) };
    const { task, reading } = await readLate([event.task("TASK_STATE_WORKING"), ...items], end);
    const error = await caught(reading, LifecycleMismatchError);

    expect(error).toMatchObject({ rule: "terminal-is-final" });
    expect(task.state).toBe("TASK_STATE_COMPLETED");
  });
});
