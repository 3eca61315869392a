import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { UnaryOperation } from "../../src/binding/binding.ts";
import { createHttpJsonBinding } from "../../src/binding/http-json.ts";
import { isA2ALeaseError } from "../../src/errors/any.ts";
import { createHttp } from "../../src/wire/http.ts";
import { defaultLimits } from "../../src/wire/limits.ts";
import { collect, createPipe, thrownBy } from "../wire/answers.ts";
import { serve } from "../wire/loopback.ts";
import { createRestRig, restInterface, type SeenRestCall, status } from "./http-json-rig.ts";
import { events, json, statusUpdate, task } from "./rig.ts";

const message = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "hi" }] } as const;
const config = { id: "p1", taskId: "t1", url: "https://me.example/hook", token: "tok" };
const { taskId: _inPath, ...configBody } = config;
const card = {
  name: "T",
  description: "t",
  version: "1",
  capabilities: {},
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
  supportedInterfaces: [],
  "x-more": { a: null },
};
const working = task("TASK_STATE_WORKING");
const base = "https://agent.example/rest";
const json10 = "application/a2a+json, application/json";

async function getTask(answer: (seen: SeenRestCall) => Response, limits = {}) {
  const rig = createRestRig(answer, limits);
  return rig.binding.call("GetTask", { id: "t1" }, rig.call());
}

describe("an answer that no later call could follow, or that is an error", () => {
  test.each([".", "..", "half \ud800"])(
    "that names a task %j, which no path can, is malformed",
    async (id) => {
      const lost = { ...working, id };
      const rig = createRestRig(({ url }) =>
        json(url.endsWith("send") ? { task: lost } : { tasks: [working, lost] }),
      );
      const sent = await thrownBy(rig.binding.call("SendMessage", { message }, rig.call()));
      expect(sent).toMatchObject({ code: "MALFORMED_RESPONSE", issues: [{ path: "$.task.id" }] });
      const listed = await thrownBy(rig.binding.call("ListTasks", {}, rig.call()));
      expect(listed).toMatchObject({ code: "MALFORMED_RESPONSE", issues: [{ path: "$.tasks[1].id" }] });
    },
  );

  test.each([
    ["a bare status with its name", { code: 5, status: "NOT_FOUND", message: "no", details: [] }],
    [
      "a status in an error, beside an empty task",
      { ...status(404, "NOT_FOUND"), id: null, status: "error" },
    ],
  ])("under a status of success that is %s is that error", async (_what, body) => {
    expect(await thrownBy(getTask(() => json(body)))).toMatchObject({ code: "TASK_NOT_FOUND" });
  });
});

