import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { StreamingOperation, UnaryOperation } from "../../src/binding/binding.ts";
import { isA2ALeaseError } from "../../src/errors/any.ts";
import { collect, thrownBy } from "../wire/answers.ts";
import { readCapture, readExchange, readRecording, readSection, replay, replayBody } from "./captures.ts";
import { createRestRig } from "./http-json-rig.ts";
import { createRig, json, type SeenCall } from "./rig.ts";

const requests = {
  SendMessage: { message: { messageId: "m1", role: "ROLE_USER", parts: [{ text: "hello" }] } },
  SendStreamingMessage: { message: { messageId: "m1", role: "ROLE_USER", parts: [{ text: "hello" }] } },
  GetTask: { id: "nope" },
  ListTasks: {},
  CancelTask: { id: "nope" },
  SubscribeToTask: { id: "nope" },
  CreateTaskPushNotificationConfig: { taskId: "t1", url: "http://127.0.0.1:4999/hook" },
  ListTaskPushNotificationConfigs: { taskId: "t1" },
  GetExtendedAgentCard: {},
} as const;

function call(operation: UnaryOperation & keyof typeof requests, answer: (seen: SeenCall) => Response) {
  const rig = createRig(answer);
  return rig.binding.call(operation, requests[operation] as never, rig.call());
}

async function open(operation: StreamingOperation, answer: (seen: SeenCall) => Response) {
  const rig = createRig(answer);
  const stream = await rig.binding.open(operation, requests[operation] as never, rig.call());
  const { items, error } = await collect(stream.events);
  return { items, error, skipped: stream.skipped, deviations: stream.deviations };
}

const kindsOf = (items: readonly object[]) => items.flatMap((item) => Object.keys(item));

describe.each(["a2ajs-1.3.0", "mastra-server-1.69.0-v1"])("what %s answered in A2A 1.0", (server) => {
  const capture = (name: string) => replay(readCapture(`${server}-${name}`));

  test("to a message is a completed task", async () => {
    const { value, deviations } = await call("SendMessage", capture("SendMessage"));
    expect(value).toMatchObject({ task: { status: { state: "TASK_STATE_COMPLETED" }, artifacts: [{}] } });
    expect(deviations).toEqual([]);
  });

  test("to a list is a page of two tasks", async () => {
    const { value, deviations } = await call("ListTasks", capture("ListTasks"));
    expect(value).toMatchObject({ tasks: [{}, {}], nextPageToken: "", pageSize: 50, totalSize: 2 });
    expect(deviations).toEqual([]);
  });

  test("to a streamed message is a stream of four events", async () => {
    const { items, error, skipped, deviations } = await open(
      "SendStreamingMessage",
      capture("SendStreamingMessage"),
    );
    expect(items).toHaveLength(4);
    expect(items[0]).toHaveProperty("task");
    expect(items[3]).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
    expect({ error, skipped, deviations }).toEqual({
      error: undefined,
      skipped: { count: 0 },
      deviations: [],
    });
  });

  test("to an unknown task is that there is none", async () => {
    expect(await thrownBy(call("GetTask", capture("GetTask-missing")))).toMatchObject({
      code: "TASK_NOT_FOUND",
      rpcCode: -32001,
    });
  });

  test("to another protocol version is that it does not speak it", async () => {
    expect(await thrownBy(call("SendMessage", capture("BadVersion")))).toMatchObject({
      code: "VERSION_NOT_SUPPORTED",
    });
  });
});

