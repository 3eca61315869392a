import { describe, expect, test } from "vitest";
import { sendMessageResponseSchema, streamResponseSchema } from "../../src/model/events.ts";
import { readBySchema } from "../../src/model/issues.ts";
import { listPushConfigsResponseSchema } from "../../src/model/push.ts";
import { listTasksResponseSchema } from "../../src/model/requests.ts";
import {
  isInterruptedState,
  isTerminalState,
  readTaskState,
  type TaskState,
  taskStates,
} from "../../src/model/states.ts";
import { taskSchema } from "../../src/model/task.ts";

const task = { id: "t1", contextId: "c1", status: { state: "TASK_STATE_WORKING" } };

describe("a state", () => {
  test.each(taskStates)("%s is read by its own name, without a raw text", (state) => {
    expect(readTaskState(state)).toEqual({ state });
  });

  test.each<[unknown, TaskState]>([
    ["submitted", "TASK_STATE_SUBMITTED"],
    ["working", "TASK_STATE_WORKING"],
    ["completed", "TASK_STATE_COMPLETED"],
    ["failed", "TASK_STATE_FAILED"],
    ["canceled", "TASK_STATE_CANCELED"],
    ["cancelled", "TASK_STATE_CANCELED"],
    ["TASK_STATE_CANCELLED", "TASK_STATE_CANCELED"],
    ["input-required", "TASK_STATE_INPUT_REQUIRED"],
    ["rejected", "TASK_STATE_REJECTED"],
    ["auth-required", "TASK_STATE_AUTH_REQUIRED"],
    ["unknown", "TASK_STATE_UNSPECIFIED"],
    [0, "TASK_STATE_UNSPECIFIED"],
    [1, "TASK_STATE_SUBMITTED"],
    [2, "TASK_STATE_WORKING"],
    [3, "TASK_STATE_COMPLETED"],
    [4, "TASK_STATE_FAILED"],
    [5, "TASK_STATE_CANCELED"],
    [6, "TASK_STATE_INPUT_REQUIRED"],
    [7, "TASK_STATE_REJECTED"],
    [8, "TASK_STATE_AUTH_REQUIRED"],
  ])("%j is read as %s, and its text is kept", (wire, state) => {
    expect(readTaskState(wire)).toEqual({ state, raw: String(wire) });
  });

  test.each<[unknown, string]>([
    ["TASK_STATE_PAUSED", "TASK_STATE_PAUSED"],
    ["BOGUS_STATE", "BOGUS_STATE"],
    ["task_state_completed", "task_state_completed"],
    ["Completed", "Completed"],
    ["", ""],
    ["3", "3"],
    ["toString", "toString"],
    [9, "9"],
    [-1, "-1"],
    [1.5, "1.5"],
  ])("%j is unknown, and its text is kept (E1, E2)", (wire, raw) => {
    expect(readTaskState(wire)).toEqual({ state: "unknown", raw });
  });

  test.each([undefined, null, "TASK_STATE_UNSPECIFIED"])("%j is unspecified", (wire) => {
    expect(readTaskState(wire)).toEqual({ state: "TASK_STATE_UNSPECIFIED" });
  });

  test("is terminal, interrupted or neither; what is not known is neither", () => {
    const states: TaskState[] = [...taskStates, "TASK_STATE_UNSPECIFIED", "unknown"];
    expect([states.filter(isTerminalState), states.filter(isInterruptedState)]).toEqual([
      ["TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED"],
      ["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED"],
    ]);
  });
});