describe("a call", () => {
  test.each<[UnaryOperation, object, string, object | undefined, unknown]>([
    ["SendMessage", { message }, "POST /message:send", { message }, { task: working }],
    ["GetTask", { id: "t1" }, "GET /tasks/t1", undefined, working],
    ["GetTask", { id: "t1", historyLength: 0 }, "GET /tasks/t1?historyLength=0", undefined, working],
    ["ListTasks", {}, "GET /tasks", undefined, { tasks: [], nextPageToken: "" }],
    [
      "ListTasks",
      {
        contextId: "c 1",
        status: "TASK_STATE_WORKING",
        pageSize: 5,
        pageToken: "a+b/c=&",
        historyLength: 2,
        statusTimestampAfter: "2026-01-01T00:00:00.000Z",
        includeArtifacts: true,
      },
      "GET /tasks?contextId=c%201&status=TASK_STATE_WORKING&pageSize=5&pageToken=a%2Bb%2Fc%3D%26&historyLength=2" +
        "&statusTimestampAfter=2026-01-01T00%3A00%3A00.000Z&includeArtifacts=true",
      undefined,
      { tasks: [working], nextPageToken: "n", pageSize: 5, totalSize: 9 },
    ],
    ["CancelTask", { id: "t1" }, "POST /tasks/t1:cancel", {}, task("TASK_STATE_CANCELED")],
    [
      "CancelTask",
      { id: "t1", metadata: { why: "x" } },
      "POST /tasks/t1:cancel",
      { metadata: { why: "x" } },
      working,
    ],
    [
      "CreateTaskPushNotificationConfig",
      config,
      "POST /tasks/t1/pushNotificationConfigs",
      configBody,
      config,
    ],
    [
      "GetTaskPushNotificationConfig",
      { taskId: "t1", id: "p1" },
      "GET /tasks/t1/pushNotificationConfigs/p1",
      undefined,
      config,
    ],
    [
      "ListTaskPushNotificationConfigs",
      { taskId: "t1", pageSize: 2, pageToken: "n" },
      "GET /tasks/t1/pushNotificationConfigs?pageSize=2&pageToken=n",
      undefined,
      { configs: [config], nextPageToken: "o" },
    ],
    [
      "DeleteTaskPushNotificationConfig",
      { taskId: "t1", id: "p1" },
      "DELETE /tasks/t1/pushNotificationConfigs/p1",
      undefined,
      null,
    ],
    ["GetExtendedAgentCard", {}, "GET /extendedAgentCard", undefined, card],
  ])("of %s with %j is %s", async (operation, request, route, body, answer) => {
    const rig = createRestRig(() => json(answer));
    const headers = { "x-own": "1", "a2a-version": "0.3", "content-type": "text/plain", accept: "text/css" };
    const { "content-type": _mine, ...sent } = headers;

    const given = await rig.binding.call(operation, request as never, rig.call({ headers: sent }));

    const [method = "", path = ""] = route.split(" ");
    expect(rig.seen).toEqual([
      {
        method,
        url: base + path,
        headers: {
          "x-own": "1",
          "a2a-version": "1.0",
          accept: json10,
          ...(body === undefined ? {} : { "content-type": "application/a2a+json" }),
        },
        ...(body === undefined ? {} : { body }),
      },
    ]);
    const wire = operation === "GetExtendedAgentCard" ? { wire: answer } : {};
    expect(given).toEqual({ value: answer, deviations: [], ...wire });
    expect(Object.isFrozen(given) && Object.isFrozen(given.value)).toBe(true);
    expect(rig.clock.timers).toBe(0);
  });

  test("of a stream asks for events, and takes JSON", async () => {
    const rig = createRestRig(() => events({ task: working }));
    const stream = await rig.binding.open("SendStreamingMessage", { message }, rig.call());
    expect((await collect(stream.events)).items).toEqual([{ task: working }]);
    expect(rig.seen).toEqual([
      {
        method: "POST",
        url: `${base}/message:stream`,
        headers: {
          "a2a-version": "1.0",
          accept: `text/event-stream, ${json10}`,
          "content-type": "application/a2a+json",
        },
        body: { message },
      },
    ]);
  });

  test.each([
    ["GetTask", { id: "t1", historyLength: 1 }, "GET /a%2Fb%20c/tasks/t1?historyLength=1", undefined],
    ["ListTasks", {}, "GET /a%2Fb%20c/tasks", undefined],
    ["SendMessage", { message }, "POST /a%2Fb%20c/message:send", { tenant: "a/b c", message }],
    ["CancelTask", { id: "t1" }, "POST /a%2Fb%20c/tasks/t1:cancel", { tenant: "a/b c" }],
    ["GetExtendedAgentCard", {}, "GET /a%2Fb%20c/extendedAgentCard", undefined],
    [
      "CreateTaskPushNotificationConfig",
      { ...config, tenant: "theirs" },
      "POST /a%2Fb%20c/tasks/t1/pushNotificationConfigs",
      { tenant: "a/b c", ...configBody },
    ],
    [
      "DeleteTaskPushNotificationConfig",
      { taskId: "t1", id: "p1" },
      "DELETE /a%2Fb%20c/tasks/t1/pushNotificationConfigs/p1",
      undefined,
    ],
  ] as const)(
    "of %s has the tenant of its interface in its path and its body",
    async (operation, request, route, body) => {
      const rig = createRestRig(() => json({}));
      const target = { ...restInterface, tenant: "a/b c" };
      await thrownBy(rig.binding.call(operation, request as never, rig.call({ interface: target })));
      expect(rig.seen.map(({ method, url }) => `${method} ${url.slice(base.length)}`)).toEqual([route]);
      expect(rig.seen[0]?.body).toEqual(body);
    },
  );

  test.each([
    ["https://agent.example", "https://agent.example/tasks/t1?historyLength=1"],
    ["https://agent.example/", "https://agent.example/tasks/t1?historyLength=1"],
    ["https://agent.example/a/b/", "https://agent.example/a/b/tasks/t1?historyLength=1"],
    ["https://agent.example/a//", "https://agent.example/a/tasks/t1?historyLength=1"],
    ["https://agent.example/a?key=1%2F2", "https://agent.example/a/tasks/t1?key=1%2F2&historyLength=1"],
    ["https://agent.example/a/?key=1#top", "https://agent.example/a/tasks/t1?key=1&historyLength=1"],
    ["https://agent.example/a?", "https://agent.example/a/tasks/t1?historyLength=1"],
  ])("to the interface %s goes to %s", async (url, called) => {
    const rig = createRestRig(() => json(working));
    const call = rig.call({ interface: { ...restInterface, url } });
    await rig.binding.call("GetTask", { id: "t1", historyLength: 1 }, call);
    expect(rig.seen[0]?.url).toBe(called);
  });

  test.each([
    ["a/../b", "a%2F..%2Fb"],
    ["t1:cancel", "t1%3Acancel"],
    ["t 1?x=1#y", "t%201%3Fx%3D1%23y"],
    ["%2e%2e", "%252e%252e"],
    ["ü€😀", "%C3%BC%E2%82%AC%F0%9F%98%80"],
    ["...", "..."],
  ])("for the task %j has it escaped", async (id, escaped) => {
    const rig = createRestRig(() => json(working));
    await rig.binding.call("GetTask", { id }, rig.call());
    expect(rig.seen[0]?.url).toBe(`${base}/tasks/${escaped}`);
    expect(new URL(rig.seen[0]?.url ?? "").pathname).toBe(`/rest/tasks/${escaped}`);
  });

  test.each(["", ".", "..", "\ud800"])(
    "for the task %j would be another call, and is refused",
    async (id) => {
      const rig = createRestRig(() => json(working));
      for (const calling of [
        rig.binding.call("GetTask", { id }, rig.call()),
        rig.binding.call("CancelTask", { id }, rig.call()),
        rig.binding.call("DeleteTaskPushNotificationConfig", { taskId: "t1", id }, rig.call()),
        rig.binding.open("SubscribeToTask", { id }, rig.call()),
      ]) {
        const error = await thrownBy(calling);
        expect(error).toBeInstanceOf(TypeError);
        expect(String(error)).toContain("id: found");
      }
      expect(rig.seen).toEqual([]);
    },
  );

  test("with a value that JSON can't hold is refused before it is sent", async () => {
    const rig = createRestRig(() => json({}));
    const error = await thrownBy(
      rig.binding.call("CancelTask", { id: "t1", metadata: { big: 1n } }, rig.call()),
    );
    expect(error).toBeInstanceOf(TypeError);
    expect(rig.seen).toEqual([]);
  });
});

