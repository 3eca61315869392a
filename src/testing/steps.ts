import type { Artifact } from "../model/artifact.ts";
import type { Message } from "../model/message.ts";
import { checkOptions } from "../util/options.ts";
import { type ArtifactDetails, artifactOf, type Content, partsOf } from "./events.ts";

/** One thing that a task goes through. Made by {@link step}. */
export type TaskStep =
  | {
      readonly step: "status";
      readonly state: string;
      readonly content?: Content;
      readonly timestamp?: string | false;
    }
  | {
      readonly step: "artifact";
      readonly artifact: Artifact;
      readonly append?: boolean;
      readonly lastChunk?: boolean;
    }
  | { readonly step: "message"; readonly content: Content }
  | { readonly step: "wait"; readonly delayMs: number }
  | { readonly step: "hold" };

/** What a task goes through, in order; or how to find it from the message that starts the task. */
export type TaskPlan = readonly TaskStep[] | ((message: Message) => readonly TaskStep[]);

const status = (state: string) => (content?: Content) =>
  Object.freeze({ step: "status", state, ...(content === undefined ? {} : { content }) } as const);

/** Makers of the steps of a task plan. */
export const step = Object.freeze({
  /** TASK_STATE_WORKING, perhaps with a progress line. */
  working: status("TASK_STATE_WORKING"),
  /** TASK_STATE_COMPLETED. */
  completed: status("TASK_STATE_COMPLETED"),
  /** TASK_STATE_FAILED, perhaps with the reason. */
  failed: status("TASK_STATE_FAILED"),
  /** TASK_STATE_REJECTED, perhaps with the reason. */
  rejected: status("TASK_STATE_REJECTED"),
  /** TASK_STATE_CANCELED. */
  canceled: status("TASK_STATE_CANCELED"),
  /** TASK_STATE_INPUT_REQUIRED with a question. The plan goes on when a message to the task arrives. */
  inputRequired: status("TASK_STATE_INPUT_REQUIRED"),
  /** TASK_STATE_AUTH_REQUIRED. The plan goes on when a message arrives, or with `agent.step(taskId)`. */
  authRequired: status("TASK_STATE_AUTH_REQUIRED"),
  /**
   * Any state, also one that the spec does not have; `timestamp` in place of the clock's time, or `false` for a
   * status without one.
   */
  status: (
    state: string,
    details: { readonly content?: Content; readonly timestamp?: string | false } = {},
  ): TaskStep => {
    checkOptions(details, { content: "any", timestamp: "any" });
    return Object.freeze({ step: "status", state, ...details } as const);
  },
  /** An artifact, or a piece of one with `append` and `lastChunk`. */
  artifact: (artifactId: string, content: Content, details: ArtifactDetails = {}): TaskStep => {
    checkOptions<ArtifactDetails>(details, { append: "any", lastChunk: "any", name: "any" });
    const { append, lastChunk } = details;
    return Object.freeze({
      step: "artifact",
      artifact: artifactOf(artifactId, content, details),
      ...(append === undefined ? {} : { append }),
      ...(lastChunk === undefined ? {} : { lastChunk }),
    });
  },
  /** A message of the agent in the middle of the task. */
  message: (content: Content): TaskStep => Object.freeze({ step: "message", content: partsOf(content) }),
  /** Waits on the agent's clock. */
  wait: (delayMs: number): TaskStep => Object.freeze({ step: "wait", delayMs }),
  /** Waits until the test calls `agent.step(taskId)`. */
  hold: (): TaskStep => Object.freeze({ step: "hold" }),
});

/** What the echo agent does once it works: it gives the message's parts back, and completes. */
export function echoSteps({ parts }: Message): readonly TaskStep[] {
  return [step.artifact("artifact-1", parts, { lastChunk: true }), step.completed()];
}

/** What the agent does with every task while no plan is given: it works, echoes the message's parts, and completes. */
export const echoPlan: TaskPlan = (message) => [step.working(), ...echoSteps(message)];
