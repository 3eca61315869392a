import type { Artifact } from "../model/artifact.ts";
import type { Message } from "../model/message.ts";
import type { Part } from "../model/part.ts";
import type { Task } from "../model/task.ts";
import { checkOptions, type OptionKinds } from "../util/options.ts";

/** Text, or whole parts. */
export type Content = string | readonly Part[];

/** What a scripted status can carry beside its state. */
export interface StatusDetails {
  /** What the agent says with it. */
  readonly text?: string;
  /** The same as whole parts. */
  readonly parts?: readonly Part[];
  /** RFC 3339 time. */
  readonly timestamp?: string;
  /** Identifier of the message. @default "agent-message" */
  readonly messageId?: string;
}

/** Where an event of a task belongs. */
export interface EventPlace {
  /** The task. @default "t1" */
  readonly taskId?: string;
  /** Its context. @default "c1" */
  readonly contextId?: string;
}

/** How a scripted artifact arrives. */
export interface ArtifactDetails {
  /** Whether the parts are appended to the artifact of the same id. */
  readonly append?: boolean;
  /** Whether this is the last piece. */
  readonly lastChunk?: boolean;
  /** Name for people. */
  readonly name?: string;
}

const statusKinds: OptionKinds<StatusDetails & EventPlace> = Object.freeze({
  ...{ text: "any", parts: "any", timestamp: "any", messageId: "any", taskId: "any", contextId: "any" },
} as const);

const artifactKinds: OptionKinds<ArtifactDetails & EventPlace> = Object.freeze({
  ...{ append: "any", lastChunk: "any", name: "any", taskId: "any", contextId: "any" },
} as const);

/** Parts of a text, or the parts themselves. */
export function partsOf(content: Content): readonly Part[] {
  return typeof content === "string" ? [{ text: content }] : content;
}

/** A message of the agent. */
export function agentMessage(messageId: string, content: Content, place: Partial<Message> = {}): Message {
  return { messageId, role: "ROLE_AGENT", parts: partsOf(content), ...place };
}

/** An artifact with one text, or with whole parts. */
export function artifactOf(artifactId: string, content: Content, details: ArtifactDetails = {}): Artifact {
  return { artifactId, ...(details.name ? { name: details.name } : {}), parts: partsOf(content) };
}

function statusOf(state: string, details: StatusDetails) {
  const { text, parts, timestamp, messageId = "agent-message" } = details;
  const content = parts ?? text;
  return {
    state,
    ...(content === undefined ? {} : { message: agentMessage(messageId, content) }),
    ...(timestamp === undefined ? {} : { timestamp }),
  };
}

function placeOf({ taskId = "t1", contextId = "c1" }: EventPlace) {
  return { taskId, contextId };
}

/**
 * Makers of stream events for scripted streams and answers, short enough for a table of them. The state is any text,
 * so that states which the spec does not have can be sent too. A detail that is none is a TypeError that names it, but
 * for those of a task and a message, which may have members of their own.
 */
export const event = Object.freeze({
  /** A Task snapshot: `event.task("TASK_STATE_WORKING")`. */
  task(state: string, details: StatusDetails & EventPlace & Partial<Omit<Task, "id" | "status">> = {}) {
    const { text: _text, parts: _parts, timestamp: _timestamp, messageId: _id, taskId, ...rest } = details;
    const place = placeOf(details);
    return {
      task: { ...rest, id: place.taskId, contextId: place.contextId, status: statusOf(state, details) },
    };
  },
  /** A status update: `event.status("TASK_STATE_COMPLETED", { timestamp })`. */
  status(state: string, details: StatusDetails & EventPlace = {}) {
    checkOptions(details, statusKinds);
    return { statusUpdate: { ...placeOf(details), status: statusOf(state, details) } };
  },
  /** An artifact or a piece of one: `event.artifact("a", "half", { append: true })`. */
  artifact(artifactId: string, content: Content, details: ArtifactDetails & EventPlace = {}) {
    checkOptions(details, artifactKinds);
    const { append, lastChunk } = details;
    return {
      artifactUpdate: {
        ...placeOf(details),
        artifact: artifactOf(artifactId, content, details),
        ...(append === undefined ? {} : { append }),
        ...(lastChunk === undefined ? {} : { lastChunk }),
      },
    };
  },
  /** A message of the agent; with a `taskId` one inside a task's stream. */
  message(content: Content, details: Partial<Message> = {}) {
    return { message: agentMessage("agent-message", content, details) };
  },
});