describe("an answer", () => {
  test.each([
    "application/json",
    "application/a2a+json",
    "Application/JSON; charset=UTF-8",
    "application/a2a+json;version=1.0; charset=utf-8",
  ])("of the media type %s is read without a word", async (type) => {
    const answer = await getTask(() => json(working, 200, { "content-type": type }));
    expect(answer).toEqual({ value: working, deviations: [] });
  });

  test("under another media type is read and told", async () => {
    const answer = await getTask(() => json(working, 200, { "content-type": "text/plain" }));
    expect(answer.deviations.map(({ kind }) => kind)).toEqual(["wrong-media-type"]);
  });

  test("under any status of success is one", async () => {
    expect((await getTask(() => json(working, 201))).value).toEqual(working);
  });

  test.each<[string, () => Response]>([
    ["204", () => new Response(null, { status: 204 })],
    ["200 without a body", () => new Response(null, { status: 200 })],
    ["200 with an empty body", () => json("")],
    ["200 with an empty body of another type", () => json("\n", 200, { "content-type": "text/html" })],
    ["an empty object", () => json({})],
    ["null", () => json(null)],
    ["another object", () => json({ deleted: true })],
  ])("to a deletion may be %s", async (_what, answer) => {
    const rig = createRestRig(answer);
    const given = await rig.binding.call(
      "DeleteTaskPushNotificationConfig",
      { taskId: "t1", id: "p1" },
      rig.call(),
    );
    expect(given).toEqual({ value: null, deviations: [] });
  });

  test.each<[string, () => Response, string]>([
    ["a login page", () => json("<html>log in</html>", 200, { "content-type": "text/html" }), "HTTP_STATUS"],
    ["an error", () => json(status(404, "NOT_FOUND", "TASK_NOT_FOUND")), "TASK_NOT_FOUND"],
    ["a text for an error", () => json({ error: "it broke" }), "UNKNOWN_PROTOCOL_ERROR"],
    ["an answer of JSON-RPC", () => json({ jsonrpc: "2.0", id: 1, result: {} }), "MALFORMED_RESPONSE"],
    ["an event stream", () => events({ task: working }), "HTTP_STATUS"],
  ])("of %s under a status of success is no success, whatever the call", async (_what, answer, code) => {
    for (const [operation, request] of [
      ["DeleteTaskPushNotificationConfig", { taskId: "t1", id: "p1" }],
      ["ListTaskPushNotificationConfigs", { taskId: "t1" }],
      ["ListTasks", {}],
      ["GetTask", { id: "t1" }],
      ["SendMessage", { message }],
    ] as const) {
      const rig = createRestRig(answer);
      expect(await thrownBy(rig.binding.call(operation, request as never, rig.call()))).toMatchObject({
        code,
      });
    }
  });

  test.each<[string, (seen: SeenRestCall) => Response, string]>([
    ["broken JSON", () => json("{"), "MALFORMED_RESPONSE"],
    ["an empty body", () => json(""), "MALFORMED_RESPONSE"],
    ["no content", () => new Response(null, { status: 204 }), "MALFORMED_RESPONSE"],
    ["null", () => json(null), "MALFORMED_RESPONSE"],
    ["an array", () => json([working]), "MALFORMED_RESPONSE"],
    ["a number", () => json(7), "MALFORMED_RESPONSE"],
    ["an empty object", () => json({}), "MALFORMED_RESPONSE"],
    ["a page", () => json("<!doctype html>", 200, { "content-type": "text/html" }), "HTTP_STATUS"],
    ["bytes that are no UTF-8", () => json(new Uint8Array([0xff]) as never), "MALFORMED_RESPONSE"],
    ["deep nesting", () => json(`{"a":${"[".repeat(2e5)}${"]".repeat(2e5)}}`), "LIMIT_EXCEEDED"],
    ["a task of A2A 0.3 to a message", () => json({ kind: "task", ...working }), "MALFORMED_RESPONSE"],
  ])("of %s is a typed error", async (_what, answer, code) => {
    const rig = createRestRig(answer);
    const calling = rig.binding.call("SendMessage", { message }, rig.call());
    expect(await thrownBy(calling)).toMatchObject({ code });
  });

  test("larger than the limit is refused by the name of the limit", async () => {
    const answer = () => json(task("TASK_STATE_WORKING", { metadata: { x: "y".repeat(2000) } }));
    expect(await thrownBy(getTask(answer, { responseBytes: 1000 }))).toMatchObject({
      code: "LIMIT_EXCEEDED",
      limit: "responseBytes",
      max: 1000,
    });
  });

  test("may have a member error of its own", async () => {
    const odd = task("TASK_STATE_FAILED", { error: { code: 7, message: "mine" } });
    expect((await getTask(() => json(odd))).value).toEqual(odd);
  });
});

