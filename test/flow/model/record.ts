import type { CardComparison, CardDigests, OperationName } from "a2a-lease";

/** How the client of a run was made. */
export interface RunSettings {
  readonly posture: "fail-closed" | "degrade";
  readonly compare: CardComparison;
  readonly leaseTermMs: number;
  readonly fullCheckEveryMs: number;
  /** Where credentials come from: nowhere, at once, or only when time passes; whoever asks again gets others. */
  readonly credentials: "none" | "fresh" | "slow";
}

/** What one status of a task is told by. */
export interface KnownStatus {
  readonly state: string;
  readonly timestamp?: string | undefined;
  readonly messageId?: string | undefined;
}

/** One thing that an answer or an event of a stream showed the client. */
export interface Sighting {
  /** When. */
  readonly at: number;
  /** Code of the error, where it was one. */
  readonly code?: number;
  /** The task that was spoken of. */
  readonly taskId?: string;
  /** The status that it was shown in. */
  readonly status?: KnownStatus;
  /** What the caller could see of that task just before. */
  readonly before?: KnownStatus;
}

/** What every exchange has. Moments are positions in the one order of everything that happened in a run. */
interface Exchanged {
  /** When the request left. */
  readonly at: number;
  /** Time on the test clock then, in milliseconds. */
  readonly atMs: number;
  /** The answer, once it was there: its body too, unless it is an event stream. */
  readonly answer?: {
    readonly at: number;
    readonly atMs: number;
    readonly status: number;
    readonly mediaType: string;
    readonly retryAfterMs?: number;
  };
  /** How it failed without an answer. */
  readonly failure?: { readonly at: number; readonly how: "reset" | "refused" | "aborted" };
}

/** One reading of the card. */
export interface CardExchange extends Exchanged {
  readonly kind: "card";
  /** Whether it named no validator and asked past every cache. */
  readonly isFull: boolean;
  /** Digests of the card in the answer, where it was one. */
  readonly digests?: CardDigests;
}

/** One call. */
export interface CallExchange extends Exchanged {
  readonly kind: "call";
  readonly operation: OperationName;
  /** The step of the caller's that it was made for; absent where the client did not hand the headers on. */
  readonly stepId?: string;
  readonly taskId?: string;
  readonly messageId?: string;
  readonly authorization?: string;
  readonly sightings: readonly Sighting[];
  /** When the client gave the stream up because it was silent. */
  readonly stalledAt?: number;
}

export type Exchange = CardExchange | CallExchange;

/** What a caller can do. */
export type StepKind =
  | "create"
  | "send"
  | "stream"
  | "reply"
  | "get"
  | "find"
  | "subscribe"
  | "next"
  | "cancel"
  | "salvage"
  | "revalidate"
  | "renegotiate"
  | "repin";

/** One thing that the caller did, and what came of it. */
export interface Step {
  readonly id: string;
  readonly kind: StepKind;
  /** The step as a line of a script. */
  readonly label: string;
  /** Who holds the pin that it depends on: the plan, in its how-manieth edition, or a handle. */
  readonly holder?: string;
  /** The pin at its start. */
  readonly pin?: CardDigests;
  readonly taskId?: string;
  /** The step that opened the stream, for the next event of one. */
  readonly stream?: string;
  /** What the caller knew of the task at the start. */
  readonly before?: KnownStatus;
  readonly startedAt: number;
  /** Time on the test clock then, in milliseconds. */
  readonly startedMs: number;
  /** The abort by the caller: its signal, or the closing of the client. */
  readonly aborted?: { readonly at: number; readonly reason: unknown };
  /** When the caller left the stream that the step waits for. */
  readonly leftAt?: number;
  readonly settled?: Settled;
}

/** How a step ended. */
export type Settled = { readonly at: number; readonly atMs: number } & (
  | { readonly isOk: true; readonly state?: string }
  | { readonly isOk: false; readonly error: unknown }
);

/** Everything that happened in a run so far. */
export interface RunRecord {
  readonly settings: RunSettings;
  readonly exchanges: readonly Exchange[];
  readonly steps: readonly Step[];
}

/** How long a step went on: until the end of time while it has not settled. */
export function endOf({ settled }: Step): number {
  return settled?.at ?? Number.POSITIVE_INFINITY;
}

/** What a step was rejected with. */
export function errorOf({ settled }: Step): unknown {
  return settled && !settled.isOk ? settled.error : undefined;
}

/** Whether a step ended by the caller's own word, and with it. */
export function isAborted(step: Step): boolean {
  return step.aborted !== undefined && errorOf(step) === step.aborted.reason;
}

/** Whether what the step came to was no longer waited for. */
export function isGivenUp(step: Step): boolean {
  return isAborted(step) || step.leftAt !== undefined;
}

/** An error and what led to it, outermost first. */
export function chainOf(error: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  for (let item = error; item !== undefined && chain.length < 8; item = causeOf(item)) chain.push(item);
  return chain;
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

/** Name of what was thrown, for comparisons and for people. */
export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : String(error);
}

/** Whether an error, or one that led to it, has this name. */
export function hasCause(error: unknown, name: string): boolean {
  return chainOf(error).some((item) => nameOf(item) === name);
}
