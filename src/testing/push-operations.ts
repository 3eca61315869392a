import { isRecord } from "../util/freeze.ts";
import { answer, type Reply } from "./answers.ts";
import type { HonestCall, OwnReply } from "./honest-call.ts";
import { readPaging, takePage } from "./paging.ts";
import type { TaskDesk } from "./task-desk.ts";
import type { KeptPushConfig, TaskRecord } from "./task-record.ts";

const defaultPageSize = 50;

/** What is wrong with a push configuration; `undefined` when nothing is. */
export function problemOfConfig(given: unknown): string | undefined {
  if (!isRecord(given)) return "A push configuration is required.";
  const { url, token, authentication } = given;
  if (typeof url !== "string" || !/^https?:/i.test(url) || !URL.canParse(url)) {
    return "url must be an absolute URL.";
  }
  if (token !== undefined && typeof token !== "string") return "token must be a text.";
  if (authentication === undefined) return undefined;
  const isScheme = isRecord(authentication) && typeof authentication.scheme === "string";
  return isScheme ? undefined : "authentication.scheme is required.";
}

/** Keeps a configuration that nothing is wrong with; one with the same id is replaced. */
export function keepConfig(desk: TaskDesk, record: TaskRecord, given: object): KeptPushConfig {
  const { id, ...rest } = given as Partial<KeptPushConfig["config"]>;
  const config = {
    ...rest,
    id: id || desk.nextId("push-config"),
    taskId: record.task.id,
  } as KeptPushConfig["config"];
  const kept = Object.freeze({ config: Object.freeze(config), number: desk.nextNumber() });
  record.pushConfigs.set(config.id, kept);
  return kept;
}

/** Carries out an operation on push configurations (3.1.7 to 3.1.10); `undefined` for every other operation. */
export function pushOperation(desk: TaskDesk, call: HonestCall): Reply | OwnReply | undefined {
  const { operation, params } = call;
  if (!/^(Create|Get|List|Delete)TaskPushNotificationConfigs?$/.test(operation)) return undefined;
  if (call.capabilities.pushNotifications !== true) {
    return answer.error(-32003, "Push notifications are not supported by the agent.");
  }
  const record = desk.find(String(params.taskId));
  if (!record) return answer.error(-32001, `Task not found: ${params.taskId}`);
  const id = String(params.id);
  switch (operation) {
    case "CreateTaskPushNotificationConfig": {
      const problem = problemOfConfig(params);
      if (problem) return answer.error(-32602, problem);
      return answer.result(keepConfig(desk, record, params).config);
    }
    case "GetTaskPushNotificationConfig": {
      const kept = record.pushConfigs.get(id);
      return kept
        ? answer.result(kept.config)
        : answer.error(-32001, `Push configuration not found: ${params.id}`);
    }
    case "ListTaskPushNotificationConfigs": {
      // Here the page size is no optional member of the proto, so that 0 is what an unset one reads as.
      const paging = readPaging({ ...params, pageSize: params.pageSize || undefined }, defaultPageSize);
      if (typeof paging === "string") return answer.error(-32602, paging);
      const all = [...record.pushConfigs.values()].sort((a, b) => a.number - b.number);
      const { items, nextPageToken } = takePage(all, ({ number }) => [-number], paging);
      return answer.result({ configs: items.map(({ config }) => config), nextPageToken });
    }
    default:
      // One that is gone already is gone: deleting is idempotent (3.1.10).
      record.pushConfigs.delete(id);
      return { reply: "deleted", form: call.deleteAnswer };
  }
}
