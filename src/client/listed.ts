import type { BindingAnswer } from "../binding/binding.ts";
import { addDeviations, type Deviation } from "../model/deviation.ts";
import type { ListTasksRequest, ListTasksResponse } from "../model/requests.ts";
import type { Task } from "../model/task.ts";
import { timeDifference } from "../util/clock.ts";
import { groupBy } from "../util/group.ts";

/** A task of a page, and what was odd about how it came. */
export interface Listed {
  /** The task, without what an empty list in it would say of it. */
  readonly task: Task;
  readonly deviations: readonly Deviation[];
}

/** The tasks of a page that were asked for, and all that was odd about it. */
export interface ListedPage {
  readonly tasks: readonly Listed[];
  readonly deviations: readonly Deviation[];
}

/** Sorts out what a page holds: each task once, none that the filters exclude, and to each what was odd about it. */
export function sortListed(
  { value, deviations }: BindingAnswer<ListTasksResponse>,
  request: ListTasksRequest,
): ListedPage {
  const byTask = groupBy(deviations, ({ path = "" }) => /\.tasks\[(\d+)\]/.exec(path)?.[1]);
  const odd: Deviation[] = [];
  const tasks = new Map<string, Listed>();
  for (const [at, task] of value.tasks.entries()) {
    const path = `$.tasks[${at}]`;
    const excludedBy = findExcluding(task, request);
    if (excludedBy) {
      const message = `found a task that ${excludedBy} excludes, wanted none; it is left out`;
      odd.push({ kind: "filter-ignored", path, message });
    } else if (tasks.has(task.id)) {
      odd.push({ kind: "duplicate-task", path, message: "found a task twice in one page, wanted it once" });
    } else {
      tasks.set(task.id, {
        task: withoutEmptyLists(task, request),
        deviations: byTask.get(String(at)) ?? [],
      });
    }
  }
  const all = addDeviations(addDeviations(Object.freeze([]), deviations), odd);
  return { tasks: [...tasks.values()], deviations: Object.freeze(all) };
}

/** The filter that a task does not meet; what a task does not say is no evidence. */
function findExcluding(
  { contextId, status }: Task,
  request: ListTasksRequest,
): keyof ListTasksRequest | undefined {
  if (request.contextId !== undefined && contextId !== undefined && contextId !== request.contextId)
    return "contextId";
  if (request.status !== undefined && status.state !== request.status) return "status";
  const age = timeDifference(status.timestamp, request.statusTimestampAfter);
  return age !== undefined && age < 0 ? "statusTimestampAfter" : undefined;
}

/** 3.1.4: what was not asked for is left out, and some serializers write an empty list for it. */
function withoutEmptyLists(task: Task, { includeArtifacts }: ListTasksRequest): Task {
  const { artifacts, ...rest } = task;
  return includeArtifacts !== true && artifacts?.length === 0 ? rest : task;
}
