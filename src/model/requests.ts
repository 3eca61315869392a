import * as z from "zod/mini";
import type { Message } from "./message.ts";
import type { TaskPushNotificationConfig } from "./push.ts";
import { intSchema, type JsonObject, optional, wireObject } from "./schema.ts";
import type { SpecTaskState } from "./states.ts";
import { type Task, taskSchema } from "./task.ts";

/** Settings of a send (3.2.2). */
export interface SendMessageConfiguration {
  /** Media types that the caller can take. */
  readonly acceptedOutputModes?: readonly string[];
  /** Push configuration for the task that the message starts. */
  readonly taskPushNotificationConfig?: TaskPushNotificationConfig;
  /** Most recent messages of history to return at most; absent is no limit, 0 is none. */
  readonly historyLength?: number;
  /** Whether to answer as soon as the task exists. */
  readonly returnImmediately?: boolean;
}

/** Input of SendMessage and SendStreamingMessage (3.2.1). */
export interface SendMessageRequest {
  /** The message. */
  readonly message: Message;
  /** Settings. */
  readonly configuration?: SendMessageConfiguration;
  /** Free-form metadata. */
  readonly metadata?: JsonObject;
}

/** Input of GetTask (3.1.3). */
export interface GetTaskRequest {
  /** The task. */
  readonly id: string;
  /** Most recent messages of history to return at most; absent is no limit, 0 is none. */
  readonly historyLength?: number;
}

/** Input of ListTasks (3.1.4). */
export interface ListTasksRequest {
  /** Only tasks of this context. */
  readonly contextId?: string;
  /** Only tasks in this state. */
  readonly status?: SpecTaskState;
  /** Tasks a page, 1 to 100. @default 50, by the agent */
  readonly pageSize?: number;
  /** Token of the page, from the page before. */
  readonly pageToken?: string;
  /** Most recent messages of history to return at most; absent is no limit, 0 is none. */
  readonly historyLength?: number;
  /** Only tasks whose status is at least as new, RFC 3339. */
  readonly statusTimestampAfter?: string;
  /** Whether to return artifacts. @default false */
  readonly includeArtifacts?: boolean;
}

/** One page of tasks (3.1.4). */
export interface ListTasksResponse {
  /** The tasks. */
  readonly tasks: readonly Task[];
  /** Token of the next page; empty on the last. */
  readonly nextPageToken: string;
  /** Tasks a page. */
  readonly pageSize?: number;
  /** Tasks in all. */
  readonly totalSize?: number;
}

/** Input of CancelTask (3.1.5). */
export interface CancelTaskRequest {
  /** The task. */
  readonly id: string;
  /** Free-form metadata. */
  readonly metadata?: JsonObject;
}

/** Input of SubscribeToTask (3.1.6). */
export interface SubscribeToTaskRequest {
  /** The task. */
  readonly id: string;
}

/** Input of GetTaskPushNotificationConfig and DeleteTaskPushNotificationConfig (3.1.8, 3.1.10). */
export interface TaskPushNotificationConfigRequest {
  /** The task. */
  readonly taskId: string;
  /** The configuration. */
  readonly id: string;
}

/** Input of ListTaskPushNotificationConfigs (3.1.9). */
export interface ListTaskPushNotificationConfigsRequest {
  /** The task. */
  readonly taskId: string;
  /** Configurations a page. */
  readonly pageSize?: number;
  /** Token of the page, from the page before. */
  readonly pageToken?: string;
}

/** Input of GetExtendedAgentCard (3.1.11): nothing beside the tenant. */
export type GetExtendedAgentCardRequest = Readonly<Record<string, never>>;

/** Schema of {@link ListTasksResponse}. */
export const listTasksResponseSchema: z.ZodMiniType<ListTasksResponse> = wireObject({
  tasks: z._default(z.array(taskSchema), () => []),
  nextPageToken: z._default(z.string(), ""),
  pageSize: optional(intSchema),
  totalSize: optional(intSchema),
});
