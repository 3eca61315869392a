import type { Holder } from "./holder.ts";
import type { StreamSlot } from "./stream-slot.ts";
import type { TrackedTask } from "./track.ts";

/** What a handle is made of. */
export interface HandleParts {
  /** The task. */
  readonly tracked: TrackedTask;
  /** The lease. */
  readonly holder: Holder;
  /** The one connection. */
  readonly slot: StreamSlot;
}
