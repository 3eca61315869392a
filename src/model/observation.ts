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
  /** Hash of what is asked, where the state is a question. */
  readonly question?: string;
  /** Whether the whole task was seen, and not only a change of it. */
  readonly isSnapshot: boolean;
  /** Messages of history that came along, where all of them would have. */
  readonly historyLength?: number;
  /** Id of the newest of them. */
  readonly newestMessageId?: string;
  /** Where it came from. */
  readonly source: ObservationSource;
  /** When it was seen, RFC 3339, by our clock. */
  readonly seenAt: string;
}

/** What is remembered of a task's life, as far as judging its next step needs it. */
export interface TaskMemory {
  /** The last distinct things seen, oldest first, at most 20; the last one is the present. */
  readonly observations: readonly Observation[];
  /** The first terminal state seen; it wins over everything after it. */
  readonly terminal?: Observation;
  /** The question that the task keeps asking, and how often in a row without any progress. */
  readonly idle?: { readonly question: string; readonly rounds: number };
  /** The last whole history seen: in which state, how long, and its newest message. */
  readonly history?: Pick<Observation, "state" | "timestamp" | "historyLength" | "newestMessageId">;
  /** Repetitions that were dropped. */
  readonly replayCount: number;
  /** Things that came too late and were dropped. */
  readonly lateCount: number;
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

/** How a task was looked at that stayed as it was for too long. */
export interface StandstillDetails {
  /** For how long it was unchanged, in milliseconds. */
  readonly unchangedMs: number;
  /** How it was looked at last. */
  readonly observedBy: "stream" | "poll";
  /** How often it was looked at. */
  readonly observations: number;
  /** The state it stayed in. */
  readonly state: TaskState;
}
