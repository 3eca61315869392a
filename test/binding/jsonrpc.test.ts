import { describe, expect, test } from "vitest";
import type { UnaryOperation } from "../../src/binding/binding.ts";
import { createJsonRpcBinding } from "../../src/binding/jsonrpc.ts";
import { createHttp } from "../../src/wire/http.ts";
import { defaultLimits } from "../../src/wire/limits.ts";
import { createPipe, settle, thrownBy } from "../wire/answers.ts";
import { serve } from "../wire/loopback.ts";
import { createRig, failure, json, result, type SeenCall, task } from "./rig.ts";

const config = { taskId: "t1", id: "p1", url: "https://me.example/hook" };
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
const message = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "hi" }] } as const;

/** Calls GetTask of an agent that answers in one way. */
async function getTask(
  answer: (seen: SeenCall) => Response,
  more?: Parameters<ReturnType<typeof createRig>["call"]>[0],
) {
  const rig = createRig(answer);
  return rig.binding.call("GetTask", { id: "t1" }, rig.call(more));
}
const answerTo = ({ body }: SeenCall, value: unknown) => json(result(body.id, value));

describe("a call", () => {
  test.each<[UnaryOperation, object, unknown, unknown]>([
    ["SendMessage", { message }, { task: task("TASK_STATE_WORKING") }, undefined],
    ["SendMessage", { message }, { message: { ...message, role: "ROLE_AGENT" } }, undefined],
    ["GetTask", { id: "t1" }, task("TASK_STATE_COMPLETED"), undefined],
    ["ListTasks", {}, { tasks: [], nextPageToken: "", pageSize: 50, totalSize: 0 }, undefined],
    ["CancelTask", { id: "t1" }, task("TASK_STATE_CANCELED"), undefined],
    ["CreateTaskPushNotificationConfig", config, config, undefined],
    ["GetTaskPushNotificationConfig", { taskId: "t1", id: "p1" }, config, undefined],
    ["ListTaskPushNotificationConfigs", { taskId: "t1" }, { configs: [config] }, undefined],
    ["DeleteTaskPushNotificationConfig", { taskId: "t1", id: "p1" }, null, undefined],
    ["GetExtendedAgentCard", {}, card, card],
  ])("of %s is one POST, and its result comes back frozen", async (operation, request, answer, wire) => {
    const rig = createRig((seen) => answerTo(seen, answer));
    const headers = { "x-own": "1", "a2a-version": "0.3", "content-type": "text/plain" };
    const given = await rig.binding.call(operation, request as never, rig.call({ headers }));
    expect(rig.seen).toEqual([
      {
        url: "https://agent.example/rpc",
        headers: {
          "x-own": "1",
          "a2a-version": "1.0",
          "content-type": "application/json",
          accept: "application/json",
        },
        body: { jsonrpc: "2.0", id: 1, method: operation, params: request },
      },
    ]);
    expect(given).toEqual({ value: answer, deviations: [], ...(wire === undefined ? {} : { wire }) });
    expect(Object.isFrozen(given) && Object.isFrozen(given.value)).toBe(true);
    expect(rig.clock.timers).toBe(0);
  });

  test("has an id of its own each time", async () => {
    const rig = createRig((seen) => answerTo(seen, task("TASK_STATE_WORKING")));
    await Promise.all([1, 2, 3].map(() => rig.binding.call("GetTask", { id: "t1" }, rig.call())));
    expect(rig.seen.map(({ body }) => body.id)).toEqual([1, 2, 3]);
  });

  test("carries the tenant of its interface", async () => {
    const rig = createRig((seen) => answerTo(seen, task("TASK_STATE_WORKING")));
    const { interface: plain } = rig.call();
    await rig.binding.call("GetTask", { id: "t1" }, rig.call({ interface: { ...plain, tenant: "acme" } }));
    expect(rig.seen[0]?.body.params).toEqual({ tenant: "acme", id: "t1" });
  });

  test("with a value that JSON can't hold is refused before it is sent", async () => {
    const rig = createRig(() => json({}));
    const metadata = { big: 1n };
    const error = await thrownBy(rig.binding.call("CancelTask", { id: "t1", metadata }, rig.call()));
    expect(error).toBeInstanceOf(TypeError);
    expect(rig.seen).toEqual([]);
  });
});