describe("a task is read", () => {
  test.each([
    [
      "with an unknown state and its text",
      { status: { state: "TASK_STATE_PAUSED" } },
      { status: { state: "unknown", raw: "TASK_STATE_PAUSED" } },
    ],
    [
      "with a foreign member called raw in its status left out",
      { status: { state: "TASK_STATE_WORKING", raw: "x" } },
      {},
    ],
    ["with no state", { status: {} }, { status: { state: "TASK_STATE_UNSPECIFIED" } }],
    [
      "with unknown members kept",
      { kind: "task", "x-a": { b: null }, status: { ...task.status, "x-c": [null] } },
      { kind: "task", "x-a": { b: null }, status: { ...task.status, "x-c": [null] } },
    ],
    [
      "with nulls as absent",
      {
        artifacts: null,
        history: null,
        metadata: null,
        status: { ...task.status, message: null, timestamp: null },
      },
      {},
    ],
    ["with empty lists as empty lists", { artifacts: [], history: [] }, { artifacts: [], history: [] }],
  ])("%s", (_what, members, expected) => {
    expect(readBySchema(taskSchema, { ...task, ...members })).toEqual({
      ok: true,
      value: { ...task, ...expected },
    });
  });

  test.each([
    [{ ...task, id: "" }, "$.id", 'found string "", wanted a text that is not empty'],
    [{ ...task, id: null }, "$.id", "found null, wanted a string"],
    [{ ...task, status: undefined }, "$.status", "found nothing, wanted an object"],
    [{ ...task, status: { state: {} } }, "$.status.state", "found an object, wanted a string or a number"],
    [{ ...task, artifacts: [{ artifactId: "a" }] }, "$.artifacts[0].parts", "found nothing, wanted an array"],
    [{ ...task, history: [1] }, "$.history[0]", "found number 1, wanted an object"],
    [
      { ...task, contextId: "c".repeat(2_049) },
      "$.contextId",
      `found string "${"c".repeat(79)}… (1971 more), wanted at most 2048 characters`,
    ],
  ])("unless it is none: %#", (value, path, message) => {
    expect(readBySchema(taskSchema, value)).toEqual({ ok: false, issues: [{ path, message }] });
  });
});

describe("an event or an answer", () => {
  const message = { messageId: "m", role: "ROLE_AGENT", parts: [] };
  const artifactUpdate = {
    taskId: "t1",
    contextId: "c1",
    artifact: { artifactId: "a", parts: [{ data: null }] },
    append: true,
  };

  test.each([
    { task },
    { message },
    { statusUpdate: { taskId: "t1", status: task.status } },
    { artifactUpdate },
  ])("is exactly one of what it can be: %#", (event) => {
    expect(readBySchema(streamResponseSchema, event)).toEqual({ ok: true, value: event });
  });

  test("may have the others as null, and members of its own", () => {
    expect(readBySchema(streamResponseSchema, { task, message: null, statusUpdate: null, x: 1 })).toEqual({
      ok: true,
      value: { task, x: 1 },
    });
  });

  test.each([
    [{}, "found none of task, message, statusUpdate, artifactUpdate; wanted exactly one"],
    [
      { task, message },
      "found task and message of task, message, statusUpdate, artifactUpdate; wanted exactly one",
    ],
  ])("is refused when it is none or two: %#", (event, found) => {
    expect(readBySchema(streamResponseSchema, event)).toEqual({
      ok: false,
      issues: [{ path: "$", message: found }],
    });
  });

  test("of a send is a task or a message", () => {
    expect([
      readBySchema(sendMessageResponseSchema, { task }).ok,
      readBySchema(sendMessageResponseSchema, { message }).ok,
      readBySchema(sendMessageResponseSchema, { statusUpdate: {} }).ok,
    ]).toEqual([true, true, false]);
  });
});

describe("a page", () => {
  test("of tasks may leave everything out, and have its numbers as texts", () => {
    expect([
      readBySchema(listTasksResponseSchema, {}),
      readBySchema(listTasksResponseSchema, {
        tasks: null,
        nextPageToken: null,
        pageSize: "12",
        totalSize: -1,
      }),
    ]).toEqual([
      { ok: true, value: { tasks: [], nextPageToken: "" } },
      { ok: true, value: { tasks: [], nextPageToken: "", pageSize: 12, totalSize: -1 } },
    ]);
  });

  test.each([
    [{ pageSize: 1.5 }, "$.pageSize", "found number 1.5, wanted an integer"],
    [{ totalSize: "1e3" }, "$.totalSize", 'found string "1e3", wanted a number'],
    [{ totalSize: true }, "$.totalSize", "found boolean true, wanted a number"],
  ])("has no number that is none: %j", (page, path, message) => {
    expect(readBySchema(listTasksResponseSchema, page)).toEqual({ ok: false, issues: [{ path, message }] });
  });

  test("of push configurations may leave everything out", () => {
    expect(readBySchema(listPushConfigsResponseSchema, {})).toEqual({ ok: true, value: { configs: [] } });
  });
});