describe("a subscription", () => {
  const open = async (answer: (seen: SeenRestCall) => Response, times = 1, target = restInterface) => {
    const rig = createRestRig(answer);
    const outcomes: unknown[] = [];
    for (let time = 0; time < times; time++) {
      const opening = rig.binding.open("SubscribeToTask", { id: "t1" }, rig.call({ interface: target }));
      const stream = await opening.catch((error) => error);
      outcomes.push("events" in stream ? (await collect(stream.events)).items.length : stream.code);
    }
    return { outcomes, methods: rig.seen.map(({ method }) => method), seen: rig.seen };
  };
  const streamOn = (wanted: string, refusal: () => Response) => (seen: SeenRestCall) =>
    seen.method === wanted ? events({ task: working }, statusUpdate("TASK_STATE_COMPLETED")) : refusal();

  test("is a POST with the tenant in its body, and stays one", async () => {
    const { outcomes, seen } = await open(
      streamOn("POST", () => json("", 500)),
      2,
      {
        ...restInterface,
        tenant: "acme",
      } as typeof restInterface,
    );
    expect(outcomes).toEqual([2, 2]);
    expect(seen.map(({ method, url, body }) => ({ method, url, body }))).toEqual(
      [1, 2].map(() => ({
        method: "POST",
        url: `${base}/acme/tasks/t1:subscribe`,
        body: { tenant: "acme" },
      })),
    );
  });

  test.each<[string, () => Response]>([
    ["404 with a page", () => json("<h1>Cannot POST", 404, { "content-type": "text/html" })],
    ["404 of a framework", () => json({ detail: "Not Found" }, 404)],
    ["404 with a code alone", () => json({ error: { code: 404, message: "Not Found" } }, 404)],
    ["405", () => new Response(null, { status: 405, headers: { allow: "GET" } })],
    ["501 of a gateway", () => json({ code: 12, message: "Method Not Allowed", details: [] }, 501)],
  ])("is a GET where a POST is answered with %s, and that is remembered", async (_what, refusal) => {
    const { outcomes, methods, seen } = await open(streamOn("GET", refusal), 3);
    expect(outcomes).toEqual([2, 2, 2]);
    expect(methods).toEqual(["POST", "GET", "GET", "GET"]);
    expect(seen[1]).toEqual({
      method: "GET",
      url: `${base}/tasks/t1:subscribe`,
      headers: { "a2a-version": "1.0", accept: `text/event-stream, ${json10}` },
    });
  });

  test("remembers the method for each interface apart, and unlearns it", async () => {
    let wanted = "GET";
    const rig = createRestRig((seen) => streamOn(wanted, () => new Response(null, { status: 405 }))(seen));
    const openAt = async (tenant: string) => {
      const call = rig.call({ interface: { ...restInterface, tenant } });
      await collect((await rig.binding.open("SubscribeToTask", { id: "t1" }, call)).events);
      return rig.seen.splice(0).map(({ method }) => method);
    };
    expect([await openAt("a"), await openAt("a"), await openAt("b")]).toEqual([
      ["POST", "GET"],
      ["GET"],
      ["POST", "GET"],
    ]);
    wanted = "POST";
    expect([await openAt("a"), await openAt("a")]).toEqual([["GET", "POST"], ["POST"]]);
  });

  test.each<[string, () => Response, string]>([
    ["a reason", () => json(status(404, "NOT_FOUND", "TASK_NOT_FOUND"), 404), "TASK_NOT_FOUND"],
    ["a status alone", () => json(status(404, "NOT_FOUND"), 404), "TASK_NOT_FOUND"],
    ["a gateway's status", () => json({ code: 5, message: "no task", details: [] }, 404), "TASK_NOT_FOUND"],
    [
      "the task's end",
      () => json(status(400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"), 400),
      "UNSUPPORTED_OPERATION",
    ],
    ["a refusal", () => json("", 401), "AUTHENTICATION"],
    ["trouble", () => json("", 503), "HTTP_STATUS"],
  ])("that is answered with %s is answered: nothing else is tried", async (_what, answer, code) => {
    const { outcomes, methods } = await open(answer);
    expect({ outcomes, methods }).toEqual({ outcomes: [code], methods: ["POST"] });
  });

  test("that is at no method tells the first answer, and remembers nothing", async () => {
    const rig = createRestRig(({ method }) => json({ detail: method }, method === "POST" ? 404 : 405));
    for (let time = 0; time < 2; time++) {
      const error = await thrownBy(rig.binding.open("SubscribeToTask", { id: "t1" }, rig.call()));
      expect(error).toMatchObject({ code: "HTTP_STATUS", status: 404 });
    }
    expect(rig.seen.map(({ method }) => method)).toEqual(["POST", "GET", "POST", "GET"]);
  });

  test("that a GET answers with an error of the task is that error", async () => {
    const { outcomes } = await open(({ method }) =>
      method === "POST"
        ? new Response(null, { status: 405 })
        : json(status(404, "NOT_FOUND", "TASK_NOT_FOUND"), 404),
    );
    expect(outcomes).toEqual(["TASK_NOT_FOUND"]);
  });
});

describe("a stream", () => {
  const take = async (...frames: readonly unknown[]) => {
    const rig = createRestRig(() => events(...frames));
    const stream = await rig.binding.open("SendStreamingMessage", { message }, rig.call());
    const { items, error } = await collect(stream.events);
    return { items, error, skipped: stream.skipped, deviations: stream.deviations };
  };

  test("has the bare event in each frame", async () => {
    const frames = [
      { task: working },
      { message: { ...message, role: "ROLE_AGENT" } },
      statusUpdate("TASK_STATE_COMPLETED"),
    ];
    expect(await take(...frames)).toEqual({
      items: frames,
      error: undefined,
      skipped: { count: 0 },
      deviations: [],
    });
  });

  test.each<[string, unknown, string]>([
    ["a status with a reason", status(404, "NOT_FOUND", "TASK_NOT_FOUND"), "TASK_NOT_FOUND"],
    ["a status alone", status(500, "INTERNAL"), "INTERNAL_ERROR"],
    [
      "an error event",
      `event: error\ndata: ${JSON.stringify(status(404, "NOT_FOUND", "TASK_NOT_FOUND"))}\n\n`,
      "TASK_NOT_FOUND",
    ],
    ["a bare status", { code: 13, message: "broke", details: [] }, "INTERNAL_ERROR"],
    [
      "an error of JSON-RPC",
      { jsonrpc: "2.0", id: 1, error: { code: -32001, message: "gone" } },
      "TASK_NOT_FOUND",
    ],
    ["an error event with a text", "event: error\ndata: boom\n\n", "UNKNOWN_PROTOCOL_ERROR"],
    ["an error event with an object", `event: error\ndata: {"message":"boom"}\n\n`, "UNKNOWN_PROTOCOL_ERROR"],
    ["an error that is a text", { error: "boom" }, "UNKNOWN_PROTOCOL_ERROR"],
    ["a status of too many calls", status(429, "RESOURCE_EXHAUSTED"), "HTTP_STATUS"],
    ["a status of missing credentials", status(401, "UNAUTHENTICATED"), "AUTHENTICATION"],
  ])("fails with %s in the middle of it", async (_what, frame, code) => {
    const { items, error } = await take({ task: working }, frame, statusUpdate("TASK_STATE_COMPLETED"));
    expect(items).toEqual([{ task: working }]);
    expect(error).toMatchObject({ code });
  });

  test("shows what an error in the middle of it said", async () => {
    const { error } = await take({ task: working }, status(503, "UNAVAILABLE", undefined, "the pod is gone"));
    expect(error).toMatchObject({ code: "HTTP_STATUS", status: 503, body: "the pod is gone" });
  });

  test("skips what is no event, and says why", async () => {
    const { items, skipped } = await take(
      "event: ping\ndata: ping\n\n",
      {},
      { jsonrpc: "2.0", result: { task: working } },
      {
        task: working,
      },
    );
    expect(items).toEqual([{ task: working }]);
    expect(skipped.count).toBe(3);
  });

  test("of nothing that can be used is malformed", async () => {
    const { error } = await take({}, { jsonrpc: "2.0", result: { task: working } });
    expect(error).toMatchObject({ code: "MALFORMED_RESPONSE" });
  });

  test("may be one JSON answer, which is told", async () => {
    const rig = createRestRig(() => json({ task: working }));
    const stream = await rig.binding.open("SendStreamingMessage", { message }, rig.call());
    expect((await collect(stream.events)).items).toEqual([{ task: working }]);
    expect(stream.deviations.map(({ kind }) => kind)).toEqual(["json-instead-of-stream"]);
  });

  test("that is refused keeps its status, its challenge and its wait", async () => {
    const rig = createRestRig(() =>
      json("<h1>busy", 503, { "content-type": "text/html", "retry-after": "5" }),
    );
    expect(await thrownBy(rig.binding.open("SendStreamingMessage", { message }, rig.call()))).toMatchObject({
      code: "HTTP_STATUS",
      status: 503,
      retryAfterMs: 5000,
    });
  });

  test("of an agent that only opens it is closed at once when it is left", async () => {
    const pipe = createPipe();
    const rig = createRestRig(
      () => new Response(pipe.body, { headers: { "content-type": "text/event-stream" } }),
    );
    const stream = await rig.binding.open("SubscribeToTask", { id: "t1" }, rig.call());
    stream.close();
    expect(pipe.cancelled).toHaveLength(1);
  });
});

test("any body under any status is an answer by its schema or a typed error, whatever the call", async () => {
  const part = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(working, config, status(404, "NOT_FOUND", "TASK_NOT_FOUND"), "NOT_FOUND", 404, 5, -32001),
  );
  const body = fc.oneof(
    part,
    fc.record({ task: part, message: part, error: part, tasks: part, configs: part }, { requiredKeys: [] }),
    fc.record({ code: part, message: part, details: part, status: part, type: part }, { requiredKeys: [] }),
    fc.record({
      error: fc.record({ code: part, status: part, message: part, details: part }, { requiredKeys: [] }),
    }),
  );
  const head = fc.constantFrom(200, 201, 400, 401, 404, 500);
  const calls = [
    ["SendMessage", { message }],
    ["GetTask", { id: "t1" }],
    ["ListTasks", {}],
    ["DeleteTaskPushNotificationConfig", { taskId: "t1", id: "p1" }],
    ["GetExtendedAgentCard", {}],
  ] as const;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...calls), body, head, async ([operation, request], value, code) => {
      const rig = createRestRig(() => json(JSON.stringify(value) ?? "", code));
      const calling = rig.binding.call(operation, request as never, rig.call());
      const error = await calling.then(
        () => undefined,
        (thrown) => thrown,
      );
      if (error === undefined) expect(code).toBeLessThan(300);
      else expect(isA2ALeaseError(error)).toBe(true);
      const stream = await createRestRig(() => events(value as never))
        .binding.open("SubscribeToTask", { id: "t1" }, rig.call())
        .then(({ events: items }) => collect(items));
      if (stream.error !== undefined) expect(isA2ALeaseError(stream.error)).toBe(true);
      expect(rig.clock.timers).toBe(0);
    }),
    { numRuns: 400 },
  );
});

