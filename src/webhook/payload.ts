import { observe } from "../lifecycle/observe.ts";
import type { Deviation } from "../model/deviation.ts";
import { type StreamResponse, streamResponseSchema, type TaskStatusUpdateEvent } from "../model/events.ts";
import { type DocumentIssue, readBySchema } from "../model/issues.ts";
import type { Observation } from "../model/observation.ts";
import type { PushUpdate } from "../model/push-update.ts";
import type { Task } from "../model/task.ts";
import { isRecord } from "../util/freeze.ts";
import { holdsSecret, strikeJson } from "../util/strike.ts";

/** A notification as it was understood. */
export interface ReadPush {
  readonly event: PushUpdate["event"];
  /** The task that it names; a message may name none. */
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
  /** What it shows of the task's status, for a task or a status update. */
  readonly observation: Observation | undefined;
  readonly deviations: readonly Deviation[];
}

/** A notification, or all that keeps it from being understood. */
export type PushReading =
  | { readonly ok: true; readonly push: ReadPush }
  | { readonly ok: false; readonly issues: readonly DocumentIssue[] };

/** What a notification is read with. */
export interface ReadPushOptions {
  /** When it came, RFC 3339. */
  readonly seenAt: string;
  /** What it was verified by. */
  readonly secrets: readonly string[];
}

/** Longest id, state or time that is taken, in characters. */
const maxText = 2048;

const members = ["task", "message", "statusUpdate", "artifactUpdate"] as const;

/** Kinds of A2A 0.3, and which member of 1.0 each of them is. */
const olderKinds: ReadonlyMap<unknown, (typeof members)[number]> = new Map([
  ["task", "task"],
  ["message", "message"],
  ["status-update", "statusUpdate"],
  ["artifact-update", "artifactUpdate"],
] as const);

/**
 * Reads what was pushed (4.3.3): the form of a stream's event. The bare task or event that agents of 0.x push is taken
 * too, as a deviation: only whose it is and the state are read, and the content comes from the task itself.
 */
export function readPush(json: unknown, { seenAt, secrets }: ReadPushOptions): PushReading {
  const older = findOlder(json);
  const reading = readBySchema(streamResponseSchema, older ? { [older]: json } : json);
  if (!reading.ok) return { ok: false, issues: strikeJson(reading.issues, secrets) };
  const deviations: Deviation[] = [];
  if (older) {
    const message = `found the form of A2A 0.x, wanted the member ${older} (4.3.3)`;
    deviations.push({ kind: "older-payload", message, path: "$" });
  }
  const push = understand(reading.value, seenAt, deviations);
  const { taskId, contextId, observation } = push;
  // All of it is kept, twenty times over, and none of it is content.
  const { raw, timestamp, message: said } = shownBy(reading.value)?.status ?? {};
  const kept = [taskId, contextId, raw, timestamp, said?.messageId, observation];
  const isTooLong = kept.some((value) => typeof value === "string" && value.length > maxText);
  const found = isTooLong
    ? `found an id, a state or a time of more than ${maxText} characters, wanted a shorter one`
    : "found the secret of the notification in an id, a state or a time, wanted none";
  if (isTooLong || holdsSecret(kept, secrets)) return { ok: false, issues: [{ path: "$", message: found }] };
  return { ok: true, push };
}

/** What shows a status: a task, or an update of it. */
function shownBy(event: StreamResponse): Task | TaskStatusUpdateEvent | undefined {
  return "task" in event ? event.task : "statusUpdate" in event ? event.statusUpdate : undefined;
}

function understand(event: StreamResponse, seenAt: string, deviations: Deviation[]): ReadPush {
  const name = members.find((member) => member in event) ?? "message";
  const shown = shownBy(event);
  if (shown) {
    const { state, raw } = shown.status;
    if (raw !== undefined && state !== "unknown") {
      deviations.push({ kind: "legacy-state", message: `found ${raw.slice(0, 80)}, wanted ${state}` });
    }
    const observation = observe(shown, { source: "push", isFullHistory: false, seenAt });
    const { taskId, contextId } = observation;
    return { event: name, taskId, contextId, observation, deviations };
  }
  const place = "message" in event ? event.message : "artifactUpdate" in event ? event.artifactUpdate : {};
  const { taskId, contextId } = place as { readonly taskId?: string; readonly contextId?: string };
  return { event: name, taskId, contextId, observation: undefined, deviations };
}

function findOlder(json: unknown): (typeof members)[number] | undefined {
  if (!isRecord(json) || members.some((member) => isRecord(json[member]) && member !== "message"))
    return undefined;
  // A message of 1.0 stands in a member of that name, and a status of 0.3 has one of that name too, deeper down.
  if (isRecord(json.message)) return undefined;
  const byKind = olderKinds.get(json.kind);
  if (byKind) return byKind;
  return typeof json.id === "string" && isRecord(json.status) ? "task" : undefined;
}