describe("what a2ajs-1.3.0 answered in A2A 1.0", () => {
  const capture = (name: string) => replay(readCapture(`a2ajs-1.3.0-${name}`));
  const lifecycle = (heading: string) => readSection("a2ajs-1.3.0-lifecycle", heading);

  test.each([
    ["BadParams", "SendMessage", "INVALID_PARAMS"],
    ["GetExtendedAgentCard", "GetExtendedAgentCard", "UNSUPPORTED_OPERATION"],
    ["UnknownMethod", "GetTask", "METHOD_NOT_FOUND"],
  ] as const)("as %s is a typed error", async (name, operation, code) => {
    expect(await thrownBy(call(operation, capture(name)))).toMatchObject({ code });
  });

  test("to a subscription to a task that it does not know rejects the opening", async () => {
    expect(await thrownBy(open("SubscribeToTask", capture("Subscribe-missing")))).toMatchObject({
      code: "TASK_NOT_FOUND",
    });
  });

  test("to a subscription to a running task is a stream to its end", async () => {
    const { items, error } = await open(
      "SubscribeToTask",
      replay(readExchange(lifecycle("SubscribeToTask running"))),
    );
    expect({ kinds: kindsOf(items), error }).toEqual({
      kinds: ["task", "artifactUpdate", "statusUpdate"],
      error: undefined,
    });
  });

  test("to a subscription to a finished task is that this is not supported", async () => {
    const answer = replay(readExchange(lifecycle("SubscribeToTask terminal")));
    expect(await thrownBy(open("SubscribeToTask", answer))).toMatchObject({ code: "UNSUPPORTED_OPERATION" });
  });

  test("to the cancelling of a finished task is that it can't be cancelled", async () => {
    const answer = replayBody(lifecycle("CancelTask terminal"));
    expect(await thrownBy(call("CancelTask", answer))).toMatchObject({ code: "TASK_NOT_CANCELABLE" });
  });

  test("to a message that need not wait is a task that was only submitted", async () => {
    const { value } = await call("SendMessage", replayBody(lifecycle("returnImmediately")));
    expect(value).toMatchObject({ task: { status: { state: "TASK_STATE_SUBMITTED" } } });
  });

  test("to a request without a version is that it does not speak that version", async () => {
    const answer = replayBody(lifecycle("no A2A-Version"));
    expect(await thrownBy(call("GetTask", answer))).toMatchObject({ code: "VERSION_NOT_SUPPORTED" });
  });

  test("to push configurations is read with all its members", async () => {
    const [created = "", listed = ""] = lifecycle("push config").trim().split("\n");
    const config = { id: "c1", url: "http://127.0.0.1:4999/hook", authentication: { scheme: "Bearer" } };
    expect((await call("CreateTaskPushNotificationConfig", replayBody(created))).value).toMatchObject(config);
    expect((await call("ListTaskPushNotificationConfigs", replayBody(listed))).value).toMatchObject({
      configs: [config],
    });
  });

  test("over HTTP+JSON, sent where JSON-RPC was asked for, is told by its reason or refused", async () => {
    const section = (heading: string) => replay(readExchange(readSection("a2ajs-1.3.0-REST", heading)));
    expect(await thrownBy(call("GetTask", section("REST GET /tasks/nope")))).toMatchObject({
      code: "TASK_NOT_FOUND",
      httpStatus: 404,
    });
    expect(await thrownBy(call("GetTask", section("REST no version header")))).toMatchObject({
      code: "VERSION_NOT_SUPPORTED",
      httpStatus: 400,
    });
    const { items, error } = await open("SendStreamingMessage", section("REST stream"));
    expect({ items, error }).toMatchObject({ items: [], error: { code: "MALFORMED_RESPONSE" } });
  });
});

describe("what mastra-server-1.69.0 answered in A2A 1.0", () => {
  const capture = (name: string) => replay(readCapture(`mastra-server-1.69.0-v1-${name}`));

  test("as an extended card is that it has none", async () => {
    expect(await thrownBy(call("GetExtendedAgentCard", capture("GetExtendedAgentCard")))).toMatchObject({
      code: "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
    });
  });

  test.each(["BadParams", "UnknownMethod"])(
    "as %s, without an envelope, is its HTTP status",
    async (name) => {
      expect(await thrownBy(call("SendMessage", capture(name)))).toMatchObject({
        code: "HTTP_STATUS",
        status: 400,
      });
    },
  );

  test("to a subscription to an unknown task is a stream without an event", async () => {
    expect(await open("SubscribeToTask", capture("Subscribe-missing"))).toEqual({
      items: [],
      error: undefined,
      skipped: { count: 0 },
      deviations: [],
    });
  });

  test("from an agent whose card is of 0.3 is read as 1.0 all the same", async () => {
    const { value } = await call(
      "SendMessage",
      replay(readCapture("mastra-server-1.69.0-v03-v1-SendMessage")),
    );
    expect(value).toMatchObject({ task: { status: { state: "TASK_STATE_COMPLETED" } } });
  });
});

describe.each(["a2ajs-0.3.14", "google-adk-2.0.0", "mastra-server-1.69.0-v03"])(
  "what %s answered in A2A 0.3",
  (server) => {
    const capture = (name: string) => replay(readCapture(`${server}-${name}`));

    test("to a message is no success, and is said to be 0.3", async () => {
      const error = await thrownBy(call("SendMessage", capture("message-send")));
      expect(error).toMatchObject({ code: "MALFORMED_RESPONSE" });
      expect(String(error)).toContain("A2A 0.3");
    });

    test("to a streamed message is no stream that was cut, and is said to be 0.3", async () => {
      const { items, error, skipped } = await open("SendStreamingMessage", capture("message-stream"));
      expect(items).toEqual([]);
      expect(error).toMatchObject({ code: "MALFORMED_RESPONSE" });
      expect(String(error)).toContain("A2A 0.3");
      expect(skipped.count).toBeGreaterThan(2);
    });

    test("to anything that it refused is a typed error", async () => {
      const codes = await Promise.all(
        ["BadParams", "UnknownMethod", "tasks-get-missing"].map(async (name) => {
          const error = await thrownBy(call("GetTask", capture(name)));
          return (error as { code: string }).code;
        }),
      );
      const [refusal, missing] =
        {
          "a2ajs-0.3.14": ["INVALID_PARAMS", "TASK_NOT_FOUND"],
          "google-adk-2.0.0": ["INTERNAL_ERROR", "INTERNAL_ERROR"],
          "mastra-server-1.69.0-v03": ["HTTP_STATUS", "TASK_NOT_FOUND"],
        }[server] ?? [];
      const unknown = server.startsWith("mastra") ? "HTTP_STATUS" : "METHOD_NOT_FOUND";
      expect(codes).toEqual([refusal, unknown, missing]);
    });
  },
);

