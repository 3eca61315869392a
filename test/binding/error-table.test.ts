import { describe, expect, test } from "vitest";
import { createHttpJsonBinding } from "../../src/binding/http-json.ts";
import { createJsonRpcBinding } from "../../src/binding/jsonrpc.ts";
import { createHttp, type FetchLike } from "../../src/wire/http.ts";
import { defaultLimits } from "../../src/wire/limits.ts";
import { collect, thrownBy } from "../wire/answers.ts";
import { createFakeClock } from "../wire/fake-clock.ts";
import { errorInfo, restInterface, status } from "./http-json-rig.ts";
import { events, failure, json, task } from "./rig.ts";

// The nine errors of A2A with their JSON-RPC code, canonical status and HTTP status (5.4).
const a2aErrors = [
  [-32001, "TASK_NOT_FOUND", "NOT_FOUND", 404, "TaskNotFoundError"],
  [-32002, "TASK_NOT_CANCELABLE", "FAILED_PRECONDITION", 400, "TaskNotCancelableError"],
  [
    -32003,
    "PUSH_NOTIFICATION_NOT_SUPPORTED",
    "FAILED_PRECONDITION",
    400,
    "PushNotificationNotSupportedError",
  ],
  [-32004, "UNSUPPORTED_OPERATION", "FAILED_PRECONDITION", 400, "UnsupportedOperationError"],
  [-32005, "CONTENT_TYPE_NOT_SUPPORTED", "INVALID_ARGUMENT", 400, "ContentTypeNotSupportedError"],
  [-32006, "INVALID_AGENT_RESPONSE", "INTERNAL", 500, "InvalidAgentResponseError"],
  [
    -32007,
    "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
    "FAILED_PRECONDITION",
    400,
    "ExtendedAgentCardNotConfiguredError",
  ],
  [-32008, "EXTENSION_SUPPORT_REQUIRED", "FAILED_PRECONDITION", 400, "ExtensionSupportRequiredError"],
  [-32009, "VERSION_NOT_SUPPORTED", "FAILED_PRECONDITION", 400, "VersionNotSupportedError"],
] as const;

type BindingName = "JSONRPC" | "HTTP+JSON";

function bind(name: BindingName, answer: (id: number) => Response) {
  const clock = createFakeClock();
  const fetch: FetchLike = async (_url, { body }) => answer(body ? (JSON.parse(String(body)).id ?? 1) : 1);
  const options = { http: createHttp({ fetch, clock }), clock, limits: defaultLimits };
  const binding = name === "JSONRPC" ? createJsonRpcBinding(options) : createHttpJsonBinding(options);
  const call = {
    interface: { ...restInterface, protocolBinding: name },
    headers: {},
    signal: new AbortController().signal,
    timeouts: { firstByteMs: 1000, idleMs: 1000, firstEventMs: 500 },
  };
  return { binding, call };
}

/** What an error is wherever it comes up: of a call, of a stream that is refused, in the middle of a stream. */
async function everywhere(
  name: BindingName,
  answer: (id: number) => Response,
  frame: (id: number) => unknown,
) {
  const refused = bind(name, answer);
  const unary = await thrownBy(refused.binding.call("GetTask", { id: "t1" }, refused.call));
  const opening = await thrownBy(refused.binding.open("SubscribeToTask", { id: "t1" }, refused.call));
  const first = (id: number) =>
    name === "JSONRPC"
      ? { jsonrpc: "2.0", id, result: { task: task("TASK_STATE_WORKING") } }
      : { task: task("TASK_STATE_WORKING") };
  const broken = bind(name, (id) => events(first(id), frame(id)));
  const stream = await broken.binding.open("SubscribeToTask", { id: "t1" }, broken.call);
  const { items, error } = await collect(stream.events);
  expect(items).toHaveLength(1);
  return [unary, opening, error];
}

