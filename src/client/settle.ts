import type { Observation } from "../model/observation.ts";
import { isTerminalState, type TaskState } from "../model/states.ts";
import type { TrackedTask } from "./track.ts";

/**
 * What one waits for: `settled` is the end of the task or anything that it asks of the caller, `question` leaves out
 * the wait for an authentication, after which work may go on without a message, and `terminal` is the end alone.
 */
export type SettleRule = "settled" | "question" | "terminal";

const asking: Readonly<Record<SettleRule, readonly TaskState[]>> = Object.freeze({
  settled: ["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED"],
  question: ["TASK_STATE_INPUT_REQUIRED"],
  terminal: [],
});

/**
 * Whether a task is where one waits for it to be. A question that was answered settles nothing again.
 *
 * @param last - what was last seen of it, by one of several streams for instance.
 */
export function isSettled(
  tracked: TrackedTask,
  rule: SettleRule = "settled",
  last: Observation | undefined = tracked.last,
): boolean {
  if (!last) return false;
  if (isTerminalState(last.state)) return true;
  return asking[rule].includes(last.state) && !tracked.isAnswered(last);
}