test.each(["a2ajs-0.3.14", "google-adk-2.0.0"])("%s does not know a method of A2A 1.0", async (server) => {
  const answer = replay(readCapture(`${server}-v1-SendMessage`));
  expect(await thrownBy(call("SendMessage", answer))).toMatchObject({ code: "METHOD_NOT_FOUND" });
});

test("a2ajs-1.3.0 in its layer for older clients answers in 0.3, which is said", async () => {
  const body = replayBody(readRecording("a2ajs-1.3.0-compat-message-send"));
  const error = await thrownBy(call("SendMessage", body));
  expect(String(error)).toContain("A2A 0.3");
});

describe("what a2ajs-1.3.0 answered in A2A 1.0 over HTTP+JSON", () => {
  const section = (heading: string) => {
    const { status, headers, body } = readExchange(readSection("a2ajs-1.3.0-REST", heading));
    return createRestRig(() => new Response(body, { status, headers }));
  };

  test.each([
    ["REST POST /message:send (application/a2a+json)", "task"],
    ["REST POST /message:send (application/json)", "message"],
  ])("to %s is a %s", async (heading, kind) => {
    const rig = section(heading);
    const { value, deviations } = await rig.binding.call("SendMessage", requests.SendMessage, rig.call());
    expect({ kinds: Object.keys(value), deviations }).toEqual({ kinds: [kind], deviations: [] });
  });

  test("to a streamed message is a stream of four events", async () => {
    const rig = section("REST stream");
    const stream = await rig.binding.open("SendStreamingMessage", requests.SendStreamingMessage, rig.call());
    const { items, error } = await collect(stream.events);
    expect({ kinds: kindsOf(items), error, skipped: stream.skipped, deviations: stream.deviations }).toEqual({
      kinds: ["task", "statusUpdate", "artifactUpdate", "statusUpdate"],
      error: undefined,
      skipped: { count: 0 },
      deviations: [],
    });
  });

  test.each([
    ["REST GET /tasks/nope", "TASK_NOT_FOUND", 404],
    ["REST no version header", "VERSION_NOT_SUPPORTED", 400],
  ])("to %s is a typed error", async (heading, code, httpStatus) => {
    const rig = section(heading);
    const error = await thrownBy(rig.binding.call("GetTask", requests.GetTask, rig.call()));
    expect(error).toMatchObject({ code, httpStatus });
  });
});

describe("what was recorded of JSON-RPC, sent where HTTP+JSON was asked for,", () => {
  const names = readdirSync(new URL("captures", import.meta.url))
    .map((file) => file.replace(/\.txt$/, ""))
    .filter((name) => !/REST|lifecycle|compat|card/.test(name));

  test.each(names)("is no success: %s", async (name) => {
    const { status, headers, body } = readCapture(name);
    for (const operation of [
      "SendMessage",
      "GetTask",
      "ListTasks",
      "ListTaskPushNotificationConfigs",
    ] as const) {
      const rig = createRestRig(() => new Response(body, { status, headers }));
      const error = await thrownBy(rig.binding.call(operation, requests[operation] as never, rig.call()));
      expect(isA2ALeaseError(error)).toBe(true);
    }
    const rig = createRestRig(() => new Response(body, { status, headers }));
    const opening = rig.binding.open("SubscribeToTask", requests.SubscribeToTask, rig.call());
    const items = await opening.then(
      async ({ events }) => (await collect(events)).items,
      () => [],
    );
    expect(items).toEqual([]);
  });

  test("in the older form of HTTP+JSON is no success either", async () => {
    // A2A 0.3 wrapped a message as msg, and its tasks had lower-case states and kinds.
    for (const older of [
      { msg: { messageId: "m" } },
      { kind: "task", id: "t1", status: { state: "completed" } },
    ]) {
      const rig = createRestRig(() => json(older));
      const error = await thrownBy(rig.binding.call("SendMessage", requests.SendMessage, rig.call()));
      expect(error).toMatchObject({ code: "MALFORMED_RESPONSE" });
    }
  });
});