describe.each(a2aErrors)("the error %d, %s", (code, reason, statusName, httpStatus, name) => {
  test("is one class over JSON-RPC, by its code, by its reason, under any HTTP status", async () => {
    const bodies = [
      (id: number) => failure(id, { code, message: "no" }),
      (id: number) => failure(id, { code, message: "no", data: [errorInfo(reason)] }),
      (id: number) => failure(id, { code: -32000, message: "no", data: [errorInfo(reason)] }),
    ];
    for (const body of bodies) {
      for (const head of [200, httpStatus]) {
        const found = await everywhere("JSONRPC", (id) => json(body(id), head), body);
        expect(found.map((error) => (error as Error).name)).toEqual([name, name, name]);
      }
    }
  });

  test("is the same class over HTTP+JSON, in whichever form it comes", async () => {
    const bodies = [
      status(httpStatus, statusName, reason),
      { error: { code: httpStatus, message: "no", details: [{ "@type": "x" }, errorInfo(reason)] } },
      { code: 9, message: "no", details: [errorInfo(reason)] },
      { error: { code, message: "no" } },
      {
        type: `https://a2a-protocol.org/errors/${reason.toLowerCase().replaceAll("_", "-")}`,
        title: "no",
        status: httpStatus,
      },
    ];
    for (const body of bodies) {
      const found = await everywhere(
        "HTTP+JSON",
        () => json(body, httpStatus),
        () => body,
      );
      expect(found.map((error) => (error as Error).name)).toEqual([name, name, name]);
      expect(found[0]).toMatchObject({ httpStatus, operation: "GetTask" });
    }
  });
});

describe("a status without a reason", () => {
  test.each([
    [404, "NOT_FOUND", "TaskNotFoundError"],
    [400, "INVALID_ARGUMENT", "InvalidParamsError"],
    [501, "UNIMPLEMENTED", "MethodNotFoundError"],
    [500, "INTERNAL", "InternalError"],
    [400, "FAILED_PRECONDITION", "HttpStatusError"],
    [401, "UNAUTHENTICATED", "AuthenticationError"],
    [403, "PERMISSION_DENIED", "AuthorizationError"],
    [429, "RESOURCE_EXHAUSTED", "HttpStatusError"],
    [503, "UNAVAILABLE", "HttpStatusError"],
    [504, "DEADLINE_EXCEEDED", "HttpStatusError"],
    [418, "TEAPOT", "HttpStatusError"],
  ])("of %d %s is a %s, wherever it comes", async (code, name, wanted) => {
    const body = status(code, name);
    const found = await everywhere(
      "HTTP+JSON",
      () => json(body, code),
      () => body,
    );
    expect(found.map((error) => (error as Error).name)).toEqual([wanted, wanted, wanted]);
  });

  test.each([
    ["SendMessage", { message: { messageId: "m", role: "ROLE_USER", parts: [] } }],
    ["ListTasks", {}],
    ["GetExtendedAgentCard", {}],
  ] as const)("of NOT_FOUND to %s says nothing of a task", async (operation, request) => {
    const { binding, call } = bind("HTTP+JSON", () => json(status(404, "NOT_FOUND"), 404));
    const error = await thrownBy(binding.call(operation, request, call));
    expect(error).toMatchObject({ name: "HttpStatusError", status: 404 });
  });

  test.each([
    ["a page", () => json("<h1>Not Found", 404, { "content-type": "text/html" })],
    ["a framework's words", () => json({ detail: "Not Found" }, 404)],
    ["a framework's text", () => json({ statusCode: 404, message: "Cannot GET /", error: "Not Found" }, 404)],
    ["an error without a status", () => json({ error: { code: 404, message: "Not Found" } }, 404)],
    ["nothing", () => json("", 404)],
    ["too much", () => json(`{"error":${"[".repeat(200)}${"]".repeat(200)}}`, 404)],
  ])("is not read into %s", async (_what, answer) => {
    const { binding, call } = bind("HTTP+JSON", answer);
    const error = await thrownBy(binding.call("GetTask", { id: "t1" }, call));
    expect(error).toMatchObject({ name: "HttpStatusError", status: 404 });
  });
});

test("an error of HTTP+JSON gives back no secret that the request carried", async () => {
  const secret = "s3cr3t-of-mine-0123456789";
  const { binding, call } = bind("HTTP+JSON", () =>
    json(status(400, "INVALID_ARGUMENT", undefined, `no ${secret}`), 400),
  );
  const headers = { authorization: `Bearer ${secret}` };
  const error = await thrownBy(binding.call("GetTask", { id: "t1" }, { ...call, headers }));
  expect(JSON.stringify(error) + String(error)).not.toContain(secret);
});
