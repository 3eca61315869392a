import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ErrorAnswer, errorOf } from "../../src/binding/errors.ts";
import { readRemoteFailure } from "../../src/binding/remote-failure.ts";
import { isA2ALeaseError } from "../../src/errors/any.ts";

const info = (reason: string, domain: string | undefined = "a2a-protocol.org") => ({
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason,
  ...(domain === undefined ? {} : { domain }),
});
const map = (error: unknown, more: Partial<ErrorAnswer> = {}) =>
  errorOf({
    operation: "GetTask",
    url: "https://agent.example/rpc",
    ...(error === undefined ? {} : { failure: readRemoteFailure(error) }),
    ...more,
  });

const protocolErrors: readonly [number, string, string][] = [
  [-32001, "TASK_NOT_FOUND", "TaskNotFoundError"],
  [-32002, "TASK_NOT_CANCELABLE", "TaskNotCancelableError"],
  [-32003, "PUSH_NOTIFICATION_NOT_SUPPORTED", "PushNotificationNotSupportedError"],
  [-32004, "UNSUPPORTED_OPERATION", "UnsupportedOperationError"],
  [-32005, "CONTENT_TYPE_NOT_SUPPORTED", "ContentTypeNotSupportedError"],
  [-32006, "INVALID_AGENT_RESPONSE", "InvalidAgentResponseError"],
  [-32007, "EXTENDED_AGENT_CARD_NOT_CONFIGURED", "ExtendedAgentCardNotConfiguredError"],
  [-32008, "EXTENSION_SUPPORT_REQUIRED", "ExtensionSupportRequiredError"],
  [-32009, "VERSION_NOT_SUPPORTED", "VersionNotSupportedError"],
  [-32700, "PARSE_ERROR", "ParseError"],
  [-32600, "INVALID_REQUEST", "InvalidRequestError"],
  [-32601, "METHOD_NOT_FOUND", "MethodNotFoundError"],
  [-32602, "INVALID_PARAMS", "InvalidParamsError"],
  [-32603, "INTERNAL_ERROR", "InternalError"],
];

describe("an error answer", () => {
  test.each(protocolErrors)("with the code %d is what the spec calls %s", (code, reason, name) => {
    const error = map({ code, message: "no" });
    expect(error).toMatchObject({ name, code: reason, rpcCode: code, operation: "GetTask" });
  });

  test.each(protocolErrors)(
    "without a code, or with another one than %d, is what its reason %s says",
    (_code, reason, name) => {
      expect(map({ message: "no", data: [info(reason)] })).toMatchObject({ name, reason });
      expect(map({ code: -32000, message: "no", data: [{ "@type": "x" }, info(reason)] })).toMatchObject({
        name,
        reason,
      });
      const status = { code: 400, status: "FAILED_PRECONDITION", message: "no", details: [info(reason)] };
      expect(map(status, { httpStatus: 400 })).toMatchObject({ name, reason, httpStatus: 400 });
    },
  );

  test("is the same over JSON-RPC and over HTTP", () => {
    const rpc = map({ code: -32001, message: "gone", data: [info("TASK_NOT_FOUND")] });
    const http = map(
      { code: 404, status: "NOT_FOUND", message: "gone", details: [info("TASK_NOT_FOUND")] },
      { httpStatus: 404 },
    );
    expect([rpc.name, http.name]).toEqual(["TaskNotFoundError", "TaskNotFoundError"]);
    expect(http).toMatchObject({ httpStatus: 404, rpcCode: undefined });
  });

  test.each([
    "TASK_NOT_FOUND",
    "task_not_found",
    "TaskNotFound",
    "TaskNotFoundError",
    "TASK_NOT_FOUND_ERROR",
    "task-not-found",
  ])("may spell its reason %s", (reason) => {
    expect(map({ code: -32603, message: "x", data: [info(reason)] }).name).toBe("TaskNotFoundError");
    expect(map({ code: -32603, message: "x", data: info(reason, undefined) }).name).toBe("TaskNotFoundError");
  });

  test("follows a code before a reason of another domain", () => {
    const data = [info("INTERNAL_ERROR", "example.com")];
    expect(map({ code: -32001, message: "x", data }).name).toBe("TaskNotFoundError");
    expect(map({ code: -32000, message: "x", data }).name).toBe("InternalError");
  });

  test.each([404, 408, 429, 500, 502, 503, 504, 599, 100])(
    "with the code %d comes from a gateway",
    (code) => {
      expect(map({ code, message: "no upstream" }, { retryAfterMs: 5000 })).toMatchObject({
        name: "GatewayError",
        status: code,
        retryAfterMs: 5000,
      });
    },
  );

  test("with the status 401 or 403 is a refusal, and with it as a code a gateway's word", () => {
    for (const [code, name] of [
      [401, "AuthenticationError"],
      [403, "AuthorizationError"],
    ] as const) {
      // As a code it says nothing of who answered, nor whether the message was taken.
      expect(map({ code, message: "who are you?" }).name).toBe("GatewayError");
      const refusal = map(undefined, { httpStatus: code, challenge: 'Bearer realm="a"' });
      expect(refusal).toMatchObject({ name, challenge: 'Bearer realm="a"' });
      expect(map({ code: -32603, message: "x" }, { httpStatus: code }).name).toBe(name);
      expect(map({ code: -32001, message: "x" }, { httpStatus: code }).name).toBe("TaskNotFoundError");
    }
  });

  test("with a code that nobody knows is an unknown protocol error, and keeps all of it", () => {
    expect(
      map({ code: -32050, message: "odd", data: [{ a: 1 }] }, { httpStatus: 500, retryAfterMs: 1 }),
    ).toMatchObject({
      name: "UnknownProtocolError",
      rpcCode: -32050,
      httpStatus: 500,
      retryAfterMs: 1,
      details: [{ a: 1 }],
    });
    expect(map({ code: 7, message: "odd" }).name).toBe("UnknownProtocolError");
  });

  test("that names no error is its HTTP status", () => {
    const head = { httpStatus: 503, contentType: "text/html", body: "<h1>no", retryAfterMs: 5000 };
    expect(map(undefined, head)).toMatchObject({
      name: "HttpStatusError",
      status: 503,
      contentType: "text/html",
      body: "<h1>no",
      retryAfterMs: 5000,
    });
    expect(map({ code: 404, status: "NOT_FOUND", message: "x" }, { httpStatus: 404 }).name).toBe(
      "HttpStatusError",
    );
    expect(map({ message: "x" }, { httpStatus: 500 }).name).toBe("HttpStatusError");
  });
});

