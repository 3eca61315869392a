import { CardDriftError, type TaskHandle, type TaskUpdate } from "a2a-lease";
import { answer, event } from "a2a-lease/testing";
import { describe, expect, test, vi } from "vitest";
import { caught } from "../flow/caught.ts";
import { useLoopback } from "./streams-setup.ts";

const at = useLoopback();
const updates = (items: readonly TaskUpdate[]) => items.map(({ kind }) => kind);

/** Collects while it goes on. */
function collect<T>(items: AsyncIterable<T>): { readonly seen: T[]; readonly done: Promise<void> } {
  const seen: T[] = [];
  const done = (async () => {
    for await (const item of items) seen.push(item);
  })();
  done.catch(() => {});
  return { seen, done };
}

describe("a task that is pinned anew while it is followed", () => {
  const patient = { fullCheckEveryMs: Number.POSITIVE_INFINITY };

  /** The old handle, the new one, and both followed. */
  async function renegotiated() {
    const task = await at.working(patient);
    const old = collect(task.follow());
    await vi.waitUntil(() => old.seen.length > 0);
    at.agent.rotateCard((card) => ({ ...card, description: "another" }));
    const next: TaskHandle = await task.renegotiate();
    const fresh = collect(next.follow());
    await vi.waitUntil(() => fresh.seen.length > 0);
    return { task, old, next, fresh };
  }

  test("has one connection for each pin, and the old one ends with its lease", async () => {
    const { task, old, next, fresh } = await renegotiated();
    expect(at.agent.openStreamCount).toBe(2);
    await caught(task.get(), CardDriftError);
    await caught(old.done, CardDriftError);
    await at.streamCount(1);
    at.agent.step(task.id);
    await at.inTime(fresh.done);

    expect(updates(fresh.seen)).toEqual(["snapshot", "artifact", "status"]);
    expect(next.artifacts[0]?.parts).toEqual([{ text: "1" }, { text: "2" }]);
  });

  test("brings each piece once, while both are followed", async () => {
    const { task, old, next, fresh } = await renegotiated();
    at.agent.step(task.id);
    await at.inTime(Promise.all([old.done, fresh.done]));

    for (const { seen } of [old, fresh]) expect(updates(seen)).toEqual(["snapshot", "artifact", "status"]);
    expect(next.artifacts[0]?.parts).toEqual([{ text: "1" }, { text: "2" }]);
  });
});

test("a reader that stops stops nobody, and one that leaves while it waits leaves the others their stream", async () => {
  const pieces = Array.from({ length: 200 }, (_, index) =>
    event.artifact("a", `${index} `, { append: index > 0 }),
  );
  const items = [event.task("TASK_STATE_WORKING"), ...pieces, event.status("TASK_STATE_COMPLETED")];
  at.agent.on("SubscribeToTask", answer.stream(items, { everyMs: 10 }));
  const task = await at.known();
  const artifacts = [{ artifactId: "a", parts: pieces.map((_, index) => ({ text: `${index} ` })) }];
  at.agent.tasks.put({ id: "t1", contextId: "c1", status: { state: "TASK_STATE_COMPLETED" }, artifacts });
  const stopped = task.follow()[Symbol.asyncIterator]();
  const leaving = task.follow()[Symbol.asyncIterator]();
  const outcome = task.result();
  await at.inTime(Promise.all([stopped.next(), leaving.next()]), 10);
  const waiting = leaving.next();
  await Promise.all([waiting, leaving.return?.()]);

  expect(await at.inTime(outcome, 10)).toMatchObject({ status: "completed" });
  expect(at.agent.calls("SubscribeToTask")).toHaveLength(1);
  await stopped.return?.();
});
