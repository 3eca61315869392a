import type { Message } from "../model/message.ts";
import type { Part } from "../model/part.ts";
import type { TaskPushNotificationConfig } from "../model/push.ts";
import type { SendMessageConfiguration, SendMessageRequest } from "../model/requests.ts";
import type { JsonObject } from "../model/schema.ts";
import { defined } from "../util/freeze.ts";

// Objects that leave are built member by member: what the spec does not name, `TaskStatus.raw` for one, stays here.

const contentMembers = ["text", "raw", "url", "data"] as const;

/**
 * Writes the input of a send (3.2.1).
 *
 * @throws TypeError naming the part that does not have exactly one content.
 */
export function writeSend({ message, configuration, metadata }: SendMessageRequest): JsonObject {
  return defined({
    message: writeMessage(message),
    configuration: configuration && writeConfiguration(configuration),
    metadata,
  });
}

/** Writes a push configuration (4.3.1); its tenant comes from the interface that is called. */
export function writePushConfig(config: TaskPushNotificationConfig): JsonObject {
  const { id, taskId, url, token, authentication } = config;
  return defined({
    id,
    taskId,
    url,
    token,
    authentication:
      authentication && defined({ scheme: authentication.scheme, credentials: authentication.credentials }),
  });
}

/**
 * The headers of a request, and by the same kind of name the secrets in its body: those of a push configuration. What an
 * answer says goes into errors, and must not give them back.
 */
export function sentWith(
  headers: Readonly<Record<string, string>>,
  request: object,
): Readonly<Record<string, string>> {
  const { configuration }: { readonly configuration?: SendMessageConfiguration } = request;
  const config: Partial<TaskPushNotificationConfig> = configuration?.taskPushNotificationConfig ?? request;
  const { token, authentication } = config;
  return { ...headers, ...defined({ "push-token": token, "push-credential": authentication?.credentials }) };
}

function writeMessage(message: Message): JsonObject {
  const { messageId, contextId, taskId, role, metadata, extensions, referenceTaskIds } = message;
  const parts = message.parts.map(writePart);
  return defined({ messageId, contextId, taskId, role, parts, metadata, extensions, referenceTaskIds });
}

function writePart(part: Part, index: number): JsonObject {
  const given: Partial<Record<(typeof contentMembers)[number], unknown>> = part;
  const found = contentMembers.filter((name) => given[name] !== undefined);
  const [content] = found;
  if (content === undefined || found.length > 1) {
    const names = found.length === 0 ? "none" : found.join(" and ");
    throw new TypeError(
      `message.parts[${index}] has ${names} of ${contentMembers.join(", ")}; wanted exactly one`,
    );
  }
  const { metadata, filename, mediaType } = part;
  return defined({ [content]: given[content], metadata, filename, mediaType });
}

function writeConfiguration(configuration: SendMessageConfiguration): JsonObject {
  const { acceptedOutputModes, taskPushNotificationConfig, historyLength, returnImmediately } = configuration;
  return defined({
    acceptedOutputModes,
    taskPushNotificationConfig: taskPushNotificationConfig && writePushConfig(taskPushNotificationConfig),
    historyLength,
    returnImmediately,
  });
}
