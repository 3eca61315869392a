import type { Artifact } from "./artifact.ts";
import type { Message } from "./message.ts";
import type { Task, TaskStatus } from "./task.ts";

interface UpdateMembers {
  /** The task with everything folded in so far, as it is when this is read. */
  readonly task: Task;
}

/** One step of a followed task, in order and each once, whatever the wire did. */
export type TaskUpdate =
  /** Where the sequence begins: the task as it was when it was first seen. */
  | ({ readonly kind: "snapshot" } & UpdateMembers)
  /** Its status changed. */
  | ({ readonly kind: "status"; readonly status: TaskStatus } & UpdateMembers)
  /** An artifact began, or grew by these parts. */
  | ({
      readonly kind: "artifact";
      readonly artifact: Artifact;
      /** Whether the parts come after those that were told before. */
      readonly append: boolean;
      /** Whether the agent said that these are the last. */
      readonly lastChunk: boolean;
    } & UpdateMembers)
  /** What the agent has now does not extend what was told of an artifact: this is all of it. */
  | ({ readonly kind: "artifact-replaced"; readonly artifact: Artifact } & UpdateMembers)
  /** The agent said something in the middle of the task. */
  | ({ readonly kind: "message"; readonly message: Message } & UpdateMembers)
  /** The connection was lost and something was missed; what follows was put together from the task itself. */
  | ({ readonly kind: "gap" } & UpdateMembers);
