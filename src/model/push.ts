import * as z from "zod/mini";
import { optional, wireObject } from "./schema.ts";

/** How an agent authenticates when it calls a webhook (4.3.2). */
export interface AuthenticationInfo {
  /** HTTP authentication scheme, `"Bearer"`. */
  readonly scheme: string;
  /** The credentials. A secret. */
  readonly credentials?: string;
}

/** Where and how an agent sends push notifications of a task (4.3.1). */
export interface TaskPushNotificationConfig {
  /** Routing identifier, from the chosen interface. */
  readonly tenant?: string;
  /** Identifier of this configuration. */
  readonly id?: string;
  /** The task. Left out when the configuration travels inside a send. */
  readonly taskId?: string;
  /** URL of the webhook. */
  readonly url: string;
  /** Token that comes back with each notification. A secret. */
  readonly token?: string;
  /** How the agent authenticates to the webhook. */
  readonly authentication?: AuthenticationInfo;
}

/** One page of push configurations (3.1.9). */
export interface ListTaskPushNotificationConfigsResponse {
  /** The configurations. */
  readonly configs: readonly TaskPushNotificationConfig[];
  /** Token of the next page; absent or empty on the last. */
  readonly nextPageToken?: string;
}

/** Schema of {@link TaskPushNotificationConfig}. */
export const pushConfigSchema: z.ZodMiniType<TaskPushNotificationConfig> = wireObject({
  tenant: optional(z.string()),
  id: optional(z.string()),
  taskId: optional(z.string()),
  url: z.string(),
  token: optional(z.string()),
  authentication: optional(wireObject({ scheme: z.string(), credentials: optional(z.string()) })),
});

/** Schema of {@link ListTaskPushNotificationConfigsResponse}. */
export const listPushConfigsResponseSchema: z.ZodMiniType<ListTaskPushNotificationConfigsResponse> =
  wireObject({
    configs: z._default(z.array(pushConfigSchema), () => []),
    nextPageToken: optional(z.string()),
  });
