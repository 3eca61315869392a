import type {
  AnsweredOutcome,
  CompletedOutcome,
  DelegateOutcome,
  Message,
  Outcome,
  TaskHandle,
  TaskOutcome,
} from "a2a-lease";
import { describe, expectTypeOf, test } from "vitest";

/** Fails to compile where a case is left out: what is left over would have to be nothing. */
function told(outcome: TaskOutcome): string | undefined {
  switch (outcome.status) {
    case "completed":
      return outcome.text;
    case "failed":
    case "canceled":
    case "rejected":
      return outcome.message?.messageId;
    case "input-required":
    case "auth-required":
      return outcome.prompt?.messageId;
    default:
      return neverComes(outcome);
  }
}

function neverComes(left: never): never {
  throw new TypeError(`found ${JSON.stringify(left)}`);
}

describe("what the compiler knows of outcomes", () => {
  test("a switch over the status of a task's outcome is exhaustive", () => {
    expectTypeOf(told).returns.toEqualTypeOf<string | undefined>();
    expectTypeOf<Outcome["status"]>().toEqualTypeOf<
      "completed" | "failed" | "canceled" | "rejected" | "input-required" | "auth-required"
    >();
    expectTypeOf<DelegateOutcome["status"]>().toEqualTypeOf<Outcome["status"] | "answered">();
    expectTypeOf<Awaited<ReturnType<TaskHandle["result"]>>>().toEqualTypeOf<TaskOutcome>();
  });

  test("a text is only there on what is completed or answered", () => {
    type WithText = Extract<DelegateOutcome, { readonly text: unknown }>;
    expectTypeOf<WithText["status"]>().toEqualTypeOf<"completed" | "answered">();
    type Without = Exclude<DelegateOutcome, CompletedOutcome | AnsweredOutcome>;
    expectTypeOf<Without>().not.toHaveProperty("text");
    expectTypeOf<Without>().not.toHaveProperty("skipped");
    expectTypeOf<DelegateOutcome>().not.toHaveProperty("text");
  });

  test("a reply is only there on a question, and leads to another outcome", () => {
    type Asking = Extract<TaskOutcome, { readonly reply: unknown }>;
    expectTypeOf<Asking["status"]>().toEqualTypeOf<"input-required" | "auth-required">();
    expectTypeOf<Awaited<ReturnType<Asking["reply"]>>>().toExtend<TaskOutcome>();
    expectTypeOf<Asking["prompt"]>().toEqualTypeOf<Message | undefined>();
  });
});
