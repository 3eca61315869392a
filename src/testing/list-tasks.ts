import { taskStates } from "../model/states.ts";
import type { Task } from "../model/task.ts";
import { parseTime } from "../util/clock.ts";
import { answer, type Reply } from "./answers.ts";
import { comparePlaces, readPaging, takePage } from "./paging.ts";
import { type TaskRecord, trimHistory } from "./task-record.ts";

const defaultPageSize = 50;

/** Answers ListTasks (3.1.4). */
export function listTasks(records: readonly TaskRecord[], params: Readonly<Record<string, unknown>>): Reply {
  const paging = readPaging(params, defaultPageSize);
  if (typeof paging === "string") return answer.error(-32602, paging);
  const problem = findProblem(params);
  if (problem) return answer.error(-32602, problem);
  const { contextId, status, historyLength, statusTimestampAfter = "", includeArtifacts } = params;
  const after = parseTime(String(statusTimestampAfter));
  const found = records
    .filter(({ task }) => !contextId || task.contextId === contextId)
    .filter(({ task }) => isAny(status) || task.status.state === status)
    .filter(({ task }) => after === undefined || timeOf(task) >= after)
    .sort((a, b) => comparePlaces(placeOf(b), placeOf(a)));
  const { items, nextPageToken } = takePage(found, placeOf, paging);
  return answer.result({
    tasks: items.map(({ task }) => {
      const shown = trimHistory(task, typeof historyLength === "number" ? historyLength : undefined);
      return includeArtifacts === true ? { ...shown, artifacts: shown.artifacts ?? [] } : bare(shown);
    }),
    nextPageToken,
    pageSize: paging.size,
    totalSize: found.length,
  });
}

/** The newest status comes first, and of two with one time the one that changed last. */
function placeOf({ task, changed }: TaskRecord): readonly number[] {
  return [timeOf(task), changed];
}

/** A status without a time is older than any other. */
function timeOf({ status }: Task): number {
  return parseTime(status.timestamp ?? "") ?? -1;
}

/** The enum's zero is what an unset status reads as. */
function isAny(status: unknown): boolean {
  return status === undefined || status === "" || status === "TASK_STATE_UNSPECIFIED";
}

function findProblem(params: Readonly<Record<string, unknown>>): string | undefined {
  const { status, historyLength = 0, statusTimestampAfter, includeArtifacts = false } = params;
  if (!isAny(status) && !(taskStates as readonly unknown[]).includes(status))
    return "status is no task state.";
  if (typeof historyLength !== "number" || !Number.isInteger(historyLength) || historyLength < 0) {
    return "historyLength must be a non-negative integer.";
  }
  if (typeof includeArtifacts !== "boolean") return "includeArtifacts must be true or false.";
  const isTime = typeof statusTimestampAfter === "string" && parseTime(statusTimestampAfter) !== undefined;
  return statusTimestampAfter === undefined || isTime
    ? undefined
    : "statusTimestampAfter must be a timestamp.";
}

function bare(task: Task): Task {
  const { artifacts: _artifacts, ...rest } = task;
  return rest;
}
