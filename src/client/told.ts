import { isPrefix } from "../lifecycle/artifacts.ts";
import { isReplay } from "../lifecycle/memory.ts";
import type { Artifact } from "../model/artifact.ts";
import type { StreamResponse } from "../model/events.ts";
import type { Message } from "../model/message.ts";
import type { Observation } from "../model/observation.ts";
import type { Part } from "../model/part.ts";
import type { Task } from "../model/task.ts";
import type { TaskUpdate } from "../model/update.ts";
import type { TrackedTask } from "./track.ts";

/** What a follower was told so far, so that nothing is told twice and nothing is left out. */
export interface Told {
  /** The updates that an event of a stream amounts to. The event is folded in already. */
  event(event: StreamResponse): TaskUpdate[];
  /** The updates that are missing to the task as it is now, after a gap or between two polls. */
  missing(isAfterCut: boolean): TaskUpdate[];
}

/** Messages that are remembered as told, the newest ones. */
const maxMessages = 1_000;

/** Starts with nothing told. */
export function createTold(tracked: TrackedTask): Told {
  const parts = new Map<string, Part[]>();
  /** Ids of the agent's messages that were told, by themselves or with a status. */
  const messages = new Set<string>();
  /** The newest message of the history at the beginning. */
  let lastBefore: string | undefined;
  let status: Observation | undefined;
  let isBegun = false;

  /** The task as it is when the update is read; making it for each of a million pieces would cost a million copies. */
  function update<K extends TaskUpdate["kind"]>(kind: K, members: object = {}): TaskUpdate {
    const made = { kind, ...members };
    Object.defineProperty(made, "task", { enumerable: true, get: () => taskOf(tracked) });
    return made as unknown as TaskUpdate;
  }

  function begin(artifacts: readonly Artifact[] = tracked.artifacts): TaskUpdate[] {
    isBegun = true;
    status = tracked.last;
    for (const artifact of artifacts) parts.set(artifact.artifactId, [...artifact.parts]);
    const { history = [], status: now } = taskOf(tracked);
    lastBefore = history.at(-1)?.messageId;
    note(now.message);
    return [update("snapshot")];
  }

  function note(message: Message | undefined): void {
    if (!message) return;
    messages.add(message.messageId);
    const [oldest] = messages.size > maxMessages ? messages.keys() : [];
    if (oldest !== undefined) messages.delete(oldest);
  }

  /** What the agent said since the beginning and was not told, as far as the task's history holds it (3.7). */
  function missingMessages(): TaskUpdate[] {
    const { history = [], status: now } = taskOf(tracked);
    const before = history.findLastIndex(({ messageId }) => messageId === lastBefore);
    // A history that shows nothing of the beginning may reach back to turns before it.
    const from = before >= 0 ? before : history.findLastIndex(({ role }) => role === "ROLE_USER");
    const missed = history
      .slice(from + 1)
      .filter(({ role, messageId }) => role === "ROLE_AGENT" && messageId !== now.message?.messageId)
      .filter(({ messageId }) => !messages.has(messageId));
    for (const message of missed) note(message);
    return missed.map((message) => update("message", { message }));
  }

  function missing(isAfterCut: boolean): TaskUpdate[] {
    if (!isBegun) return begin();
    const found = [...missingMessages(), ...tracked.artifacts.flatMap(missingOf)];
    const { last } = tracked;
    if (last && !(status && isReplay(status, last))) {
      status = last;
      note(taskOf(tracked).status.message);
      found.push(update("status", { status: taskOf(tracked).status }));
    }
    return found.length > 0 && isAfterCut ? [update("gap"), ...found] : found;
  }

  function missingOf(artifact: Artifact): TaskUpdate[] {
    const told = parts.get(artifact.artifactId);
    if (told && told.length === artifact.parts.length && isPrefix(told, artifact.parts)) return [];
    parts.set(artifact.artifactId, [...artifact.parts]);
    if (!told) return [update("artifact", { artifact, append: false, lastChunk: false })];
    if (!isPrefix(told, artifact.parts)) return [update("artifact-replaced", { artifact })];
    const rest = Object.freeze({ ...artifact, parts: Object.freeze(artifact.parts.slice(told.length)) });
    return [update("artifact", { artifact: rest, append: true, lastChunk: false })];
  }

  function event(item: StreamResponse): TaskUpdate[] {
    if ("message" in item) {
      const { message } = item;
      const begun = isBegun ? [] : begin();
      if (messages.has(message.messageId)) return begun;
      note(message);
      return [...begun, update("message", { message })];
    }
    // The stream goes on from what it began with, whatever somebody else has seen meanwhile.
    if ("task" in item && !isBegun) return begin(item.task.artifacts);
    if ("task" in item || !isBegun) return missing(false);
    if ("statusUpdate" in item) {
      const seen = tracked.observe(item.statusUpdate, "stream");
      if (status && isReplay(status, seen)) return [];
      status = seen;
      note(item.statusUpdate.status.message);
      return [update("status", { status: item.statusUpdate.status })];
    }
    const { artifact, append = false, lastChunk = false } = item.artifactUpdate;
    const told = parts.get(artifact.artifactId);
    if (told && append) for (const part of artifact.parts) told.push(part);
    else parts.set(artifact.artifactId, [...artifact.parts]);
    return [update("artifact", { artifact, append: append && told !== undefined, lastChunk })];
  }

  return { event, missing };
}

/** The task as it was folded so far. It is there once anything was told. */
function taskOf(tracked: TrackedTask): Task {
  const { task, taskId } = tracked.record;
  return task ?? { id: taskId, status: { state: "TASK_STATE_UNSPECIFIED" } };
}
