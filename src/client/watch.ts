import { onAbort } from "../util/abort.ts";
import { checkOptions } from "../util/options.ts";
import { checkLease } from "./check.ts";
import type { LeaseHolder, Session } from "./session.ts";

/** Options of a watch. */
export interface WatchOptions {
  /** Milliseconds from the end of one check to the beginning of the next. */
  readonly everyMs: number;
}

/**
 * Checks the card again and again for all holders at once; checks of one moment share one read. A drift ends leases as
 * any check does, and is told by events.
 */
export function watchCard(
  session: Session,
  options: WatchOptions,
  holders: () => readonly LeaseHolder[],
): () => void {
  checkOptions(options, { everyMs: "any" });
  const { everyMs } = options ?? {};
  if (!(typeof everyMs === "number" && everyMs > 0)) {
    throw new TypeError(`everyMs: found ${String(everyMs)}, wanted a positive number of milliseconds`);
  }
  const stopping = new AbortController();
  const { signal } = stopping;
  let cancel = () => {};

  async function tick(): Promise<void> {
    const phase = { operation: "watch", check: "before" } as const;
    const live = holders().filter((holder) => !holder.ended);
    // What a check finds is told by events and by the holders' signals; there is nobody here to throw at.
    await Promise.allSettled(
      live.map((holder) => checkLease(session, { holder, requirements: holder.requirements, phase, signal })),
    );
    if (!signal.aborted) schedule();
  }
  function schedule(): void {
    cancel = session.clock.schedule(everyMs, () => void tick());
  }
  function stop(): void {
    cancel();
    release();
    stopping.abort();
  }

  let release = () => {};
  if (!session.closed.aborted) schedule();
  release = onAbort(session.closed, stop);
  return stop;
}
