import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readResponse, writeBindingRequest } from "../../src/binding/body.ts";
import type { OperationName, Operations } from "../../src/model/operations.ts";
import { operationFacts } from "../../src/model/operations.ts";

const message = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "hi" }] } as const;

describe("a request", () => {
  const everything: { [O in OperationName]: Operations[O]["request"] } = {
    SendMessage: {
      message: {
        ...message,
        contextId: "c1",
        taskId: "t1",
        parts: [
          { text: "", metadata: { a: [1, null] }, filename: "a.txt", mediaType: "text/plain" },
          { raw: "AAEC" },
          { url: "https://files.example/x" },
          { data: null },
        ],
        metadata: { b: 2 },
        extensions: ["urn:x"],
        referenceTaskIds: ["t0"],
      },
      configuration: {
        acceptedOutputModes: [],
        historyLength: 0,
        returnImmediately: false,
        taskPushNotificationConfig: {
          id: "p1",
          url: "https://me.example/hook",
          token: "t",
          authentication: { scheme: "Bearer" },
        },
      },
      metadata: {},
    },
    SendStreamingMessage: { message },
    GetTask: { id: "t1", historyLength: 3 },
    ListTasks: {
      contextId: "c1",
      status: "TASK_STATE_WORKING",
      pageSize: 10,
      pageToken: "p",
      historyLength: 0,
      statusTimestampAfter: "2026-01-01T00:00:00Z",
      includeArtifacts: true,
    },
    CancelTask: { id: "t1", metadata: { why: "enough" } },
    SubscribeToTask: { id: "t1" },
    CreateTaskPushNotificationConfig: {
      id: "p1",
      taskId: "t1",
      url: "https://me.example/hook",
      token: "t",
      authentication: { scheme: "Bearer", credentials: "c" },
    },
    GetTaskPushNotificationConfig: { taskId: "t1", id: "p1" },
    ListTaskPushNotificationConfigs: { taskId: "t1", pageSize: 5, pageToken: "p" },
    DeleteTaskPushNotificationConfig: { taskId: "t1", id: "p1" },
    GetExtendedAgentCard: {},
  };
  const operations = Object.keys(operationFacts) as OperationName[];

  test.each(operations)("of %s keeps every member that the spec names", (operation) => {
    expect(writeBindingRequest(operation, everything[operation], undefined)).toEqual(everything[operation]);
  });

  test.each(operations)("of %s has the tenant of the interface, and only where it has one", (operation) => {
    expect(writeBindingRequest(operation, everything[operation], "acme")).toEqual({
      tenant: "acme",
      ...everything[operation],
    });
    expect(writeBindingRequest(operation, everything[operation], "")).not.toHaveProperty("tenant");
  });

  test.each(operations)("of %s has no member that the spec does not name, at any depth", (operation) => {
    const stuffed = stuff(everything[operation]) as never;
    expect(writeBindingRequest(operation, stuffed, undefined)).toEqual(everything[operation]);
  });

  test("has no member that is undefined", () => {
    const request = { id: "t1", historyLength: undefined } as never;
    expect(Object.keys(writeBindingRequest("GetTask", request, undefined))).toEqual(["id"]);
  });

  test.each([
    [{}, "message.parts[1] has none of text, raw, url, data; wanted exactly one"],
    [
      { text: "a", data: 1 },
      "message.parts[1] has text and data of text, raw, url, data; wanted exactly one",
    ],
  ])("with the part %j is refused by name", (part, text) => {
    const bad = { message: { ...message, parts: [{ text: "ok" }, part] } } as never;
    expect(() => writeBindingRequest("SendMessage", bad, undefined)).toThrow(new TypeError(text));
  });

  /** Puts a member that no spec names into every object but the free-form ones. */
  function stuff(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(stuff);
    if (typeof value !== "object" || value === null) return value;
    const members = Object.entries(value).map(([name, member]) => [
      name,
      name === "metadata" || name === "data" ? member : stuff(member),
    ]);
    return { ...Object.fromEntries(members), tenant: "of the caller", raw_: 1, kind: "x" };
  }
});

