import type { TaskStatusUpdateEvent } from "../model/events.ts";
import type { Observation, ObservationSource } from "../model/observation.ts";
import type { Task } from "../model/task.ts";

/** When and where something was seen. */
export interface Sighting {
  readonly source: ObservationSource;
  /** RFC 3339, by our clock. */
  readonly seenAt: string;
}

/** What a task, or an update of its status, shows of it. */
export function observe(seen: Task | TaskStatusUpdateEvent, sighting: Sighting): Observation {
  const { status, contextId } = seen;
  const history = "history" in seen ? seen.history : undefined;
  return Object.freeze({
    taskId: "taskId" in seen ? seen.taskId : seen.id,
    ...(contextId === undefined ? {} : { contextId }),
    state: status.state,
    ...(status.raw === undefined ? {} : { raw: status.raw }),
    ...(status.timestamp === undefined ? {} : { timestamp: status.timestamp }),
    ...(status.message === undefined ? {} : { statusMessageId: status.message.messageId }),
    ...(history === undefined ? {} : { historyLength: history.length }),
    ...sighting,
  });
}
