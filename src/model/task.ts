import * as z from "zod/mini";
import { type Artifact, artifactSchema } from "./artifact.ts";
import { type Message, messageSchema } from "./message.ts";
import { idSchema, type JsonObject, jsonObjectSchema, maxIdLength, optional, wireObject } from "./schema.ts";
import { readTaskState, type TaskState, wireStateSchema } from "./states.ts";

/** Status of a task at one moment (4.1.2). */
export interface TaskStatus {
  /** The state. */
  readonly state: TaskState;
  /** The wire's own text of the state, only where it is not the spec's name for it. Never written back. */
  readonly raw?: string;
  /** What the agent says with the status: a question, a reason, a progress line. */
  readonly message?: Message;
  /** When the status was recorded by the agent's clock, RFC 3339 in UTC. */
  readonly timestamp?: string;
}

/** One unit of work at an agent (4.1.1). */
export interface Task {
  /** Identifier made by the agent. */
  readonly id: string;
  /** Context that the task belongs to. */
  readonly contextId?: string;
  /** Its status. */
  readonly status: TaskStatus;
  /** Its outputs. Absent may mean "left out of this answer"; see the operation. */
  readonly artifacts?: readonly Artifact[];
  /** Messages exchanged, oldest first, as far as the agent keeps and returns them. */
  readonly history?: readonly Message[];
  /** Free-form metadata. */
  readonly metadata?: JsonObject;
}

/** Schema of {@link TaskStatus}. */
export const taskStatusSchema: z.ZodMiniType<TaskStatus> = z.pipe(
  wireObject({
    state: optional(wireStateSchema),
    message: optional(messageSchema),
    timestamp: optional(z.string()),
  }),
  z.transform(({ state, raw: _foreign, ...rest }) => ({ ...rest, ...readTaskState(state) })),
);

/** Schema of {@link Task}. */
export const taskSchema: z.ZodMiniType<Task> = wireObject({
  id: z.string().check(z.minLength(1), z.maxLength(maxIdLength)),
  contextId: optional(idSchema),
  status: taskStatusSchema,
  artifacts: optional(z.array(artifactSchema)),
  history: optional(z.array(messageSchema)),
  metadata: optional(jsonObjectSchema),
});