test("any id comes out of the path as it went in", async () => {
  const rig = createRestRig(() => json(working));
  const id = fc.string({ minLength: 1, unit: "grapheme" }).filter((text) => text !== "." && text !== "..");
  await fc.assert(
    fc.asyncProperty(id, id, async (taskId, tenant) => {
      await rig.binding.call(
        "GetTask",
        { id: taskId },
        rig.call({ interface: { ...restInterface, tenant } }),
      );
      const [, root, first = "", tasks, second = "", ...more] = new URL(
        rig.seen.pop()?.url ?? "",
      ).pathname.split("/");
      expect([root, decodeURIComponent(first), tasks, decodeURIComponent(second), more]).toEqual([
        "rest",
        tenant,
        "tasks",
        taskId,
        [],
      ]);
    }),
  );
});

test("a stream over a real connection brings what came before the error in it, and before its end", async () => {
  const frames = [{ task: working }, statusUpdate("TASK_STATE_WORKING")].map(
    (frame) => `data: ${JSON.stringify(frame)}\n\n`,
  );
  const server = await serve((response, { url = "" }) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    for (const frame of frames) response.write(frame);
    if (url.startsWith("/cut")) response.write("data: {", () => response.destroy());
    else
      response.end(`event: error\ndata: ${JSON.stringify(status(404, "NOT_FOUND", "TASK_NOT_FOUND"))}\n\n`);
  });
  const { clock, call } = createRestRig(() => json({}));
  const http = createHttp({ fetch: (url, init) => fetch(url, init), clock });
  const binding = createHttpJsonBinding({ http, clock, limits: defaultLimits });
  const take = async (path: string) => {
    const at = call({ interface: { ...restInterface, url: `${server.url}/${path}` } });
    return collect((await binding.open("SendStreamingMessage", { message }, at)).events);
  };

  const failed = await take("fail");
  expect(failed.items).toHaveLength(2);
  expect(failed.error).toMatchObject({ code: "TASK_NOT_FOUND" });
  const cut = await take("cut");
  expect(cut.items).toHaveLength(2);
  expect(cut.error).toMatchObject({ code: "CONNECTION" });
});

