import * as z from "zod/mini";

/** The task states of A2A 1.0 that an agent can be in (4.1.3). */
export const taskStates = Object.freeze([
  "TASK_STATE_SUBMITTED",
  "TASK_STATE_WORKING",
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
  "TASK_STATE_INPUT_REQUIRED",
  "TASK_STATE_REJECTED",
  "TASK_STATE_AUTH_REQUIRED",
] as const);

/** A task state by its name in the spec (4.1.3). */
export type SpecTaskState = (typeof taskStates)[number];

/**
 * A task state as this library reads it: one of the spec's names, `TASK_STATE_UNSPECIFIED` when the wire gave none,
 * or `"unknown"` when it gave a name that the spec does not have. The last two are never terminal.
 */
export type TaskState = SpecTaskState | "TASK_STATE_UNSPECIFIED" | "unknown";

const terminal: ReadonlySet<TaskState> = new Set<TaskState>([
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
  "TASK_STATE_REJECTED",
]);
const interrupted: ReadonlySet<TaskState> = new Set<TaskState>([
  "TASK_STATE_INPUT_REQUIRED",
  "TASK_STATE_AUTH_REQUIRED",
]);

/** Whether a task in this state is over: completed, failed, canceled or rejected (4.1.3). */
export function isTerminalState(state: TaskState): boolean {
  return terminal.has(state);
}

/** Whether a task in this state waits for the caller: input or authentication required (4.1.3). */
export function isInterruptedState(state: TaskState): boolean {
  return interrupted.has(state);
}

/** Spellings of A2A 0.x, and what each means in 1.0. */
const legacySpellings: Readonly<Record<string, TaskState>> = Object.freeze({
  submitted: "TASK_STATE_SUBMITTED",
  working: "TASK_STATE_WORKING",
  completed: "TASK_STATE_COMPLETED",
  failed: "TASK_STATE_FAILED",
  canceled: "TASK_STATE_CANCELED",
  cancelled: "TASK_STATE_CANCELED",
  "input-required": "TASK_STATE_INPUT_REQUIRED",
  rejected: "TASK_STATE_REJECTED",
  "auth-required": "TASK_STATE_AUTH_REQUIRED",
  unknown: "TASK_STATE_UNSPECIFIED",
  TASK_STATE_CANCELLED: "TASK_STATE_CANCELED",
});

/** Numbers of the enum in `a2a.proto`; ProtoJSON lets a reader accept them in place of the names. */
const numbered: readonly TaskState[] = Object.freeze([
  "TASK_STATE_UNSPECIFIED",
  "TASK_STATE_SUBMITTED",
  "TASK_STATE_WORKING",
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
  "TASK_STATE_INPUT_REQUIRED",
  "TASK_STATE_REJECTED",
  "TASK_STATE_AUTH_REQUIRED",
]);

/** A state read off the wire. */
export interface ReadState {
  /** What it means. */
  readonly state: TaskState;
  /** The wire's own text, when it is not the spec's name for `state`. */
  readonly raw?: string;
}

/** Reads a state as the wire gives it: spec name, 0.x spelling, enum number, something else, or nothing. */
export function readTaskState(wire: unknown): ReadState {
  if (wire === undefined || wire === null || wire === "TASK_STATE_UNSPECIFIED") {
    return { state: "TASK_STATE_UNSPECIFIED" };
  }
  if (typeof wire === "string" && (taskStates as readonly string[]).includes(wire)) {
    return { state: wire as SpecTaskState };
  }
  const raw = typeof wire === "string" ? wire : JSON.stringify(wire);
  const byNumber = typeof wire === "number" ? numbered[wire] : undefined;
  const legacy =
    typeof wire === "string" && Object.hasOwn(legacySpellings, wire) ? legacySpellings[wire] : undefined;
  return { state: byNumber ?? legacy ?? "unknown", raw };
}

/** Schema of a wire state that is at least a name or a number. */
export const wireStateSchema = z.union([z.string(), z.number()]);