describe("an answer", () => {
  test("may repeat the id as a text, leave out jsonrpc, and come under another media type", async () => {
    const odd = await getTask(({ body }) => {
      const value = { id: String(body.id), result: task("TASK_STATE_WORKING") };
      return json(value, 200, { "content-type": "text/plain" });
    });
    expect(odd.value).toEqual(task("TASK_STATE_WORKING"));
    expect(odd.deviations.map(({ kind }) => kind)).toEqual(["wrong-media-type", "wrong-jsonrpc-version"]);
  });

  test("may be of any JSON media type", async () => {
    const answer = await getTask(({ body }) =>
      json(result(body.id, task("TASK_STATE_WORKING")), 200, {
        "content-type": "application/a2a+json; charset=utf-8",
      }),
    );
    expect(answer.deviations).toEqual([]);
  });

  test("with a null result is refused, not read as nothing", async () => {
    expect(await thrownBy(getTask((seen) => answerTo(seen, null)))).toMatchObject({
      code: "MALFORMED_RESPONSE",
      issues: [{ path: "$.result", message: "found null, wanted an object" }],
    });
  });

  test.each<[string, (seen: SeenCall) => Response, readonly string[]]>([
    ["null", (seen) => answerTo(seen, null), []],
    ["an empty object", (seen) => answerTo(seen, {}), []],
    ["no result", ({ body }) => json({ jsonrpc: "2.0", id: body.id }), ["missing-result"]],
    ["204", () => new Response(null, { status: 204 }), ["missing-result"]],
    ["an empty body", () => json(""), ["missing-result"]],
  ])("to a deletion may be %s", async (_what, answer, deviations) => {
    const rig = createRig(answer);
    const request = { taskId: "t1", id: "p1" };
    const given = await rig.binding.call("DeleteTaskPushNotificationConfig", request, rig.call());
    expect(given.value).toBe(null);
    expect(given.deviations.map(({ kind }) => kind)).toEqual(deviations);
  });

  test("to a deletion may be no page and no error", async () => {
    for (const [answer, code] of [
      [() => json("<html>log in</html>", 200, { "content-type": "text/html" }), "HTTP_STATUS"],
      [({ body }: SeenCall) => json(failure(body.id, { code: -32001, message: "gone" })), "TASK_NOT_FOUND"],
    ] as const) {
      const rig = createRig(answer);
      const request = { taskId: "t1", id: "p1" };
      const calling = rig.binding.call("DeleteTaskPushNotificationConfig", request, rig.call());
      expect(await thrownBy(calling)).toMatchObject({ code });
    }
  });

  test("to another request is refused", async () => {
    expect(await thrownBy(getTask(() => json(result(99, task("TASK_STATE_WORKING")))))).toMatchObject({
      code: "MALFORMED_RESPONSE",
      issues: [{ path: "$.id" }],
    });
  });

  test("in the form of A2A 0.3 is no success", async () => {
    const rig = createRig((seen) => answerTo(seen, { kind: "task", ...task("completed") }));
    const error = await thrownBy(rig.binding.call("SendMessage", { message }, rig.call()));
    expect(error).toMatchObject({ code: "MALFORMED_RESPONSE" });
    expect(String(error)).toContain("A2A 0.3");
  });

  test.each([
    ["broken JSON", () => json("{"), "MALFORMED_RESPONSE"],
    ["an empty body", () => json(""), "MALFORMED_RESPONSE"],
    ["no content", () => new Response(null, { status: 204 }), "MALFORMED_RESPONSE"],
    [
      "a batch",
      ({ body }: SeenCall) => json([result(body.id, task("TASK_STATE_WORKING"))]),
      "MALFORMED_RESPONSE",
    ],
    ["bytes that are no UTF-8", () => json(new Uint8Array([0xff]) as never), "MALFORMED_RESPONSE"],
    ["deep nesting", () => json(`{"a":${"[".repeat(200)}${"]".repeat(200)}}`), "LIMIT_EXCEEDED"],
    [
      "very deep nesting",
      () => json(`{"__proto__":1,"a":${"[".repeat(2e5)}${"]".repeat(2e5)}}`),
      "LIMIT_EXCEEDED",
    ],
  ])("of %s is a typed error", async (_what, answer, code) => {
    expect(await thrownBy(getTask(answer))).toMatchObject({ code });
  });

  test("of HTML says so, with its status", async () => {
    const page = new Response("<html>log in</html>", {
      headers: { "content-type": "text/html; charset=utf-8" },
    });
    expect(await thrownBy(getTask(() => page))).toMatchObject({
      code: "HTTP_STATUS",
      status: 200,
      contentType: "text/html",
      body: "<html>log in</html>",
    });
  });

  test("of an event stream to a call that is answered once is let go of at once", async () => {
    const pipe = createPipe();
    const stream = new Response(pipe.body, { headers: { "content-type": "text/event-stream" } });
    expect(await thrownBy(getTask(() => stream))).toMatchObject({
      code: "HTTP_STATUS",
      status: 200,
      contentType: "text/event-stream",
    });
    expect(pipe.cancelled).toHaveLength(1);
  });

  test("larger than the limit is refused by the name of the limit", async () => {
    const rig = createRig(
      (seen) => answerTo(seen, task("TASK_STATE_WORKING", { metadata: { x: "y".repeat(2000) } })),
      {
        responseBytes: 1000,
      },
    );
    const error = await thrownBy(rig.binding.call("GetTask", { id: "t1" }, rig.call()));
    expect(error).toMatchObject({ code: "LIMIT_EXCEEDED", limit: "responseBytes", max: 1000 });
  });

  test("can't reach a prototype", async () => {
    const answer = await getTask(({ body }) =>
      json(
        `{"jsonrpc":"2.0","id":${body.id},"result":{"id":"t1","__proto__":{"polluted":1},"status":{"state":"TASK_STATE_WORKING","\\u005f_proto__":{"polluted":1}}}}`,
      ),
    );
    expect((answer.value as { polluted?: number }).polluted).toBeUndefined();
    expect(answer.value).toEqual({ id: "t1", status: { state: "TASK_STATE_WORKING" } });
  });
});

