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
    const { name, code, retry, nextStep, ...members } = this;
    const cause = this.cause === undefined ? {} : { cause: causeJson(this.cause) };
    return { name, code, message: this.message, retry, nextStep, ...(jsonOf(members) as object), ...cause };
  }

  // biome-ignore-start lint/complexity/noThisInStatic: the class that instanceof names is only known as this
  static override [Symbol.hasInstance](this: { prototype: unknown }, value: unknown): boolean {
    if (typeof value !== "object" || value === null || !(brand in value)) return false;
    if ((this as unknown) === A2ALeaseError) return true;
    if (Object.hasOwn(this, "code")) return value[brand as never] === (this as { code?: string }).code;
    // A class that a user derived from one of ours is told by its prototype.
    return Object.prototype.isPrototypeOf.call(this.prototype as object, value);
  }
  // biome-ignore-end lint/complexity/noThisInStatic: as above
}

/** Whether a value is an error of this library, of whichever copy. */
export function isBranded(value: unknown): boolean {
  return typeof value === "object" && value !== null && brand in value;
}

function jsonOf(members: object): unknown {
  const plain = Object.entries(members)
    .filter(([, member]) => typeof member !== "function" && member !== undefined)
    .map(([name, member]) => [name, hasToJson(member) ? member.toJSON() : member]);
  return redactJson(Object.fromEntries(plain), maxErrorText);
}

function causeJson(cause: unknown): unknown {
  if (isBranded(cause) && hasToJson(cause)) return cause.toJSON();
  if (cause instanceof Error)
    return { name: cause.name, message: cut(redactText(cause.message), maxErrorText) };
  return cut(redactText(String(cause)), maxErrorText);
}

function hasToJson(value: unknown): value is { toJSON(): unknown } {
  return (
    typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function"
  );
}
