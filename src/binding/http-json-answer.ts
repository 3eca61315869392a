import type { ResponseIssue } from "../errors/transport.ts";
import type { OperationName, Operations } from "../model/operations.ts";
import { isRecord } from "../util/freeze.ts";
import { isAnsweredWithNothing } from "./answer.ts";
import { type BodyReading, readResponse } from "./body.ts";
import { isSegment } from "./http-json-route.ts";
import { type RemoteFailure, readRemoteFailure } from "./remote-failure.ts";
import { findStatus } from "./rpc-status.ts";

/** What a body of HTTP+JSON under a status of success says, or one event of a stream. */
export type HttpJsonReading<T> =
  | { readonly kind: "error"; readonly failure: RemoteFailure }
  | { readonly kind: "answer"; readonly reading: BodyReading<T> };

/** Members by which an answer is known; of those that may be empty, none at all. */
const members: { readonly [O in OperationName]: readonly string[] } = {
  SendMessage: ["task", "message"],
  SendStreamingMessage: ["task", "message", "statusUpdate", "artifactUpdate"],
  GetTask: ["id", "status", "task"],
  ListTasks: ["tasks"],
  CancelTask: ["id", "status", "task"],
  SubscribeToTask: ["task", "message", "statusUpdate", "artifactUpdate"],
  CreateTaskPushNotificationConfig: ["url"],
  GetTaskPushNotificationConfig: ["url"],
  ListTaskPushNotificationConfigs: ["configs"],
  DeleteTaskPushNotificationConfig: [],
  GetExtendedAgentCard: ["name", "supportedInterfaces"],
};

/**
 * Reads the bare answer of HTTP+JSON (11.4, 11.7). An error counts wherever it comes, under a status of success too,
 * since half of the operations could be answered with an object that says nothing.
 */
export function readHttpJson<O extends OperationName>(
  operation: O,
  wire: unknown,
): HttpJsonReading<Operations[O]["response"]> {
  const failure = failureIn(operation, wire);
  if (failure) return { kind: "error", failure };
  if (isRecord(wire) && Object.hasOwn(wire, "jsonrpc")) {
    const issue = { path: "$.jsonrpc", message: "found an answer of JSON-RPC, wanted one of HTTP+JSON" };
    return { kind: "answer", reading: { ok: false, issues: [issue] } };
  }
  const isNothing = isAnsweredWithNothing(operation) && wire === undefined;
  const reading = readResponse(operation, isNothing ? {} : wire, "$");
  const issues = reading.ok ? findLostTasks(reading.value) : [];
  return { kind: "answer", reading: issues.length > 0 ? { ok: false, issues } : reading };
}

/** Tasks that no later call could name, since their ids can't stand in a path (11.3). */
function findLostTasks(value: unknown): readonly ResponseIssue[] {
  const { task, statusUpdate, artifactUpdate, tasks } = isRecord(value) ? value : {};
  const listed: readonly unknown[] = Array.isArray(tasks) ? tasks : [];
  const places: readonly (readonly [path: string, id: unknown])[] = [
    ["$.task.id", isRecord(task) ? task.id : undefined],
    ["$.statusUpdate.taskId", isRecord(statusUpdate) ? statusUpdate.taskId : undefined],
    ["$.artifactUpdate.taskId", isRecord(artifactUpdate) ? artifactUpdate.taskId : undefined],
    ...listed.map((item, at) => [`$.tasks[${at}].id`, isRecord(item) ? item.id : undefined] as const),
  ];
  return places
    .filter(([, id]) => typeof id === "string" && !isSegment(id))
    .map(([path]) => ({
      path,
      message: "found an id that can't stand in the path of a URL, wanted one that can",
    }));
}

function failureIn(operation: OperationName, wire: unknown): RemoteFailure | undefined {
  if (!isRecord(wire) || members[operation].some((name) => isSet(wire, name))) return undefined;
  const status = findStatus(wire);
  if (status) return status;
  return wire.error === undefined || wire.error === null ? undefined : readRemoteFailure(wire.error);
}

/** A `google.rpc.Status` has a message and a status too, and there they are texts. */
function isSet(wire: Record<string, unknown>, name: string): boolean {
  const value = Object.hasOwn(wire, name) ? wire[name] : undefined;
  const isOfStatus = (name === "message" || name === "status") && typeof value === "string";
  return value !== undefined && value !== null && !isOfStatus;
}

/** An issue in one line. */
export function issueText({ path, message }: ResponseIssue): string {
  return `${path}: ${message}`;
}
