import { withSignal } from "../util/abort.ts";

/** One piece of work that many wait for. */
export interface Flight<T> {
  /** Waits for it; rejects with the signal's reason when the caller gives up. */
  join(signal: AbortSignal): Promise<T>;
}

/**
 * Starts work that everybody who asks meanwhile shares. One who leaves does not end it for the others; when nobody is
 * left, it is aborted.
 *
 * @param onEnd - called when it is over, or aborted: whoever asks from then on wants another one. May come twice.
 */
export function startFlight<T>(run: (signal: AbortSignal) => Promise<T>, onEnd: () => void): Flight<T> {
  const controller = new AbortController();
  const work = run(controller.signal).finally(onEnd);
  work.catch(() => {});
  let waiting = 0;
  return {
    async join(signal) {
      waiting += 1;
      try {
        return await withSignal(work, signal);
      } finally {
        waiting -= 1;
        if (waiting === 0) {
          // What it waits for may never come, a user's answer for one.
          onEnd();
          controller.abort(new DOMException("nobody waits for the token", "AbortError"));
        }
      }
    },
  };
}
