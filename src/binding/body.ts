import * as z from "zod/mini";
import { MalformedResponseError } from "../errors/transport.ts";
import { agentCardSchema } from "../model/card.ts";
import type { Deviation } from "../model/deviation.ts";
import { sendMessageResponseSchema, streamResponseSchema } from "../model/events.ts";
import { type DocumentIssue, readBySchema } from "../model/issues.ts";
import type { OperationName, Operations } from "../model/operations.ts";
import { listPushConfigsResponseSchema, pushConfigSchema } from "../model/push.ts";
import { listTasksResponseSchema } from "../model/requests.ts";
import type { JsonObject } from "../model/schema.ts";
import { taskSchema } from "../model/task.ts";
import { deepFreeze, defined, isRecord } from "../util/freeze.ts";
import { cut } from "../util/redact.ts";
import type { BindingAnswer } from "./binding.ts";
import { findDeviations } from "./deviations.ts";
import { writePushConfig, writeSend } from "./outgoing.ts";

// What the body of a request and of an answer looks like in A2A 1.0, whichever binding carries it.

/** An answer that was read, or all that keeps it from being read. */
export type BodyReading<T> =
  | { readonly ok: true; readonly value: T; readonly deviations: readonly Deviation[] }
  | { readonly ok: false; readonly issues: readonly DocumentIssue[] };

type Writer<O extends OperationName> = (request: Operations[O]["request"]) => JsonObject;
type Schema<T> = z.ZodMiniType<T>;

const writers: { readonly [O in OperationName]: Writer<O> } = {
  SendMessage: writeSend,
  SendStreamingMessage: writeSend,
  GetTask: ({ id, historyLength }) => defined({ id, historyLength }),
  ListTasks: (filter) =>
    defined({
      contextId: filter.contextId,
      status: filter.status,
      pageSize: filter.pageSize,
      pageToken: filter.pageToken,
      historyLength: filter.historyLength,
      statusTimestampAfter: filter.statusTimestampAfter,
      includeArtifacts: filter.includeArtifacts,
    }),
  CancelTask: ({ id, metadata }) => defined({ id, metadata }),
  SubscribeToTask: ({ id }) => ({ id }),
  CreateTaskPushNotificationConfig: writePushConfig,
  GetTaskPushNotificationConfig: ({ taskId, id }) => ({ taskId, id }),
  ListTaskPushNotificationConfigs: ({ taskId, pageSize, pageToken }) =>
    defined({ taskId, pageSize, pageToken }),
  DeleteTaskPushNotificationConfig: ({ taskId, id }) => ({ taskId, id }),
  GetExtendedAgentCard: () => ({}),
};

const schemas: { readonly [O in OperationName]: Schema<Operations[O]["response"]> } = {
  SendMessage: sendMessageResponseSchema,
  SendStreamingMessage: streamResponseSchema,
  GetTask: taskSchema,
  ListTasks: listTasksResponseSchema,
  CancelTask: taskSchema,
  SubscribeToTask: streamResponseSchema,
  CreateTaskPushNotificationConfig: pushConfigSchema,
  GetTaskPushNotificationConfig: pushConfigSchema,
  ListTaskPushNotificationConfigs: listPushConfigsResponseSchema,
  // An empty message is {} in ProtoJSON, null or nothing in the field; there is nothing in it to get wrong.
  DeleteTaskPushNotificationConfig: z.transform(() => null),
  GetExtendedAgentCard: agentCardSchema,
};

/** Operations that are answered with one of several things, by the member that is there. */
const oneOf: Readonly<Partial<Record<OperationName, readonly string[]>>> = Object.freeze({
  SendMessage: ["task", "message"],
  SendStreamingMessage: ["task", "message", "statusUpdate", "artifactUpdate"],
  SubscribeToTask: ["task", "message", "statusUpdate", "artifactUpdate"],
});

