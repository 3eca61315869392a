import type { TaskState } from "./states.ts";

/** Where an observation came from. */
export type ObservationSource = "send" | "get" | "list" | "cancel" | "stream" | "push";

/** One thing seen of a task: an answer, a stream event, a webhook call. */
export interface Observation {
  /** The task. */
  readonly taskId: string;
  /** Its context, where the wire named one. */
  readonly contextId?: string;
  /** The state. */
  readonly state: TaskState;
  /** The wire's own text of the state, where it is not the spec's name. */
  readonly raw?: string;
  /** The agent's timestamp of the status. */
  readonly timestamp?: string;
  /** Id of the status message. */
  readonly statusMessageId?: string;
  /** Messages of history that came along, where any could. */
  readonly historyLength?: number;
  /** Where it came from. */
  readonly source: ObservationSource;
  /** When it was seen, RFC 3339, by our clock. */
  readonly seenAt: string;
}

/** The named rules of a task's life. */
export type LifecycleRule =
  | "known-state"
  | "terminal-is-final"
  | "single-terminal"
  | "timestamp-present"
  | "timestamp-monotonic"
  | "history-progress"
  | "progress"
  | "identity"
  | "answered"
  | "stream-shape"
  | "artifact-order";
