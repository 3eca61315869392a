import type { InboxRecord } from "../model/push-record.ts";

const none: readonly never[] = Object.freeze([]);

/** The record of what was pushed of a task, before anything was. */
export function emptyInbox(cardUrl: string, principal: string, taskId: string): InboxRecord {
  return Object.freeze({
    kind: "inbox",
    schema: 1,
    cardUrl,
    principal,
    taskId,
    configs: none,
    observations: none,
    hashes: none,
    count: 0,
    broken: none,
    updatedAt: "",
  });
}
