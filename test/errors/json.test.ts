import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { A2ALeaseError, reasonText } from "../../src/errors/base.ts";
import { CardInvalidError, CardUnreachableError } from "../../src/errors/card.ts";
import { LeaseUnverifiableError } from "../../src/errors/lease.ts";
import { InvalidParamsError } from "../../src/errors/protocol.ts";
import { ConnectionError, HttpStatusError, TimeoutError } from "../../src/errors/transport.ts";
import { samples, secret } from "./samples.ts";

const named = samples.map((error) => [error.name, error] as const);
const url = "https://agent.example/rpc";

describe.each(named)("%s", (name, error) => {
  test("says as JSON what it is, what to do, and all that it knows", () => {
    const json = error.toJSON();
    const { code, message, retry, nextStep } = error;
    expect(JSON.parse(JSON.stringify(error))).toEqual(JSON.parse(JSON.stringify(json)));
    expect(json).toMatchObject({ name, code, message, retry, nextStep });
    const own = Object.entries(error).filter(([, value]) => value !== undefined);
    expect(Object.keys(json)).toEqual(expect.arrayContaining(own.map(([member]) => member)));
    expect("cause" in json).toBe(error.cause !== undefined);
  });

  test("has no secret in its message, its JSON and its stack", () => {
    expect([error.message, JSON.stringify(error), String(error), error.stack].join("\n")).not.toContain(
      secret,
    );
  });

  test("has no secret in its own members, but for the cards of a drift and the task that a caller may need", () => {
    const {
      cause: _cause,
      drift: _drift,
      task: _task,
      details: _details,
      ...members
    } = error as A2ALeaseError & {
      drift?: unknown;
      task?: unknown;
      details?: unknown;
    };
    const {
      checkFailure: _failure,
      issues: _issues,
      ...plain
    } = members as { checkFailure?: unknown; issues?: unknown };
    expect(inspect(plain, { depth: 10 })).not.toContain(secret);
  });

  test("is short: its message is cut, and so is its JSON", () => {
    expect(error.message.length).toBeLessThan(2_100);
    expect(JSON.stringify(error).length).toBeLessThan(64 * 1024);
  });
});

describe("an error as JSON", () => {
  test("is exactly its members", () => {
    expect(new TimeoutError(url, "idle", 5).toJSON()).toEqual({
      ...{ name: "TimeoutError", code: "TIMEOUT", retry: "safe", nextStep: "wait" },
      message: `${url} gave no answer within the idle budget of 5 ms`,
      ...{ url, budget: "idle", budgetMs: 5 },
    });
  });

  test("has the body of an answer cut at 2 KB, and says how much went", () => {
    const { body } = new HttpStatusError({ url, status: 500, body: "x".repeat(5_000) }).toJSON();
    expect(body).toBe(`${"x".repeat(2048)}… (2952 more)`);
  });

  test("has its causes in it, ours with their codes and others by name, message and system code", () => {
    const platform = Object.assign(new TypeError("fetch failed"), {
      cause: Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }),
    });
    const connection = new ConnectionError(url, { neverSent: true, message: "refused", cause: platform });
    const error = new CardUnreachableError(url, { status: 503, cause: connection });
    expect(error.toJSON().cause).toEqual({
      ...{ name: "ConnectionError", code: "CONNECTION", retry: "safe", nextStep: "wait" },
      ...{ message: `the connection to ${url} failed: refused`, url, neverSent: true },
      cause: {
        name: "TypeError",
        message: "fetch failed",
        cause: { name: "Error", message: "connect ECONNREFUSED", code: "ECONNREFUSED" },
      },
    });
  });

  test("keeps the code of an error that is a member", () => {
    const checkFailure = new CardInvalidError(url, [{ path: "$", message: "m" }], "sha256:0");
    const cause = new InvalidParamsError({ operation: "GetTask", remoteMessage: "no" });
    expect(new LeaseUnverifiableError(url, { cause, checkFailure }).toJSON()).toMatchObject({
      code: "LEASE_UNVERIFIABLE",
      checkFailure: { code: "CARD_INVALID", issues: [{ path: "$", message: "m" }] },
      cause: { code: "INVALID_PARAMS", operation: "GetTask" },
    });
  });

  test("ends where causes go round in a circle, and where they go too deep", () => {
    const a = new TypeError("a");
    const b = new ConnectionError(url, { neverSent: false, message: "b", cause: a });
    a.cause = b;
    expect(JSON.stringify(b)).toContain('"cause":{"name":"TypeError","message":"a","cause":"…"}');
    let deep = new TypeError("bottom");
    for (let level = 0; level < 10_000; level++) deep = new TypeError("above", { cause: deep });
    expect(JSON.stringify(new CardUnreachableError(url, { cause: deep })).match(/above/g)).toHaveLength(7);
  });

  test.each([
    ["a text with a secret", `Bearer ${secret}`, "Bearer ***"],
    ["nothing", null, "null"],
    ["something without a text", Object.create(null), "something without a text was thrown"],
    ["a symbol", Symbol("s"), "Symbol(s)"],
  ])("has %s as its cause", (_what, cause, shown) => {
    expect(new CardUnreachableError(url, { cause }).toJSON().cause).toBe(shown);
  });
});

test("a user's own error says its own members too", () => {
  class QuotaError extends A2ALeaseError {
    override readonly name = "QuotaError";
    override readonly code = "QUOTA";
    readonly left = 3;
    readonly apiKey = secret;
  }
  const error = new QuotaError("quota", { retry: "never", nextStep: "wait", retryAfterMs: 7 });
  expect(error.toJSON()).toEqual({
    ...{
      name: "QuotaError",
      code: "QUOTA",
      message: "quota",
      retry: "never",
      nextStep: "wait",
      retryAfterMs: 7,
    },
    ...{ left: 3, apiKey: "***" },
  });
});

test("what was thrown says something of itself, whatever it is", () => {
  expect([new TypeError("m"), "text", undefined, { a: 1 }, Object.create(null)].map(reasonText)).toEqual([
    "m",
    "text",
    "undefined",
    "[object Object]",
    "something without a text was thrown",
  ]);
});
