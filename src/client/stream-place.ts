import { isReplay } from "../lifecycle/memory.ts";
import type { Observation } from "../model/observation.ts";
import type { JudgeFacts, Mark } from "./judged.ts";
import type { Received } from "./receive.ts";
import type { TrackedTask } from "./track.ts";

/** How far a stream has come in the life of its task, whoever was faster to see it. */
export interface StreamPlace {
  /** What the stream last showed of the task's status. */
  readonly seen: Observation | undefined;
  /** What the judgement of its next event depends on. */
  readonly facts: Pick<JudgeFacts, "position" | "openedAt">;
  /**
   * Takes what became of an event that was folded in; says whether it is for whoever reads the stream.
   *
   * @param isWanted - whether it is, also where it only repeats the status.
   */
  take(received: Received, tracked: TrackedTask, isWanted: boolean): boolean;
}

/** The place of a stream that was asked for when the task had come so far. */
export function createStreamPlace(mark: Mark | undefined): StreamPlace {
  const openedAt = mark?.statusCount ?? 0;
  // It begins with the task as it was then, which was seen already.
  let position = Math.max(0, openedAt - 1);
  let seen: Observation | undefined;

  return {
    get seen() {
      return seen;
    },
    get facts() {
      return { position, openedAt };
    },
    take({ outcome, observation, position: found, isBeforeEnd }, tracked, isWanted) {
      const isNews = outcome === "advance";
      if (!observation) return isNews;
      position = found ?? (isNews ? tracked.mark.statusCount : position);
      // Each stream tells its reader all of it, also what somebody else was faster to see.
      const isOnTime = outcome === "replay" || (outcome === "late" && (isBeforeEnd || found !== undefined));
      const isUntold = isOnTime && !(seen && isReplay(seen, observation));
      const isTold = isNews || isUntold || (isWanted && outcome === "replay");
      if (isTold || outcome === "replay") seen = observation;
      return isTold;
    },
  };
}
