import { A2ALeaseError } from "../errors/base.ts";
import {
  MethodNotFoundError,
  PushNotificationNotSupportedError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "../errors/protocol.ts";
import { joinRequirements } from "../lease/requirements.ts";
import type { Operations } from "../model/operations.ts";
import type { TaskPushNotificationConfig } from "../model/push.ts";
import { isTransient } from "./backoff.ts";
import type { Call, CallOptions } from "./call.ts";
import { forgotten } from "./forgotten.ts";
import type { HandleEntry } from "./handle.ts";
import { callOnce } from "./pipeline.ts";
import { type PushConfigInput, preparePush } from "./push-input.ts";
import { createPushNote, forgetConfig } from "./push-note.ts";
import { createPushPage, type ListPushConfigsOptions, type PushConfigPage } from "./push-page.ts";
import { requirePush } from "./push-send.ts";
import type { Session } from "./session.ts";

type PushOperation =
  | "CreateTaskPushNotificationConfig"
  | "GetTaskPushNotificationConfig"
  | "ListTaskPushNotificationConfigs"
  | "DeleteTaskPushNotificationConfig";

/** What every operation on the push configurations of one task is done with. */
interface PushCall {
  readonly options: CallOptions;
  /** Whether the card was checked for this call a moment ago. */
  readonly isChecked?: boolean;
}

/** Registers a webhook for a task (3.1.7), after a check of the card. */
export async function createPushConfig(
  session: Session,
  entry: HandleEntry,
  input: PushConfigInput,
  { options, isChecked }: PushCall,
): Promise<TaskPushNotificationConfig> {
  const { holder, handle } = entry;
  const taskId = handle.id;
  const prepared = preparePush(input, session.options.random);
  const note = createPushNote(session, prepared, { pin: holder.pin, taskId });
  const call = callOf(entry, "CreateTaskPushNotificationConfig", { ...prepared.config, taskId }, options);
  try {
    return await callOnce(
      session,
      { ...call, ...(isChecked ? { isChecked } : {}), prepare: note.open },
      async ({ answer }) => {
        entry.tracked.note(answer.deviations);
        await note.replace();
        // What was sent is what counts; what the agent shows of it may leave the secrets out.
        return Object.freeze({ ...answer.value, ...prepared.config, taskId });
      },
    );
  } catch (error) {
    // An agent that took it all the same finds nobody who knows the secret: nothing it sends is believed.
    await note.drop();
    if (isBrokenPromise(error)) session.trust.demote(holder.pin, error);
    throw forgotten(handle.task, error);
  }
}

/** Reads one push configuration of a task (3.1.8), with a check of the card alongside. */
export async function getPushConfig(
  session: Session,
  entry: HandleEntry,
  id: string,
  { options, isChecked = false }: PushCall,
): Promise<TaskPushNotificationConfig> {
  const request = { taskId: entry.handle.id, id };
  const call = callOf(entry, "GetTaskPushNotificationConfig", request, options);
  // "Not found" speaks of the configuration here, so it is no surprise.
  return callOnce(session, { ...call, isChecked, knowsTask: false }, async ({ answer }) => {
    entry.tracked.note(answer.deviations);
    return answer.value;
  });
}

/** Reads a page of the push configurations of a task (3.1.9), with a check of the card alongside. */
export async function listPushConfigs(
  session: Session,
  entry: HandleEntry,
  { pageSize, pageToken, ...options }: ListPushConfigsOptions,
  isChecked = false,
): Promise<PushConfigPage> {
  const taskId = entry.handle.id;
  const read = async (token: string | undefined, isFirst: boolean) => {
    const request = {
      taskId,
      ...(pageSize === undefined ? {} : { pageSize }),
      ...(token === undefined ? {} : { pageToken: token }),
    };
    const call = callOf(entry, "ListTaskPushNotificationConfigs", request, options);
    try {
      return await callOnce(session, { ...call, isChecked: isChecked && isFirst }, async ({ answer }) => {
        entry.tracked.note(answer.deviations);
        return answer.value;
      });
    } catch (error) {
      throw forgotten(entry.handle.task, error);
    }
  };
  const { pages, emptyPages } = session.options.limits;
  return createPushPage(await read(pageToken, true), {
    read: (token) => read(token, false),
    maxPages: pages,
    maxEmptyPages: emptyPages,
  });
}

/** Removes a push configuration (3.1.10). Asks no card: leaving is always possible. One that is gone is no error. */
export async function deletePushConfig(
  session: Session,
  entry: HandleEntry,
  id: string,
  options: CallOptions,
): Promise<void> {
  const request = { taskId: entry.handle.id, id };
  const call = callOf(entry, "DeleteTaskPushNotificationConfig", request, options);
  try {
    await callOnce(session, call, async () => undefined);
  } catch (error) {
    // 3.1.10: deleting twice is as good as once, also where the agent says that there is nothing to delete.
    if (!(error instanceof TaskNotFoundError && call.knowsTask)) throw error;
  }
  await forgetConfig({ session, taskId: entry.handle.id }, id);
}

function callOf<O extends PushOperation>(
  { holder, tracked }: HandleEntry,
  operation: O,
  request: Operations[O]["request"],
  options: CallOptions,
): Call<O> {
  const knowsTask = tracked.last !== undefined;
  const isLeaving = operation === "DeleteTaskPushNotificationConfig";
  if (!isLeaving && !holder.ended) requirePush(operation, holder.pin);
  // So that a card that lost it is told as that.
  const asked = isLeaving ? {} : { pushNotifications: true };
  const requirements = joinRequirements(holder.requirements, asked);
  return { operation, request, holder, requirements, options, knowsTask };
}

/** Whether an agent whose card claims push notifications did not keep that promise. */
function isBrokenPromise(error: unknown): error is A2ALeaseError {
  if (!(error instanceof A2ALeaseError)) return false;
  const refusals = [PushNotificationNotSupportedError, UnsupportedOperationError, MethodNotFoundError];
  return isTransient(error) || refusals.some((type) => error instanceof type);
}
