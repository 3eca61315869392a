import type { Observation, TaskMemory } from "../model/observation.ts";

/** What an answer could leave out, so that its absence says nothing. */
export interface Omissions {
  readonly history?: boolean;
  readonly artifacts?: boolean;
}

/** What a judgement depends on beside what was seen and what is remembered. */
export interface JudgeFacts {
  /** Reading of the monotonic clock when the request of an answer left. */
  readonly askedAtMs?: number;
  /** For the answer to a message: the last thing known of the task before it was sent. */
  readonly beforeSend?: Observation | undefined;
}

/** What a judgement came to. */
export interface Judged {
  readonly outcome: "advance" | "replay" | "late";
  /** What is known after it. */
  readonly memory: TaskMemory;
}
