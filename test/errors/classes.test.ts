import { describe, expect, expectTypeOf, test } from "vitest";
import { type AnyA2ALeaseError, isA2ALeaseError } from "../../src/errors/any.ts";
import { A2ALeaseError, isBranded, type NextStep, type RetryAdvice } from "../../src/errors/base.ts";
import { CardAuthError, CardInvalidError, CardNotFoundError } from "../../src/errors/card.ts";
import { CardDriftError } from "../../src/errors/lease.ts";
import { TaskNotFoundError } from "../../src/errors/protocol.ts";
import { TimeoutError } from "../../src/errors/transport.ts";
import { classes, driftWithSecrets, samples } from "./samples.ts";

const retries: readonly RetryAdvice[] = [
  "never",
  "safe",
  "after-renegotiation",
  "after-credentials",
  "unknown-outcome",
];
const steps: readonly NextStep[] = [
  "renegotiate",
  "replan",
  "ask-user",
  "authenticate",
  "recover",
  "wait",
  "give-up",
];

test("there is a sample of every class, so that each one is tested", () => {
  expect(samples.map(({ name }) => name).sort()).toEqual(classes.map((type) => type.name).sort());
});

test("every code is there once", () => {
  expect(new Set(samples.map(({ code }) => code)).size).toBe(samples.length);
});

describe.each(samples.map((error) => [error.name, error] as const))("%s", (name, error) => {
  test("has its own name and code, and advice of the words that there are", () => {
    const type = classes.find((item) => item.name === name) as unknown as { code: string };
    expect(error.code).toBe(type.code);
    const plain = ["ParseError", "InternalError", "UnknownProtocolError"];
    expect(error.code.replace(plain.includes(name) ? /_ERROR$/ : "", "")).toBe(
      name
        .replace(/Error$/, "")
        .replace(/([a-z\d])([A-Z])/g, "$1_$2")
        .toUpperCase(),
    );
    expect([retries, steps]).toEqual([
      expect.arrayContaining([error.retry]),
      expect.arrayContaining([error.nextStep]),
    ]);
  });

  test("is an instance of its class, of the base and of Error, and of no other class", () => {
    expect(classes.filter((type) => error instanceof type).map((type) => type.name)).toEqual([name]);
    expect([error instanceof A2ALeaseError, error instanceof Error, isA2ALeaseError(error)]).toEqual([
      true,
      true,
      true,
    ]);
  });
});

describe("instanceof", () => {
  const drift = driftWithSecrets();
  const renegotiate = async () => ({ client: 1 });

  test("holds for a class that a user derived, with a code of its own or without", () => {
    class MyDrift extends CardDriftError {}
    class MyCodedDrift extends CardDriftError {
      static override readonly code = "MY_DRIFT" as "CARD_DRIFT";
    }
    const errors = [MyDrift, MyCodedDrift, CardDriftError].map((type) => new type(drift, { renegotiate }));
    const types = [MyDrift, MyCodedDrift, CardDriftError, A2ALeaseError, Error, CardAuthError];
    expect(errors.map((error) => types.map((type) => error instanceof type))).toEqual([
      [true, false, true, true, true, false],
      [false, true, true, true, true, false],
      [false, false, true, true, true, false],
    ]);
  });

  test("holds for an error of another copy of this library, which is told by its brand", () => {
    const foreign = Object.defineProperty(new TypeError("foreign"), Symbol.for("a2a-lease.error"), {
      value: "CARD_DRIFT",
    });
    expect([
      foreign instanceof CardDriftError,
      foreign instanceof A2ALeaseError,
      foreign instanceof CardAuthError,
    ]).toEqual([true, true, false]);
    expect([isBranded(foreign), isA2ALeaseError(foreign)]).toEqual([true, true]);
  });

  test.each([
    undefined,
    null,
    1,
    "CARD_DRIFT",
    {},
    new TypeError("x"),
    { code: "CARD_DRIFT", name: "CardDriftError" },
  ])("does not hold for %s", (value) => {
    expect([
      (value as unknown) instanceof CardDriftError,
      (value as unknown) instanceof A2ALeaseError,
    ]).toEqual([false, false]);
    expect(isA2ALeaseError(value)).toBe(false);
  });
});

test("the code narrows the union to one class", () => {
  const narrow = (error: AnyA2ALeaseError) => {
    switch (error.code) {
      case "CARD_DRIFT":
        expectTypeOf(error).toEqualTypeOf<CardDriftError>();
        return error.reason;
      case "CARD_NOT_FOUND":
        expectTypeOf(error).toEqualTypeOf<CardNotFoundError>();
        return error.attempts.length;
      case "TASK_NOT_FOUND":
        expectTypeOf(error).toEqualTypeOf<TaskNotFoundError>();
        return error.operation;
      case "TIMEOUT":
        expectTypeOf(error).toEqualTypeOf<TimeoutError>();
        return error.budget;
      default:
        expectTypeOf<typeof error.code>().not.toEqualTypeOf<string>();
        return undefined;
    }
  };
  expect([
    narrow(new CardNotFoundError([{ url: "https://h.example", status: 404 }])),
    narrow(new TimeoutError("https://h.example", "total", 5)),
    narrow(new TaskNotFoundError({ operation: "GetTask", remoteMessage: "gone" })),
    narrow(new CardInvalidError(undefined, [], "sha256:0")),
  ]).toEqual([1, "total", "GetTask", undefined]);
});

test("what is caught narrows by its kind, then by its code", () => {
  const caught: unknown = new CardNotFoundError([]);
  if (!isA2ALeaseError(caught))
    throw new TypeError("caught: found something else, wanted an error of this library");
  expectTypeOf(caught).toEqualTypeOf<AnyA2ALeaseError>();
  expect(caught.code).toBe("CARD_NOT_FOUND");
});

test("a drift error renegotiates by what it was given, and holds on to what it was told", async () => {
  const drift = driftWithSecrets();
  const cause = new TypeError("x");
  const error = new CardDriftError(drift, { taskId: "t1", cause, renegotiate: async () => ({ handle: 1 }) });
  expect([error.drift, error.reason, error.taskId, error.cause, await error.renegotiate()]).toEqual([
    drift,
    "content-changed",
    "t1",
    cause,
    { handle: 1 },
  ]);
  expect(error.message).toBe(
    `the agent card drifted (content-changed) at revalidate, before check: found ${drift.live?.digest}, wanted ${drift.pinned.digest}`,
  );
});
