import type { CardComparison } from "../model/drift.ts";
import type { Message } from "../model/message.ts";
import { type Part, partMediaType } from "../model/part.ts";
import type { CardPin } from "../model/pin.ts";
import type { Posture } from "../model/posture.ts";
import type { CardRequirements } from "../model/requirements.ts";
import type { JsonObject } from "../model/schema.ts";
import { deepFreeze, defined, isRecord } from "../util/freeze.ts";
import { copyJson } from "../util/json-copy.ts";
import { createUuid } from "../util/uuid.ts";
import type { CallOptions } from "./call.ts";
import type { PushConfigInput } from "./push-input.ts";

/** What can be sent: a text, parts, or a whole message. */
export type MessageInput = string | readonly Part[] | MessageFields;

/** A message whose id and role may be left to the library. */
export type MessageFields = Omit<Message, "messageId" | "role"> &
  Partial<Pick<Message, "messageId" | "role">>;

/** Options of a send. */
export interface SendOptions extends CallOptions {
  /** What this plan needs from the card, beside what the client's plans need. */
  readonly requires?: CardRequirements;
  /** What this plan, and the handle that comes of it, does when the card drifts. @default the client's */
  readonly posture?: Posture;
  /** Which digest decides for this plan, and the handle that comes of it. @default the client's */
  readonly compare?: CardComparison;
  /** Context to send to; without a task it starts a new one there. */
  readonly contextId?: string;
  /** Tasks that the message refers to. */
  readonly referenceTaskIds?: readonly string[];
  /** Free-form metadata of the request. */
  readonly metadata?: JsonObject;
  /** Media types that the caller can take; a single one is asked of the card too. */
  readonly acceptedOutputModes?: readonly string[];
  /** Most recent messages of history to return at most; 0 is none (3.2.4). @default no limit but the agent's own */
  readonly historyLength?: number;
  /**
   * A webhook to be told of the task, sent inside the message so that no event is missed. Without `token` and
   * `authentication` it has a fresh secret.
   */
  readonly pushNotificationConfig?: PushConfigInput;
  /** Whether the answer is to wait until the task is settled. @default false: the handle is how one waits */
  readonly blocking?: boolean;
}

/**
 * Makes the message that is sent.
 *
 * @throws TypeError for an empty or wrong input.
 */
export function createMessage(
  input: MessageInput,
  options: SendOptions,
  context: {
    readonly random: (() => number) | undefined;
    readonly taskId?: string;
    readonly contextId?: string;
  },
): Message {
  const given = readInput(input);
  const { taskId } = context;
  if (taskId !== undefined && given.taskId !== undefined && given.taskId !== taskId) {
    throw new TypeError(`message.taskId: found ${given.taskId}, wanted ${taskId}, the handle's own task`);
  }
  return deepFreeze({
    ...given,
    messageId: given.messageId ?? createUuid(context.random),
    role: given.role ?? "ROLE_USER",
    ...defined({
      taskId: taskId ?? given.taskId,
      contextId: given.contextId ?? options.contextId ?? context.contextId,
      referenceTaskIds: given.referenceTaskIds ?? options.referenceTaskIds,
    }),
  });
}

/** Deepest nesting of a message. */
const maxDepth = 128;

/** Copies what a caller hands in, so that it stays the caller's own. */
function readInput(input: MessageInput): MessageFields {
  const given: unknown =
    typeof input === "string" ? { parts: [{ text: input }] } : isParts(input) ? { parts: input } : input;
  const parts = isRecord(given) ? given.parts : undefined;
  if (!Array.isArray(parts) || parts.length === 0 || !parts.every(isRecord)) {
    throw new TypeError("message: found no parts, wanted a text, parts, or a message with at least one part");
  }
  let copy: ReturnType<typeof copyJson>;
  try {
    copy = copyJson(given, maxDepth);
  } catch (error) {
    throw new TypeError(`message: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (copy.tooDeep) throw new TypeError(`message: found more than ${maxDepth} levels, wanted JSON`);
  // The shape that every send needs was looked at above; what its members hold goes out field by field.
  return copy.value as MessageFields;
}

/**
 * What a message by itself asks of the card: that its media types are accepted, and that the extensions which it uses
 * and the card has stay there. Those are declared with the send (4.6.1).
 */
export function impliedRequirements(message: Message, options: SendOptions, pin: CardPin): CardRequirements {
  const extensions = (message.extensions ?? []).filter((uri) => pin.capabilities.extensions.includes(uri));
  const inputModes = message.parts.map(partMediaType).filter((mode) => mode !== undefined);
  const outputModes = options.acceptedOutputModes;
  // The agent has to meet one of the accepted modes, not all: only a single one is a demand.
  return {
    ...(inputModes.length > 0 ? { inputModes } : {}),
    ...(extensions.length > 0 ? { extensions } : {}),
    ...(outputModes?.length === 1 ? { outputModes } : {}),
  };
}

function isParts(input: readonly Part[] | MessageFields): input is readonly Part[] {
  return Array.isArray(input);
}