describe("an error", () => {
  test("with a null id is that error", async () => {
    const error = await thrownBy(getTask(() => json(failure(null, { code: -32700, message: "bad JSON" }))));
    expect(error).toMatchObject({ code: "PARSE_ERROR", rpcCode: -32700, operation: "GetTask" });
  });

  test("in an envelope decides over the HTTP status", async () => {
    const error = await thrownBy(
      getTask(({ body }) =>
        json(failure(body.id, { code: -32001, message: "gone" }), 500, { "retry-after": "3" }),
      ),
    );
    expect(error).toMatchObject({ code: "TASK_NOT_FOUND", httpStatus: 500, retryAfterMs: 3000 });
  });

  test("in an envelope under a status of success has no status of its own", async () => {
    const error = await thrownBy(
      getTask(({ body }) => json(failure(body.id, { code: -32001, message: "gone" }))),
    );
    expect(error).toMatchObject({ code: "TASK_NOT_FOUND", httpStatus: undefined });
  });

  test("without an envelope is the HTTP status, with what its head and its body said", async () => {
    const page = () =>
      new Response(`<h1>${"busy ".repeat(1000)}`, {
        status: 503,
        headers: { "content-type": "text/html", "retry-after": "5" },
      });
    const error = await thrownBy(getTask(page));
    expect(error).toMatchObject({
      code: "HTTP_STATUS",
      status: 503,
      contentType: "text/html",
      retryAfterMs: 5000,
    });
    expect((error as { body: string }).body).toMatch(/^<h1>busy/);
    expect((error as { body: string }).body.length).toBeLessThan(2100);
  });

  test("of a framework, with a text for its error, is the HTTP status", async () => {
    const error = await thrownBy(getTask(() => json({ error: "Invalid request body", issues: [] }, 400)));
    expect(error).toMatchObject({ code: "HTTP_STATUS", status: 400 });
  });

  test("that is a text under a status of success is an unknown protocol error", async () => {
    expect(await thrownBy(getTask(() => json({ error: "it broke" })))).toMatchObject({
      code: "UNKNOWN_PROTOCOL_ERROR",
    });
  });

  test("of missing credentials gives the server's challenge", async () => {
    const answer = () =>
      new Response("", { status: 401, headers: { "www-authenticate": 'Bearer realm="a"' } });
    expect(await thrownBy(getTask(answer))).toMatchObject({
      code: "AUTHENTICATION",
      challenge: 'Bearer realm="a"',
    });
  });

  test("too deep to be looked at is the HTTP status", async () => {
    const error = await thrownBy(getTask(() => json(`{"error":${"[".repeat(200)}${"]".repeat(200)}}`, 502)));
    expect(error).toMatchObject({ code: "HTTP_STATUS", status: 502 });
  });

  test("larger than the limit of errors is cut, not refused", async () => {
    const rig = createRig(() => json({ error: { code: -32001, message: "x".repeat(5000) } }, 404), {
      errorBytes: 1000,
    });
    const error = await thrownBy(rig.binding.call("GetTask", { id: "t1" }, rig.call()));
    expect(error).toMatchObject({ code: "HTTP_STATUS", status: 404 });
  });
});

