import type { Task } from "../model/task.ts";
import { parseTime } from "../util/clock.ts";
import { answer, type Reply } from "./answers.ts";
import { type TaskRecord, trimHistory } from "./task-record.ts";

const defaultPageSize = 50;
const largestPageSize = 100;

/** Answers ListTasks over tasks that are in order already (3.1.4). */
export function listTasks(records: readonly TaskRecord[], params: Readonly<Record<string, unknown>>): Reply {
  const { contextId, status, pageSize = defaultPageSize, pageToken = "", historyLength } = params;
  if (
    typeof pageSize !== "number" ||
    !Number.isInteger(pageSize) ||
    pageSize < 1 ||
    pageSize > largestPageSize
  ) {
    return answer.error(-32602, `pageSize must be from 1 to ${largestPageSize}.`);
  }
  const first = pageToken === "" ? 0 : Number(pageToken);
  if (!Number.isInteger(first) || first < 0)
    return answer.error(-32602, "pageToken is none of this agent's.");
  const after =
    typeof params.statusTimestampAfter === "string" ? parseTime(params.statusTimestampAfter) : undefined;
  const found = records
    .map(({ task }) => task)
    .filter((task) => !contextId || task.contextId === contextId)
    .filter((task) => !status || task.status.state === status)
    .filter((task) => after === undefined || (parseTime(task.status.timestamp ?? "") ?? -1) >= after);
  const next = first + pageSize;
  return answer.result({
    tasks: found.slice(first, next).map((task) => {
      const shown = trimHistory(task, typeof historyLength === "number" ? historyLength : undefined);
      return params.includeArtifacts === true ? { ...shown, artifacts: shown.artifacts ?? [] } : bare(shown);
    }),
    nextPageToken: next < found.length ? String(next) : "",
    pageSize,
    totalSize: found.length,
  });
}

function bare(task: Task): Task {
  const { artifacts: _artifacts, ...rest } = task;
  return rest;
}
