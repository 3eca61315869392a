import { findStep } from "../lifecycle/memory.ts";
import type { Observation, TaskMemory } from "../model/observation.ts";

/** What an answer could leave out, so that its absence says nothing. */
export interface Omissions {
  readonly history?: boolean;
  readonly artifacts?: boolean;
}

/** How far a task had come, as it was folded in, when a request left. */
export interface Mark {
  /** Steps of its status that were folded in. */
  readonly statusCount: number;
  /** Pieces of artifacts that were. */
  readonly pieceCount: number;
}

/** What a judgement depends on beside what was seen and what is remembered. */
export interface JudgeFacts {
  /** For an answer: how far the task had come when its request left. */
  readonly mark?: Mark | undefined;
  /** For an event: how far in the life of the task its stream has come. */
  readonly position?: number | undefined;
  /** For an event: how far the task had come when its stream was asked for. */
  readonly openedAt?: number | undefined;
  /** For the answer to a message: how the task had ended before it was sent. */
  readonly beforeSend?: Observation | undefined;
}

/** What a judgement came to. */
export interface Judged {
  /** As the rules say; `dropped` where it breaks one and changes nothing. */
  readonly outcome: "advance" | "replay" | "late" | "dropped";
  /** What is known after it. */
  readonly memory: TaskMemory;
  /** How far in the life of the task it is, where somebody else was faster to see it. */
  readonly position?: number | undefined;
  /** Whether its stream has still to come to the end that was seen elsewhere. */
  readonly isBeforeEnd?: boolean;
}

/**
 * Where something that was seen stands among what was folded in meanwhile.
 *
 * @param known - what is remembered, and how many steps of the status were folded in.
 */
export function placeOf(
  seen: Observation,
  { mark, openedAt, position: from }: JudgeFacts,
  { memory, statusCount }: { readonly memory: TaskMemory; readonly statusCount: number },
): Required<Pick<Judged, "isBeforeEnd" | "position">> & { readonly isOvertaken: boolean } {
  const position = findStep(memory, seen, { stepCount: statusCount, from });
  const isBehind = (count: number | undefined) => count !== undefined && count < statusCount;
  return {
    position,
    isOvertaken: isBehind(mark?.statusCount) || isBehind(position),
    isBeforeEnd: memory.terminal !== undefined && isBehind(openedAt),
  };
}
