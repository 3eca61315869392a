import type { AgentCard } from "./card.ts";
import type { SendMessageResponse, StreamResponse } from "./events.ts";
import type { ListTaskPushNotificationConfigsResponse, TaskPushNotificationConfig } from "./push.ts";
import type {
  CancelTaskRequest,
  GetExtendedAgentCardRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageRequest,
  SubscribeToTaskRequest,
  TaskPushNotificationConfigRequest,
} from "./requests.ts";
import type { Task } from "./task.ts";

/** Request and answer of each operation of A2A 1.0, by its name in the spec (5.3). */
export interface Operations {
  /** 3.1.1 */
  SendMessage: { request: SendMessageRequest; response: SendMessageResponse };
  /** 3.1.2; `response` is one event of the stream. */
  SendStreamingMessage: { request: SendMessageRequest; response: StreamResponse };
  /** 3.1.3 */
  GetTask: { request: GetTaskRequest; response: Task };
  /** 3.1.4 */
  ListTasks: { request: ListTasksRequest; response: ListTasksResponse };
  /** 3.1.5 */
  CancelTask: { request: CancelTaskRequest; response: Task };
  /** 3.1.6; `response` is one event of the stream. */
  SubscribeToTask: { request: SubscribeToTaskRequest; response: StreamResponse };
  /** 3.1.7 */
  CreateTaskPushNotificationConfig: {
    request: TaskPushNotificationConfig;
    response: TaskPushNotificationConfig;
  };
  /** 3.1.8 */
  GetTaskPushNotificationConfig: {
    request: TaskPushNotificationConfigRequest;
    response: TaskPushNotificationConfig;
  };
  /** 3.1.9 */
  ListTaskPushNotificationConfigs: {
    request: ListTaskPushNotificationConfigsRequest;
    response: ListTaskPushNotificationConfigsResponse;
  };
  /** 3.1.10 */
  DeleteTaskPushNotificationConfig: { request: TaskPushNotificationConfigRequest; response: null };
  /** 3.1.11 */
  GetExtendedAgentCard: { request: GetExtendedAgentCardRequest; response: AgentCard };
}

/** Name of an operation as the spec has it (5.3). */
export type OperationName = keyof Operations;

/** A capability that an agent declares on its card. */
export type CapabilityName = "streaming" | "pushNotifications" | "extendedAgentCard";

/** When the card is checked for an operation: before it is sent, alongside it, or not at all. */
export type CardCheck = "before" | "alongside" | "none";

/** What is fixed about one operation. */
export interface OperationFacts {
  /** When the card is checked. */
  readonly check: CardCheck;
  /** Whether saying it twice does no harm; where it is not, a lost answer is an unknown outcome. */
  readonly repeatable: boolean;
  /** Whether the answer is a stream of events. */
  readonly streams: boolean;
  /** Capability that the card must declare, else the call fails without a request (3.3.4). */
  readonly capability?: CapabilityName;
}

const facts = (
  check: CardCheck,
  kind: "repeatable" | "once",
  capability?: CapabilityName,
  streams = false,
): OperationFacts =>
  Object.freeze({ check, repeatable: kind === "repeatable", streams, ...(capability ? { capability } : {}) });

/** The eleven operations. Leaving an agent depends on nothing, so cancelling and deleting are never checked. */
export const operationFacts: Readonly<Record<OperationName, OperationFacts>> = Object.freeze({
  SendMessage: facts("before", "once"),
  SendStreamingMessage: facts("before", "once", "streaming", true),
  GetTask: facts("alongside", "repeatable"),
  ListTasks: facts("alongside", "repeatable"),
  CancelTask: facts("none", "repeatable"),
  SubscribeToTask: facts("alongside", "repeatable", "streaming", true),
  // The client makes the id, so that saying it twice makes one configuration.
  CreateTaskPushNotificationConfig: facts("before", "repeatable", "pushNotifications"),
  GetTaskPushNotificationConfig: facts("alongside", "repeatable", "pushNotifications"),
  ListTaskPushNotificationConfigs: facts("alongside", "repeatable", "pushNotifications"),
  DeleteTaskPushNotificationConfig: facts("none", "repeatable"),
  GetExtendedAgentCard: facts("none", "repeatable", "extendedAgentCard"),
});