/** Members of answers that may be without any of them: nothing is what ProtoJSON makes of an empty page. */
const pages: Readonly<Partial<Record<OperationName, readonly string[]>>> = Object.freeze({
  ListTasks: ["tasks", "nextPageToken", "pageSize", "totalSize"],
  ListTaskPushNotificationConfigs: ["configs", "nextPageToken"],
});

/**
 * Writes the input of an operation as JSON: the members that the spec names, and the tenant of the interface that is
 * called, when it has one (8.3.2).
 *
 * @throws TypeError naming a part of a message that does not have exactly one content.
 */
export function writeBindingRequest<O extends OperationName>(
  operation: O,
  request: Operations[O]["request"],
  tenant: string | undefined,
): JsonObject {
  const write: Writer<O> = writers[operation];
  return { ...(tenant ? { tenant } : {}), ...write(request) };
}

/**
 * Reads the answer of an operation, or one event of its stream.
 *
 * @param wire the answer as it came; `undefined` when there was none.
 * @param path JSON path of the answer, for issues and deviations.
 */
export function readResponse<O extends OperationName>(
  operation: O,
  wire: unknown,
  path: string,
): BodyReading<Operations[O]["response"]> {
  const older = findOlderForm(operation, wire);
  if (older !== undefined) return { ok: false, issues: [{ path, message: older }] };
  const isWrapped = (operation === "GetTask" || operation === "CancelTask") && isWrappedTask(wire);
  const body = isWrapped ? wire.task : wire;
  const bodyPath = isWrapped ? `${path}.task` : path;
  const schema: Schema<Operations[O]["response"]> = schemas[operation];
  const reading = readBySchema(schema, body);
  if (!reading.ok) {
    const issues = reading.issues.map((issue) => ({ ...issue, path: bodyPath + issue.path.slice(1) }));
    return { ok: false, issues };
  }
  const wrapped = { kind: "wrapped-task", path, message: "found the task in a member task, wanted it bare" };
  const found = findDeviations(operation, body, bodyPath);
  const deviations = isWrapped ? [wrapped, ...found] : found;
  return { ok: true, value: deepFreeze(reading.value), deviations: deepFreeze(deviations) };
}

/**
 * Reads the JSON of an answer, or of one event of a stream, as every binding of the client does: what a binding of your
 * own hands on went through the same checks, and is frozen.
 *
 * @param wire the answer as it came; `undefined` when there was none.
 * @throws MalformedResponseError with all that keeps it from being one.
 */
export function readBindingAnswer<O extends OperationName>(
  operation: O,
  wire: unknown,
): BindingAnswer<Operations[O]["response"]> {
  const reading = readResponse(operation, wire, "$");
  if (!reading.ok) throw new MalformedResponseError(reading.issues);
  const { value, deviations } = reading;
  return deepFreeze({ value, deviations, ...(operation === "GetExtendedAgentCard" ? { wire } : {}) });
}

/**
 * An answer without its wrapper is how A2A 0.x writes it: never half understood, and said as what it is. Nor is the
 * answer to something else an empty page.
 */
function findOlderForm(operation: OperationName, wire: unknown): string | undefined {
  const page = pages[operation];
  const members = oneOf[operation] ?? page;
  if (!members || !isRecord(wire) || members.some((name) => Object.hasOwn(wire, name))) return undefined;
  const wanted = page ? `wanted ${page[0]}` : `wanted exactly one of ${members.join(", ")}`;
  if (typeof wire.kind === "string") {
    return `found the form of A2A 0.3, with kind ${JSON.stringify(cut(wire.kind, 80))}; ${wanted}`;
  }
  if (isRecord(wire.status)) return `found a bare task; ${wanted}`;
  const other = ["task", "message"].find((name) => isRecord(wire[name]));
  return other === undefined ? undefined : `found a ${other}; ${wanted}`;
}

function isWrappedTask(wire: unknown): wire is { readonly task: unknown } {
  return (
    isRecord(wire) && isRecord(wire.task) && !Object.hasOwn(wire, "id") && !Object.hasOwn(wire, "status")
  );
}
