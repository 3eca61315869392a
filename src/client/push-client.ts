import type { TaskPushNotificationConfig } from "../model/push.ts";
import type {
  ListTaskPushNotificationConfigsRequest,
  TaskPushNotificationConfigRequest,
} from "../model/requests.ts";
import type { CallOptions } from "./call.ts";
import { type EntryContext, findEntry, findToLeave } from "./entry.ts";
import { createPushConfig, deletePushConfig, getPushConfig, listPushConfigs } from "./push.ts";
import type { PushConfigInput } from "./push-input.ts";
import type { PushConfigPage } from "./push-page.ts";

/** A webhook to be told of a task that is named with it. */
export interface CreatePushConfigRequest extends PushConfigInput {
  /** The task. */
  readonly taskId: string;
}

/** The operations of a client on push configurations (3.1.7 to 3.1.10). */
export abstract class PushClient {
  readonly #context: () => EntryContext;

  /** @internal */
  constructor(context: () => EntryContext) {
    this.#context = context;
  }

  /** Registers a webhook for a task (3.1.7), after a check of the card. Throws as `handle.pushConfigs.create` does. */
  async createTaskPushNotificationConfig(
    request: CreatePushConfigRequest,
    options: CallOptions = {},
  ): Promise<TaskPushNotificationConfig> {
    const { taskId, ...input } = request;
    const { session, entry, isChecked } = await this.#find(taskId, options);
    return createPushConfig(session, entry, input, { options, isChecked });
  }

  /** Reads a push configuration (3.1.8). Throws as `handle.pushConfigs.get` does. */
  async getTaskPushNotificationConfig(
    request: TaskPushNotificationConfigRequest,
    options: CallOptions = {},
  ): Promise<TaskPushNotificationConfig> {
    const { session, entry, isChecked } = await this.#find(request.taskId, options);
    return getPushConfig(session, entry, request.id, { options, isChecked });
  }

  /** Lists the push configurations of a task (3.1.9). Throws as `handle.pushConfigs.list` does. */
  async listTaskPushNotificationConfigs(
    request: ListTaskPushNotificationConfigsRequest,
    options: CallOptions = {},
  ): Promise<PushConfigPage> {
    const { taskId, ...page } = request;
    const { session, entry, isChecked } = await this.#find(taskId, options);
    return listPushConfigs(session, entry, { ...options, ...page }, isChecked);
  }

  /** Removes a push configuration (3.1.10). Depends on no card. Throws as `handle.pushConfigs.delete` does. */
  async deleteTaskPushNotificationConfig(
    request: TaskPushNotificationConfigRequest,
    options: CallOptions = {},
  ): Promise<void> {
    const context = this.#context();
    const entry = await findToLeave(context, request.taskId);
    await deletePushConfig(context.session, entry, request.id, options);
  }

  async #find(taskId: string, options: CallOptions) {
    if (typeof taskId !== "string" || taskId === "") throw new TypeError("taskId: wanted the id of a task");
    const context = this.#context();
    return { session: context.session, ...(await findEntry(context, taskId, options)) };
  }
}