describe("over a real connection", () => {
  const bind = (clock: ReturnType<typeof createRig>["clock"]) =>
    createJsonRpcBinding({
      http: createHttp({ fetch: (url, init) => fetch(url, init), clock }),
      clock,
      limits: defaultLimits,
    });
  const callTo = (url: string, more = {}) => {
    const rig = createRig(() => json({}));
    const call = rig.call({
      interface: { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      ...more,
    });
    return { clock: rig.clock, call };
  };

  test("a redirect is refused and never followed with the request", async () => {
    const other = await serve((response) => response.end("{}"));
    const server = await serve((response) => response.writeHead(307, { location: other.url }).end());
    const { clock, call } = callTo(server.url, { headers: { authorization: "Bearer abc" } });
    expect(await thrownBy(bind(clock).call("GetTask", { id: "t1" }, call))).toMatchObject({
      code: "REDIRECT_REFUSED",
    });
    expect(other.seen).toEqual([]);
  });

  test("an answer that breaks off is a connection error", async () => {
    const server = await serve((response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
      response.write(`{"jsonrpc"`, () => response.destroy());
    });
    const { clock, call } = callTo(server.url);
    expect(await thrownBy(bind(clock).call("GetTask", { id: "t1" }, call))).toMatchObject({
      code: "CONNECTION",
      neverSent: false,
    });
  });

  test.each(["before the head", "in the middle of the body"])(
    "the caller's abort %s rejects with its reason",
    async (when) => {
      const server = await serve((response) => {
        if (when === "before the head") return;
        response.writeHead(200, { "content-type": "application/json" });
        response.write(`{"jsonrpc"`);
      });
      const controller = new AbortController();
      const { clock, call } = callTo(server.url, { signal: controller.signal });
      const arrived = server.arrived();
      const calling = thrownBy(bind(clock).call("GetTask", { id: "t1" }, call));
      await arrived;
      for (let turn = 0; turn < 20; turn++) await settle();
      const reason = { enough: true };
      controller.abort(reason);
      expect(await calling).toBe(reason);
      await server.hungUp;
      expect(clock.timers).toBe(0);
    },
  );
});
