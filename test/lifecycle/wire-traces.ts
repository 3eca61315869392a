import { event } from "a2a-lease/testing";
import type { LifecycleRule } from "../../src/model/observation.ts";

/** A rule that is judged by a whole stream, by the shortest stream that breaks it and a long one that does not. */
export interface WireTraces {
  /** Streams that break it with their last event. */
  readonly breaking: Readonly<Record<string, readonly object[]>>;
  /** A stream that looks like it and is legal. */
  readonly legal: readonly object[];
}

/** Rules that only the events of a stream can break. */
export type WireRule = Extract<LifecycleRule, "stream-shape" | "artifact-order">;

const at = (second: number) => ({ timestamp: `2026-01-01T00:00:0${second}.000Z` });
const working = event.task("TASK_STATE_WORKING", at(1));
const completed = event.status("TASK_STATE_COMPLETED", at(9));

/** Every such rule with its streams. */
export const wireTraces: Readonly<Record<WireRule, WireTraces>> = {
  "stream-shape": {
    breaking: {
      "a status first": [event.status("TASK_STATE_WORKING", at(1))],
      "the end first": [completed],
      "an artifact first": [event.artifact("a", "42")],
      "a task after a message in its place": [event.message("just so"), working],
      "a status after a message in place of a task": [event.message("just so"), completed],
      "an artifact after a message in place of a task": [event.message("just so"), event.artifact("a", "42")],
      "a second message after one in place of a task": [event.message("just so"), event.message("and so")],
    },
    legal: [
      working,
      event.message("on it", { taskId: "t1" }),
      event.artifact("a", "4"),
      event.message("half way"),
      working,
      event.artifact("a", "2", { append: true, lastChunk: true }),
      event.status("TASK_STATE_WORKING", { ...at(2), text: "nearly" }),
      completed,
    ],
  },
  "artifact-order": {
    breaking: {
      "an append after the last piece": [
        working,
        event.artifact("a", "42", { lastChunk: true }),
        event.artifact("a", "!", { append: true }),
      ],
      "an append after the last piece, which was an append too": [
        working,
        event.artifact("a", "4"),
        event.artifact("a", "2", { append: true, lastChunk: true }),
        event.artifact("a", "!", { append: true, lastChunk: true }),
      ],
    },
    legal: [
      working,
      event.artifact("a", "4"),
      event.artifact("b", "x", { lastChunk: true }),
      event.artifact("a", "2", { append: true }),
      event.artifact("a", "!", { append: true, lastChunk: true }),
      event.artifact("b", "y"),
      event.artifact("b", "z", { append: true, lastChunk: true }),
      completed,
    ],
  },
};
