import type { TestClock } from "a2a-lease/testing";

/** Moves the clock on, step by step, until a promise is settled, and settles like it. */
export async function driven<T>(clock: TestClock, promise: Promise<T>, stepMs = 50): Promise<T> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  promise.then(end, end);
  for (let steps = 0; !isOver; steps++) {
    if (steps > 20_000) throw new TypeError("the promise was never settled");
    await clock.advance(stepMs);
  }
  return promise;
}
