import { isA2ALeaseError } from "../errors/any.ts";
import type { NextStep } from "../errors/base.ts";
import type { AnsweredOutcome, Outcome } from "../model/outcome.ts";
import type { Part } from "../model/part.ts";
import { defined } from "../util/freeze.ts";
import { textOfParts } from "./outcome.ts";

/** What delegated work came to, as plain data for any tool-calling framework. */
export interface ToolResult {
  /** Status of the outcome, or `"error"`. */
  readonly status: Outcome["status"] | AnsweredOutcome["status"] | "error";
  /** The result, the question, the reason, or what went wrong. */
  readonly text?: string;
  /** What of it is no text. */
  readonly parts?: readonly Part[];
  /** What a planner does next; `"use-result"` when there is one. */
  readonly nextStep: NextStep | "use-result";
  /** Code of the error. */
  readonly code?: string;
  /** Task that the error concerns: wait for that one, and do not delegate the work again. */
  readonly taskId?: string;
}

const nextSteps = Object.freeze({
  completed: "use-result",
  answered: "use-result",
  failed: "replan",
  canceled: "give-up",
  rejected: "replan",
  "input-required": "ask-user",
  "auth-required": "authenticate",
} as const);

/**
 * Turns an outcome, or whatever was thrown in its place, into plain data. A refusal is not an empty answer and an error
 * is not a result: `status` says which it is.
 */
export function toToolResult(found: Outcome | AnsweredOutcome | unknown): ToolResult {
  if (isOutcome(found)) return outcomeResult(found);
  if (isA2ALeaseError(found)) {
    const { message, nextStep, code, taskId } = found;
    return { status: "error", text: message, nextStep, code, ...defined({ taskId }) };
  }
  const text = found instanceof Error ? found.message : String(found);
  return { status: "error", text, nextStep: "give-up" };
}

function outcomeResult(outcome: Outcome | AnsweredOutcome): ToolResult {
  const { status } = outcome;
  const nextStep = nextSteps[status];
  if (outcome.status === "completed" || outcome.status === "answered") {
    const { text, skipped } = outcome;
    return { status, text, ...(skipped.length > 0 ? { parts: skipped } : {}), nextStep };
  }
  const { text, skipped: others } = textOfParts(outcome.message?.parts ?? []);
  return {
    status,
    ...(text === "" ? {} : { text }),
    ...(others.length > 0 ? { parts: others } : {}),
    nextStep,
  };
}

/** What was thrown is an error, whatever members it has; an outcome comes with what it is an outcome of. */
function isOutcome(found: unknown): found is Outcome | AnsweredOutcome {
  if (typeof found !== "object" || found === null || found instanceof Error || isA2ALeaseError(found))
    return false;
  if (!("status" in found) || !("task" in found || "message" in found)) return false;
  return typeof found.status === "string" && Object.hasOwn(nextSteps, found.status);
}