test("over a real connection the request arrives as it was written, and a redirect is refused", async () => {
  const other = await serve((response) => response.end("{}"));
  const server = await serve((response, { method }) =>
    method === "GET"
      ? response.writeHead(200, { "content-type": "application/a2a+json" }).end(JSON.stringify(working))
      : response.writeHead(307, { location: other.url }).end(),
  );
  const { clock, call } = createRestRig(() => json({}));
  const http = createHttp({ fetch: (url, init) => fetch(url, init), clock });
  const binding = createHttpJsonBinding({ http, clock, limits: defaultLimits });
  const at = call({
    interface: { ...restInterface, url: `${server.url}/rest?k=1`, tenant: "a b" },
    timeouts: { firstByteMs: 5000, idleMs: 5000, firstEventMs: 5000 },
  });

  expect((await binding.call("GetTask", { id: "a/b ü" }, at)).value).toEqual(working);
  expect(await thrownBy(binding.call("CancelTask", { id: "t1" }, at))).toMatchObject({
    code: "REDIRECT_REFUSED",
  });

  expect(server.seen.map(({ method, url, body }) => `${method} ${url} ${body}`)).toEqual([
    "GET /rest/a%20b/tasks/a%2Fb%20%C3%BC?k=1 ",
    'POST /rest/a%20b/tasks/t1:cancel?k=1 {"tenant":"a b"}',
  ]);
  expect(other.seen).toEqual([]);
});
