import type { Artifact } from "../model/artifact.ts";
import type { Message } from "../model/message.ts";
import type { AnsweredOutcome } from "../model/outcome.ts";
import type { Part } from "../model/part.ts";
import { defined } from "../util/freeze.ts";
import type { HandleEntry } from "./handle.ts";
import type { MessageInput, SendOptions } from "./message.ts";
import type { ResultOptions, TaskOutcome } from "./result-options.ts";

/** Answers a question of the task and waits for what comes of it. */
export type Reply = (input: MessageInput, options?: SendOptions & ResultOptions) => Promise<TaskOutcome>;

/**
 * What a settled task came to.
 *
 * @throws TypeError for a task that is not settled, which is a fault of this library.
 */
export function outcomeOf(entry: HandleEntry, reply: Reply): TaskOutcome {
  const { task, artifacts, state } = entry.handle;
  if (!task) throw new TypeError(`task ${entry.handle.id} was never seen`);
  const { message } = task.status;
  const members = { task, artifacts, ...defined({ message }) };
  switch (state) {
    case "TASK_STATE_COMPLETED": {
      const isEmpty = artifacts.length === 0 && message === undefined;
      if (isEmpty) {
        const found = "found TASK_STATE_COMPLETED without an artifact or a message, wanted some output";
        entry.tracked.note([{ kind: "completed-empty", message: found }]);
      }
      // 4.1.2: an agent may say its answer with the completion. Beside an artifact it is a remark, and no output.
      const output = artifacts.length === 0 ? textOfParts(message?.parts ?? []) : textOfArtifacts(artifacts);
      return Object.freeze({ status: "completed", ...members, ...output, isEmpty });
    }
    case "TASK_STATE_FAILED":
      return Object.freeze({ status: "failed", ...members });
    case "TASK_STATE_CANCELED":
      return Object.freeze({ status: "canceled", ...members });
    case "TASK_STATE_REJECTED":
      return Object.freeze({ status: "rejected", ...members });
    case "TASK_STATE_INPUT_REQUIRED":
      return Object.freeze({ status: "input-required", ...members, prompt: message, reply });
    case "TASK_STATE_AUTH_REQUIRED":
      return Object.freeze({ status: "auth-required", ...members, prompt: message, reply });
    default:
      throw new TypeError(`task ${task.id} is in ${state}, which is no outcome`);
  }
}

/** What a message in place of a task comes to. */
export function answeredBy(message: Message): AnsweredOutcome {
  return Object.freeze({ status: "answered", message, ...textOfParts(message.parts) });
}

function textOfArtifacts(artifacts: readonly Artifact[]): { text: string; skipped: readonly Part[] } {
  const texts = artifacts.map(({ parts }) => textOfParts(parts));
  const text = texts.map((item) => item.text).filter((item) => item !== "");
  return { text: text.join("\n"), skipped: Object.freeze(texts.flatMap((item) => item.skipped)) };
}

/** The texts among parts as one, and the parts that are none. */
export function textOfParts(parts: readonly Part[]): { text: string; skipped: readonly Part[] } {
  const text = parts.map((part) => ("text" in part ? part.text : "")).join("");
  return { text, skipped: Object.freeze(parts.filter((part) => !("text" in part))) };
}
