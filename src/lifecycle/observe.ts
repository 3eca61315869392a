import type { TaskStatusUpdateEvent } from "../model/events.ts";
import type { Observation, ObservationSource } from "../model/observation.ts";
import type { Part } from "../model/part.ts";
import { isInterruptedState } from "../model/states.ts";
import type { Task } from "../model/task.ts";
import { sha256HexOfText } from "../util/hash.ts";
import { canonicalJson } from "../util/json.ts";
import { cut } from "../util/redact.ts";

/** When and where something was seen. */
export interface Sighting {
  readonly source: ObservationSource;
  /** RFC 3339, by our clock. */
  readonly seenAt: string;
  /** Whether all of the history would have come along, so that its absence says that there is none. */
  readonly isFullHistory: boolean;
}

/** Longest state or time that is remembered, in characters: each is kept twenty times over. */
const maxText = 256;

/** What a task, or an update of its status, shows of it. */
export function observe(seen: Task | TaskStatusUpdateEvent, sighting: Sighting): Observation {
  const { status, contextId } = seen;
  const isSnapshot = !("taskId" in seen);
  const history = isSnapshot && sighting.isFullHistory ? ((seen as Task).history ?? []) : undefined;
  const newest = history?.at(-1)?.messageId;
  const question = isInterruptedState(status.state) ? hashOf(status.message?.parts ?? []) : undefined;
  return Object.freeze({
    taskId: "taskId" in seen ? seen.taskId : seen.id,
    ...(contextId === undefined ? {} : { contextId }),
    state: status.state,
    ...(status.raw === undefined ? {} : { raw: cut(status.raw, maxText) }),
    ...(status.timestamp === undefined ? {} : { timestamp: cut(status.timestamp, maxText) }),
    ...(status.message === undefined ? {} : { statusMessageId: status.message.messageId }),
    ...(question === undefined ? {} : { question }),
    isSnapshot,
    ...(history === undefined ? {} : { historyLength: history.length }),
    ...(newest === undefined ? {} : { newestMessageId: newest }),
    source: sighting.source,
    seenAt: sighting.seenAt,
  });
}

function hashOf(parts: readonly Part[]): string {
  try {
    return sha256HexOfText(canonicalJson(parts));
  } catch {
    // Half a surrogate pair has no canonical form; such a question is like no other.
    return sha256HexOfText(JSON.stringify(parts));
  }
}
