import type { Clock } from "./clock.ts";

interface Following {
  readonly all: Set<() => void>;
  readonly tell: () => void;
}

const followings = new WeakMap<AbortSignal, Following>();

/**
 * Calls `run` once when a signal is aborted, at once if it is already; the returned function takes that back. However
 * many follow one signal, it carries one listener, since platforms warn of signals with many; and none when nobody
 * does any more.
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  if (signal.aborted) {
    run();
    return () => {};
  }
  const { all, tell } = followings.get(signal) ?? startFollowing(signal);
  // A follower of its own, since one function may follow a signal twice.
  const follower = () => run();
  all.add(follower);
  return () => {
    if (!all.delete(follower) || all.size > 0 || signal.aborted) return;
    followings.delete(signal);
    signal.removeEventListener("abort", tell);
  };
}

function startFollowing(signal: AbortSignal): Following {
  const all = new Set<() => void>();
  const tell = () => {
    followings.delete(signal);
    // One that is taken back by another on the way is not told.
    for (const follower of all) follower();
  };
  const following = { all, tell };
  followings.set(signal, following);
  signal.addEventListener("abort", tell, { once: true });
  return following;
}

/** An abort controller that follows other signals and deadlines, and lets go of all of them when it is released. */
export interface Scope {
  /** Aborted by a parent, a deadline or `abort`. */
  readonly signal: AbortSignal;
  /** Aborts the scope with a reason; the first reason stays. */
  abort(reason: unknown): void;
  /** Aborts with `reason()` after `delayMs`; the returned function takes the deadline back. */
  deadline(delayMs: number, reason: () => unknown): () => void;
  /** Stops every deadline and stops following the parents. */
  release(): void;
}

/** Makes a scope below any number of parent signals. */
export function createScope(clock: Clock, parents: readonly (AbortSignal | undefined)[]): Scope {
  const controller = new AbortController();
  const releases: (() => void)[] = [];
  for (const parent of parents) {
    if (!parent) continue;
    if (parent.aborted) {
      controller.abort(parent.reason);
      continue;
    }
    releases.push(onAbort(parent, () => controller.abort(parent.reason)));
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    deadline(delayMs, reason) {
      if (!Number.isFinite(delayMs)) return () => {};
      const cancel = clock.schedule(delayMs, () => controller.abort(reason()));
      releases.push(cancel);
      return cancel;
    },
    release() {
      for (const release of releases.splice(0)) release();
    },
  };
}

/** Settles as `promise` does, or rejects with the signal's reason as soon as it is aborted. */
export function withSignal<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  if (signal.aborted) {
    promise.catch(() => {});
    return Promise.reject(signal.reason);
  }
  return new Promise<T>((resolve, reject) => {
    const release = onAbort(signal, () => reject(signal.reason));
    // First the listener, then the outcome: whoever waited finds nothing left behind.
    promise.then(release, release);
    promise.then(resolve, reject);
  });
}

/** Waits on the given clock; rejects with the signal's reason when it is aborted first. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const cancel = clock.schedule(delayMs, () => {
      release?.();
      resolve();
    });
    const release =
      signal &&
      onAbort(signal, () => {
        cancel();
        reject(signal.reason);
      });
  });
}
