import type { Clock } from "../util/clock.ts";

/** Watches for silence: it counts only while somebody waits, so that a slow consumer is not taken for a slow server. */
export interface IdleTimer {
  /** Somebody waits from now on. */
  start(): void;
  /** Something came, or nobody waits any more. */
  stop(): void;
  /** Ends the watch for good. */
  release(): void;
}

/**
 * Calls `onIdle` once a wait has lasted `idleMs`. One timer serves many waits: it is set again when it fires, not each
 * time that something comes.
 */
export function createIdleTimer(clock: Clock, idleMs: number, onIdle: () => void): IdleTimer {
  let waitingSinceMs: number | undefined;
  let cancel: (() => void) | undefined;

  function check() {
    cancel = undefined;
    if (waitingSinceMs === undefined) return;
    const leftMs = idleMs - (clock.monotonicMs() - waitingSinceMs);
    if (leftMs > 0) cancel = clock.schedule(leftMs, check);
    else onIdle();
  }

  return {
    start() {
      waitingSinceMs = clock.monotonicMs();
      if (!cancel && Number.isFinite(idleMs)) cancel = clock.schedule(idleMs, check);
    },
    stop() {
      waitingSinceMs = undefined;
    },
    release() {
      waitingSinceMs = undefined;
      cancel?.();
      cancel = undefined;
    },
  };
}
