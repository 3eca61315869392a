import type { RetryRefusal, RetryReport } from "../model/retry.ts";
import { cut, redactJson, redactText } from "../util/redact.ts";

/** Whether, and after what, the same call makes sense again. */
export type RetryAdvice = "never" | "safe" | "after-renegotiation" | "after-credentials" | "unknown-outcome";

/** What a planner does next. */
export type NextStep =
  | "renegotiate"
  | "replan"
  | "ask-user"
  | "authenticate"
  | "recover"
  | "wait"
  | "give-up";

/** What every error carries beside its message. */
export interface ErrorAdvice {
  /** Whether the same call makes sense again. */
  readonly retry: RetryAdvice;
  /** What to do next. */
  readonly nextStep: NextStep;
  /** How long the remote side asked to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** What led to it. */
  readonly cause?: unknown;
}

/** An error as plain data, without secrets. */
export interface ErrorJson {
  /** Class name. */
  readonly name: string;
  /** Stable code. */
  readonly code: string;
  /** What was found and what was wanted. */
  readonly message: string;
  /** Whether the same call makes sense again. */
  readonly retry: RetryAdvice;
  /** What to do next. */
  readonly nextStep: NextStep;
  /** The members of the class, and `cause` when there is one. */
  readonly [member: string]: unknown;
}

const brand = Symbol.for("a2a-lease.error");

/** The longest text, in characters, that an error carries of what the remote side sent. */
export const maxErrorText = 2048;

/** Base of everything that this library throws, except a caller's own abort reason and a `TypeError` for bad arguments. */
export abstract class A2ALeaseError extends Error {
  /** Class name, also where a bundler renamed the class. */
  abstract override readonly name: string;
  /** Stable code, one for each class. */
  abstract readonly code: string;
  /** Whether the same call makes sense again. */
  readonly retry: RetryAdvice;
  /** What to do next. */
  readonly nextStep: NextStep;
  /** How long the remote side asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** How often the call was tried, and why not once more; there where that was a question. */
  readonly retries?: RetryReport;
  /** The task that it concerns, where there is one: `client.task(taskId)` goes on with it. */
  readonly taskId?: string;

  constructor(message: string, advice: ErrorAdvice) {
    super(
      cut(redactText(message), maxErrorText),
      advice.cause === undefined ? undefined : { cause: advice.cause },
    );
    this.retry = advice.retry;
    this.nextStep = advice.nextStep;
    if (advice.retryAfterMs !== undefined) this.retryAfterMs = advice.retryAfterMs;
    // The brand, not the prototype, decides instanceof: two copies of this library, or its ESM and CJS builds, agree.
    Object.defineProperty(this, brand, { value: (new.target as { code?: string }).code ?? "" });
  }

  /** The error as plain data that a planner or a model can read. */
  toJSON(): ErrorJson {
    return errorJson(this, new Set());
  }

  // biome-ignore-start lint/complexity/noThisInStatic: the class that instanceof names is only known as this
  static override [Symbol.hasInstance](this: { prototype: unknown }, value: unknown): boolean {
    if (typeof value !== "object" || value === null || !(brand in value)) return false;
    if ((this as unknown) === A2ALeaseError) return true;
    if (Object.hasOwn(this, "code") && value[brand as never] === (this as { code?: string }).code)
      return true;
    // A class that a user derived from one of ours is told by its prototype, whatever code it gives itself.
    return Object.prototype.isPrototypeOf.call(this.prototype as object, value);
  }
  // biome-ignore-end lint/complexity/noThisInStatic: as above
}

/** Says on an error how often the call was tried, and why not once more. A definite failure at once needs no saying. */
export function noteRetries(error: A2ALeaseError, attemptCount: number, refused: RetryRefusal): void {
  if (refused === "definite" && attemptCount === 1) return;
  const retries: RetryReport = Object.freeze({ attemptCount, refused });
  Object.assign(error, { retries });
}

/** Whether a value is an error of this library, of whichever copy. */
export function isBranded(value: unknown): value is A2ALeaseError {
  return typeof value === "object" && value !== null && brand in value;
}

/** What anything that was thrown says of itself. */
export function reasonText(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  try {
    return String(thrown);
  } catch {
    return "something without a text was thrown";
  }
}

/** How much of one member an error's JSON holds; a text that was cut already, and says so, is left as it is. */
const jsonLimits = Object.freeze({ maxText: maxErrorText + 32, maxTotal: 8_192 });

/** Most errors in a chain of causes. */
const maxCauses = 8;

function errorJson(error: A2ALeaseError, seen: Set<unknown>): ErrorJson {
  seen.add(error);
  const { name, code, retry, nextStep, ...members } = error;
  const given = Object.entries(members).filter(
    ([, member]) => typeof member !== "function" && member !== undefined,
  );
  const failures = [...given, ...(error.cause === undefined ? [] : [["cause", error.cause] as const])]
    .filter(([label, member]) => label === "cause" || member instanceof Error)
    .map(([label, member]) => [label, causeJson(member, seen)]);
  const plain = given
    .filter(([, member]) => !(member instanceof Error))
    .flatMap(([label, member]) => {
      const value = hasToJson(member) ? member.toJSON() : member;
      return Object.entries(redactJson({ [label]: value }, jsonLimits) as object);
    });
  return {
    ...{ name, code, message: error.message, retry, nextStep },
    ...Object.fromEntries([...plain, ...failures]),
  };
}

function causeJson(cause: unknown, seen: Set<unknown>): unknown {
  // A cause may lead back to where it came from.
  if (seen.has(cause) || seen.size >= maxCauses) return "…";
  if (isBranded(cause)) return errorJson(cause, seen);
  const message = cut(redactText(reasonText(cause)), maxErrorText);
  if (!(cause instanceof Error)) return message;
  seen.add(cause);
  const below = cause.cause === undefined ? {} : { cause: causeJson(cause.cause, seen) };
  const { code } = cause as { code?: unknown };
  const named = typeof code === "string" ? { code: cut(redactText(code), 100) } : {};
  return { name: cut(String(cause.name), 100), message, ...named, ...below };
}

function hasToJson(value: unknown): value is { toJSON(): unknown } {
  return (
    typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function"
  );
}
