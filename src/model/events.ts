import * as z from "zod/mini";
import { type Artifact, artifactSchema } from "./artifact.ts";
import { type Message, messageSchema } from "./message.ts";
import { exactlyOne, idSchema, type JsonObject, jsonObjectSchema, optional, wireObject } from "./schema.ts";
import { type Task, type TaskStatus, taskSchema, taskStatusSchema } from "./task.ts";

/** Says that the status of a task changed (4.2.1). */
export interface TaskStatusUpdateEvent {
  /** The task. */
  readonly taskId: string;
  /** Its context; some agents leave it out. */
  readonly contextId?: string;
  /** The new status. */
  readonly status: TaskStatus;
  /** Free-form metadata. */
  readonly metadata?: JsonObject;
}

/** Brings an artifact, or a piece of one (4.2.2). */
export interface TaskArtifactUpdateEvent {
  /** The task. */
  readonly taskId: string;
  /** Its context; some agents leave it out. */
  readonly contextId?: string;
  /** The artifact or the piece. */
  readonly artifact: Artifact;
  /** Whether the parts are to be appended to the artifact of the same id. */
  readonly append?: boolean;
  /** Whether this is the last piece. */
  readonly lastChunk?: boolean;
  /** Free-form metadata. */
  readonly metadata?: JsonObject;
}

/** One event of a stream, exactly one of four (3.2.3). */
export type StreamResponse =
  | { readonly task: Task }
  | { readonly message: Message }
  | { readonly statusUpdate: TaskStatusUpdateEvent }
  | { readonly artifactUpdate: TaskArtifactUpdateEvent };

/** Answer to a sent message, exactly one of two (3.1.1). */
export type SendMessageResponse = { readonly task: Task } | { readonly message: Message };

const statusUpdateSchema: z.ZodMiniType<TaskStatusUpdateEvent> = wireObject({
  taskId: idSchema,
  contextId: optional(idSchema),
  status: taskStatusSchema,
  metadata: optional(jsonObjectSchema),
});

const artifactUpdateSchema: z.ZodMiniType<TaskArtifactUpdateEvent> = wireObject({
  taskId: idSchema,
  contextId: optional(idSchema),
  artifact: artifactSchema,
  append: optional(z.boolean()),
  lastChunk: optional(z.boolean()),
  metadata: optional(jsonObjectSchema),
});

/** Schema of {@link StreamResponse}. */
export const streamResponseSchema = exactlyOne<StreamResponse>(
  wireObject({
    task: optional(taskSchema),
    message: optional(messageSchema),
    statusUpdate: optional(statusUpdateSchema),
    artifactUpdate: optional(artifactUpdateSchema),
  }),
  ["task", "message", "statusUpdate", "artifactUpdate"],
);

/** Schema of {@link SendMessageResponse}. */
export const sendMessageResponseSchema = exactlyOne<SendMessageResponse>(
  wireObject({ task: optional(taskSchema), message: optional(messageSchema) }),
  ["task", "message"],
);
