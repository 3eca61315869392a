/** The tasks of an agent, page by page, and the end of those that still run. */
import assert from "node:assert/strict";
import { createClient, type TaskHandle } from "a2a-lease";
import { startRealAgent } from "./support/real-agent.ts";

await using agent = await startRealAgent();
const report = "The river rose two metres. The bridge was closed. Nobody was hurt.";

// Yesterday's process: two tasks are done, and three are held up in the middle.
const yesterday = await createClient(agent.url);
const finished: TaskHandle[] = [];
for (const contextId of ["a", "b"]) {
  const reply = await yesterday.sendMessage(report, { contextId, blocking: true });
  assert.ok("task" in reply);
  finished.push(reply.task);
}
agent.hold();
for (const contextId of ["a", "b", "b"]) await yesterday.sendMessage(report, { contextId });
await yesterday.close();

// Today's process has nothing in hand.
const client = await createClient(agent.url);

// #region list
// One page; the handles of it are pinned, known to the ledger, and can be followed, read or cancelled.
const first = await client.listTasks({ pageSize: 2, historyLength: 0 });
console.log(`${first.tasks.length} of ${first.totalSize}`);

// All pages, read as the loop comes to them. Each task comes once.
for await (const task of first) console.log(task.id, task.contextId, task.state);

// What a page shows of a task may break a rule: that is told, and takes no other task along.
for (const { task, error } of first.failures) console.log(task.id, error.code);
// #endregion list

assert.deepEqual([first.tasks.length, first.totalSize], [2, 5]);

// #region cancel
import { TaskNotCancelableError } from "a2a-lease";

for await (const task of await client.listTasks({ contextId: "b", status: "TASK_STATE_WORKING" })) {
  try {
    await task.cancel(); // resolves when the task is seen to be canceled
  } catch (error) {
    if (!(error instanceof TaskNotCancelableError)) throw error; // it was faster
  }
  console.log(task.id, task.state);
}
// #endregion cancel

const states: Record<string, number> = {};
for await (const { contextId, state } of await client.listTasks()) {
  const key = `${contextId} ${state}`;
  states[key] = (states[key] ?? 0) + 1;
}
assert.deepEqual(states, {
  "a TASK_STATE_COMPLETED": 1,
  "a TASK_STATE_WORKING": 1,
  "b TASK_STATE_COMPLETED": 1,
  "b TASK_STATE_CANCELED": 2,
});

agent.release();
await client.close();
