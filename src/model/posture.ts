import type { CardDrift } from "./drift.ts";
import type { CardPin } from "./pin.ts";

/** The task whose card drifted, as a posture function sees it. */
export interface LeasedTask {
  /** The task's id. */
  readonly id: string;
  /** Its context, once it is known. */
  readonly contextId: string | undefined;
  /** What it was planned against. */
  readonly pin: CardPin;
}

/** What to do about a drift: end the lease, or pin the live card and go on. */
export type DriftDecision = "fail" | "repin";

/**
 * What to do when the card drifts.
 *
 * - `"fail-closed"`: every change of the compared digest ends the lease.
 * - `degrade`: where the plan's requirements still hold and nothing of impact `security` changed, the live card is
 *   pinned and the work goes on. It says `restartable: true`, since the agent may go about the work in another way.
 * - a function decides; changes of impact `security` always fail. There is no handle before a task exists.
 */
export type Posture =
  | "fail-closed"
  | { readonly onDrift: "degrade"; readonly restartable: true }
  | { readonly onDrift: (drift: CardDrift, handle: LeasedTask | undefined) => DriftDecision };