describe("an answer", () => {
  const working = { id: "t1", contextId: "c1", status: { state: "TASK_STATE_WORKING" } };
  const read = (operation: OperationName, wire: unknown) => readResponse(operation, wire, "$.result");
  const kinds = (operation: OperationName, wire: unknown) => {
    const reading = read(operation, wire);
    return reading.ok ? reading.deviations.map(({ kind, path }) => `${kind} ${path}`) : reading.issues;
  };

  test("that follows the spec is read with its unknown members and without a deviation, frozen", () => {
    const wire = { task: { ...working, "x-more": { deep: [1] } } };
    const reading = read("SendMessage", wire);
    expect(reading).toEqual({ ok: true, value: wire, deviations: [] });
    const value = reading.ok ? (reading.value as typeof wire) : wire;
    expect(Object.isFrozen(value.task["x-more"].deep)).toBe(true);
  });

  test.each<[OperationName, unknown, { path: string; message: string }]>([
    ["GetTask", null, { path: "$.result", message: "found null, wanted an object" }],
    ["GetTask", undefined, { path: "$.result", message: "found nothing, wanted an object" }],
    ["GetTask", { ...working, id: 7 }, { path: "$.result.id", message: "found number 7, wanted a string" }],
    [
      "SendMessage",
      { task: { ...working, artifacts: [{ artifactId: "a", parts: [{ text: "x", url: "y" }] }] } },
      {
        path: "$.result.task.artifacts[0].parts[0]",
        message: "found text and url of text, raw, url, data; wanted exactly one",
      },
    ],
    ["SendMessage", {}, { path: "$.result", message: "found none of task, message; wanted exactly one" }],
    [
      "SendMessage",
      { kind: "task", ...working },
      {
        path: "$.result",
        message: 'found the form of A2A 0.3, with kind "task"; wanted exactly one of task, message',
      },
    ],
    [
      "SubscribeToTask",
      { kind: "status-update", taskId: "t1", final: true, status: { state: "completed" } },
      {
        path: "$.result",
        message:
          'found the form of A2A 0.3, with kind "status-update"; wanted exactly one of task, message, statusUpdate, artifactUpdate',
      },
    ],
    [
      "SendMessage",
      working,
      { path: "$.result", message: "found a bare task; wanted exactly one of task, message" },
    ],
    [
      "CancelTask",
      { task: { id: "t1" } },
      { path: "$.result.task.status", message: "found nothing, wanted an object" },
    ],
    [
      "ListTasks",
      { tasks: [working, 5] },
      { path: "$.result.tasks[1]", message: "found number 5, wanted an object" },
    ],
    [
      "ListTasks",
      { kind: "task", id: "t1", status: { state: "completed" } },
      { path: "$.result", message: 'found the form of A2A 0.3, with kind "task"; wanted tasks' },
    ],
    ["ListTasks", { task: working }, { path: "$.result", message: "found a task; wanted tasks" }],
    [
      "ListTaskPushNotificationConfigs",
      working,
      { path: "$.result", message: "found a bare task; wanted configs" },
    ],
  ])("to %s that is %j is refused with what was found and wanted", (operation, wire, issue) => {
    expect(read(operation, wire)).toEqual({ ok: false, issues: [issue] });
  });

  test.each<[OperationName, unknown, string[]]>([
    ["GetTask", { task: working }, ["wrapped-task $.result"]],
    ["GetTask", { ...working, status: { state: "completed" } }, ["legacy-state $.result.status.state"]],
    ["GetTask", { ...working, status: { state: 2 } }, ["legacy-state $.result.status.state"]],
    ["GetTask", { ...working, status: { state: "PAUSED" } }, ["unknown-state $.result.status.state"]],
    ["GetTask", { ...working, status: {} }, ["missing-state $.result.status.state"]],
    ["GetTask", { ...working, kind: "task" }, ["legacy-kind $.result.kind"]],
    [
      "SendMessage",
      {
        task: { ...working, history: [message, { ...message, role: "agent" }, { ...message, role: "tool" }] },
      },
      ["legacy-role $.result.task.history[1].role", "unknown-role $.result.task.history[2].role"],
    ],
    ["ListTasks", {}, ["missing-list $.result.tasks"]],
    [
      "ListTasks",
      { tasks: [working, { ...working, status: { state: "working" } }] },
      ["legacy-state $.result.tasks[1].status.state"],
    ],
    [
      "SubscribeToTask",
      { statusUpdate: { taskId: "t1", status: { state: "TASK_STATE_WORKING" } } },
      ["missing-context-id $.result.statusUpdate.contextId"],
    ],
    ["DeleteTaskPushNotificationConfig", undefined, ["missing-result $.result"]],
    ["DeleteTaskPushNotificationConfig", null, []],
    ["DeleteTaskPushNotificationConfig", {}, []],
    ["ListTaskPushNotificationConfigs", {}, []],
  ])("to %s that is %j is read with its deviations", (operation, wire, found) => {
    expect(kinds(operation, wire)).toEqual(found);
  });

  test("keeps the wire's own word of a state that the spec does not have, and says so in few characters", () => {
    const state = "BOGUS".repeat(1000);
    const reading = read("GetTask", { ...working, status: { state, raw: "forged" } });
    expect(reading).toMatchObject({ ok: true, value: { status: { state: "unknown", raw: state } } });
    expect(JSON.stringify(reading.ok && reading.deviations).length).toBeLessThan(300);
  });

  test("has a bounded list of deviations", () => {
    const history = Array.from({ length: 1000 }, () => ({ ...message, role: "user" }));
    expect(kinds("GetTask", { ...working, history })).toHaveLength(100);
  });

  test("of any JSON is read or refused, and never throws", () => {
    const operation = fc.constantFrom(...(Object.keys(operationFacts) as OperationName[]));
    const member = fc.constantFrom(
      "task",
      "message",
      "status",
      "state",
      "parts",
      "id",
      "kind",
      "tasks",
      "history",
      "role",
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        fc.constantFrom(null, 1, "x", true, "TASK_STATE_WORKING"),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(member, tie("value"), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(operation, value, (name, wire) => {
        expect(typeof readResponse(name, wire, "$").ok).toBe("boolean");
      }),
      { numRuns: 1000 },
    );
  });
});
