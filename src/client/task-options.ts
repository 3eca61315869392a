import type { CardRequirements } from "../model/requirements.ts";
import type { JsonObject } from "../model/schema.ts";
import type { Task } from "../model/task.ts";
import type { CallOptions } from "./call.ts";

/** Options of a read of one task. */
export interface GetOptions extends CallOptions {
  /** Most recent messages of history to return at most; 0 is none (3.2.4). @default no limit but the agent's own */
  readonly historyLength?: number;
}

/** Options of a cancellation. */
export interface CancelOptions extends CallOptions {
  /** Free-form metadata of the request. */
  readonly metadata?: JsonObject;
}

/** A task read outside the lease, once and raw, so that finished work is never out of reach. */
export interface SalvagedTask {
  /** The task as the agent gave it. */
  readonly task: Task;
  /** Says that no card stands behind it: do not plan on it. */
  readonly unleased: true;
  /** When it was read, RFC 3339. */
  readonly readAt: string;
}

/** What a renegotiation may be told. */
export interface RenegotiateOptions extends CallOptions {
  /** What the plan needs from now on. @default what it needed so far */
  readonly requires?: CardRequirements;
}

/** Frames of a stream that could not be used and were skipped. */
export interface SkippedFrames {
  /** How many. */
  readonly count: number;
  /** The first of them: why, and its beginning. */
  readonly first?: { readonly reason: string; readonly snippet: string };
}