describe("an error object of the remote side", () => {
  test.each([
    ["a list", [info("X")], [info("X")]],
    ["an object", { version: "9.9" }, [{ version: "9.9" }]],
    ["a text", "more", [{ value: "more" }]],
    ["a mixed list", [1, null, ["a"]], [{ value: 1 }, { value: null }, { value: ["a"] }]],
    ["null", null, []],
  ])("may have %s as its data", (_what, data, details) => {
    expect(readRemoteFailure({ code: -32001, message: "x", data })).toMatchObject({
      code: -32001,
      message: "x",
      details,
    });
  });

  test.each([
    ["a text", "Unauthorized", "Unauthorized"],
    ["a number", 7, "7"],
    ["a list", ["a"], '["a"]'],
    ["an object without members", {}, "no message"],
    ["an object with an object for its message", { message: { why: "x" } }, '{"why":"x"}'],
  ])("may be %s", (_what, error, message) => {
    expect(readRemoteFailure(error)).toEqual({ message, reasons: [], details: [] });
  });

  test("may give its code as a text; another code is none", () => {
    expect(readRemoteFailure({ code: "-32001" }).code).toBe(-32001);
    for (const code of ["x", 1.5, Number.NaN, null, {}, true])
      expect(readRemoteFailure({ code }).code).toBeUndefined();
  });

  test("leaves no secret and no bulk in the error", () => {
    const details = Array.from({ length: 50 }, (_, index) => ({
      "@type": "x",
      apiKey: "s3cr3t",
      header: "Authorization: Bearer s3cr3t-token",
      bulk: "y".repeat(10_000),
      index,
    }));
    const deep = JSON.parse(`${'{"a":'.repeat(100)}1${"}".repeat(100)}`);
    const error = map({
      code: -32001,
      message: `Bearer s3cr3t-token ${"z".repeat(100_000)}`,
      data: [...details, deep],
    });
    const shown = JSON.stringify(error) + error.message;
    expect(shown).not.toContain("s3cr3t");
    const read = readRemoteFailure({ message: `Bearer s3cr3t-token ${"z".repeat(100_000)}`, data: details });
    expect(JSON.stringify(read).length).toBeLessThan(5000);
    expect(shown.length).toBeLessThan(10_000);
    expect(JSON.stringify(readRemoteFailure({ data: [deep] }).details).length).toBeLessThan(200);
  });

  test("never breaks the mapping, whatever it is", () => {
    const part = fc.oneof(fc.jsonValue(), fc.constantFrom(-32001, 401, 503, "TASK_NOT_FOUND"));
    const error = fc.oneof(
      part,
      fc.record({ code: part, message: part, data: part, details: part, status: part }, { requiredKeys: [] }),
      fc.record({ data: fc.array(fc.record({ reason: part, domain: part }, { requiredKeys: [] })) }),
    );
    const status = fc.option(fc.integer({ min: 100, max: 599 }), { nil: undefined });
    fc.assert(
      fc.property(error, status, (value, httpStatus) => {
        const mapped = map(value, httpStatus === undefined ? {} : { httpStatus });
        expect(isA2ALeaseError(mapped)).toBe(true);
        expect(JSON.stringify(mapped).length).toBeLessThan(20_000);
      }),
      { numRuns: 1000 },
    );
  });
});
