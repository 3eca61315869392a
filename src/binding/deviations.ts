import { type Deviation, maxDeviations } from "../model/deviation.ts";
import type { OperationName } from "../model/operations.ts";
import { isEmptyPart } from "../model/part.ts";
import { readTaskState } from "../model/states.ts";
import { isRecord } from "../util/freeze.ts";
import { jsonPath } from "../util/json.ts";
import { cut } from "../util/redact.ts";

/** Where something stands: a JSON path, and the value there as it came. */
interface Place {
  readonly path: string;
  readonly value: unknown;
}

type Finder = (place: Place) => Iterable<Deviation>;

const roleNames: ReadonlySet<unknown> = new Set(["ROLE_USER", "ROLE_AGENT", "ROLE_UNSPECIFIED"]);
const legacyRoles: ReadonlySet<unknown> = new Set(["user", "agent", 1, 2]);

/**
 * What breaks the spec in an answer that could be read all the same.
 *
 * @param wire the answer as it came, already found to be readable.
 * @param path JSON path of the answer.
 */
export function findDeviations(operation: OperationName, wire: unknown, path: string): readonly Deviation[] {
  const found: Deviation[] = [];
  for (const deviation of finders[operation]?.({ path, value: wire }) ?? []) {
    found.push(deviation);
    if (found.length >= maxDeviations) break;
  }
  return found;
}

function* inTask(task: Place): Iterable<Deviation> {
  yield* inKind(task);
  yield* inStatus(member(task, "status"));
  for (const message of items(member(task, "history"))) yield* inMessage(message);
  for (const artifact of items(member(task, "artifacts"))) yield* inParts(artifact);
}

function* inParts(holder: Place): Iterable<Deviation> {
  for (const { path, value } of items(member(holder, "parts"))) {
    if (!isEmptyPart(value)) continue;
    yield {
      kind: "empty-part",
      path,
      message: "found a part without content, wanted one; read as data: null",
    };
  }
}

function* inStatus(status: Place): Iterable<Deviation> {
  const place = member(status, "state");
  const { state, raw } = readTaskState(place.value);
  if (state === "TASK_STATE_UNSPECIFIED" && raw === undefined) {
    yield { kind: "missing-state", path: place.path, message: "found no state, wanted one" };
  } else if (raw !== undefined) {
    const kind = state === "unknown" ? "unknown-state" : "legacy-state";
    const wanted = state === "unknown" ? "a state of A2A 1.0" : state;
    yield { kind, path: place.path, message: `found ${cut(raw, 80)}, wanted ${wanted}` };
  }
  const message = member(status, "message");
  if (isRecord(message.value)) yield* inMessage(message);
}

function* inMessage(message: Place): Iterable<Deviation> {
  yield* inKind(message);
  yield* inParts(message);
  const role = member(message, "role");
  if (roleNames.has(role.value)) return;
  const kind = legacyRoles.has(role.value) ? "legacy-role" : "unknown-role";
  const found = cut(String(role.value), 80);
  yield { kind, path: role.path, message: `found ${found}, wanted ROLE_USER or ROLE_AGENT` };
}

function* inEvent(event: Place): Iterable<Deviation> {
  for (const name of ["statusUpdate", "artifactUpdate"]) {
    const update = member(event, name);
    if (!isRecord(update.value)) continue;
    const context = member(update, "contextId");
    if (typeof context.value !== "string") {
      yield { kind: "missing-context-id", path: context.path, message: "found no contextId, wanted one" };
    }
    if (name === "artifactUpdate") yield* inParts(member(update, "artifact"));
    if (name === "statusUpdate") yield* inStatus(member(update, "status"));
  }
  yield* inReply(event);
}

function* inReply(reply: Place): Iterable<Deviation> {
  const task = member(reply, "task");
  const message = member(reply, "message");
  if (isRecord(task.value)) yield* inTask(task);
  if (isRecord(message.value)) yield* inMessage(message);
}

function* inTaskList(list: Place): Iterable<Deviation> {
  const tasks = member(list, "tasks");
  if (!Array.isArray(tasks.value)) {
    yield { kind: "missing-list", path: tasks.path, message: "found no tasks, wanted an array" };
  }
  for (const task of items(tasks)) yield* inTask(task);
}

function* inKind(place: Place): Iterable<Deviation> {
  const { path, value } = member(place, "kind");
  if (typeof value !== "string") return;
  yield { kind: "legacy-kind", path, message: `found the member kind of A2A 0.x, ${cut(value, 80)}` };
}

function* inNothing({ path, value }: Place): Iterable<Deviation> {
  if (value === undefined) yield { kind: "missing-result", path, message: "found no result, wanted one" };
}

const finders: Readonly<Partial<Record<OperationName, Finder>>> = Object.freeze({
  SendMessage: inReply,
  SendStreamingMessage: inEvent,
  SubscribeToTask: inEvent,
  GetTask: inTask,
  CancelTask: inTask,
  ListTasks: inTaskList,
  DeleteTaskPushNotificationConfig: inNothing,
});

function member(place: Place, name: string): Place {
  const value = isRecord(place.value) && Object.hasOwn(place.value, name) ? place.value[name] : undefined;
  return { path: place.path + jsonPath([name]).slice(1), value };
}

function items(place: Place): readonly Place[] {
  if (!Array.isArray(place.value)) return [];
  return place.value.map((value, index) => ({ path: `${place.path}[${index}]`, value }));
}
