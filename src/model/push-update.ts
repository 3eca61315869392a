import type { Deviation } from "./deviation.ts";
import type { Observation } from "./observation.ts";
import type { TaskState } from "./states.ts";

/**
 * Something new that an agent pushed of a task. It says that there is news, and holds no content: `handle.get()` or
 * `handle.result()` read that, after a check of the card.
 */
export interface PushUpdate {
  /** Names the agent's card in the ledger: its URL, without what may be a secret in it. */
  readonly cardUrl: string;
  /** On whose behalf the task was started. */
  readonly principal: string;
  /** The task. */
  readonly taskId: string;
  /** Its context, where the notification named one. */
  readonly contextId?: string;
  /** What was pushed (4.3.3). */
  readonly event: "task" | "statusUpdate" | "artifactUpdate" | "message";
  /** State that it showed, for a task or a status update. */
  readonly state?: TaskState;
  /** What it showed of the task's status, for a task or a status update. */
  readonly observation?: Observation;
  /** What broke the spec and could be read. */
  readonly deviations: readonly Deviation[];
  /** When it came, RFC 3339, by our clock. */
  readonly receivedAt: string;
}
