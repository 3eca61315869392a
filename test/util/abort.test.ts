import { createTestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { createScope, onAbort, sleep, withSignal } from "../../src/util/abort.ts";
import { rejectionOf } from "../card/cards.ts";

describe("a scope", () => {
  test("is aborted by whichever parent is first, with that parent's reason", () => {
    const [a, b] = [new AbortController(), new AbortController()];
    const scope = createScope(createTestClock(), [a.signal, undefined, b.signal]);
    b.abort("b");
    a.abort("a");
    expect(scope.signal.reason).toBe("b");
  });

  test("is aborted from the start below a parent that is", () => {
    const scope = createScope(createTestClock(), [AbortSignal.abort("gone")]);
    expect([scope.signal.aborted, scope.signal.reason]).toEqual([true, "gone"]);
  });

  test("is aborted by a deadline, unless it is taken back", async () => {
    const clock = createTestClock();
    const scope = createScope(clock, []);
    scope.deadline(10, () => "early")();
    scope.deadline(20, () => "late");
    await clock.advance(19);
    expect(scope.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(scope.signal.reason).toBe("late");
  });

  test("leaves no timer and hears no parent once it is released", async () => {
    const clock = createTestClock();
    const parent = new AbortController();
    const scope = createScope(clock, [parent.signal]);
    scope.deadline(10, () => "late");
    scope.deadline(Number.POSITIVE_INFINITY, () => "never");
    scope.release();
    parent.abort("parent");
    expect([clock.pendingCount, scope.signal.aborted]).toEqual([0, false]);
  });
});

describe("many who follow one signal", () => {
  /** A signal that counts its listeners. */
  function countingSignal() {
    const controller = new AbortController();
    const { signal } = controller;
    const listeners = { count: 0 };
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      listeners.count += 1;
      add(...given);
    };
    signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      listeners.count -= 1;
      remove(...given);
    };
    return { controller, signal, listeners };
  }

  test("cost it one listener, and none once the last has let go", () => {
    const { signal, listeners } = countingSignal();
    const releases = Array.from({ length: 100 }, () => onAbort(signal, () => {}));
    const during = listeners.count;
    for (const release of [...releases, ...releases]) release();
    expect([during, listeners.count]).toEqual([1, 0]);
    onAbort(signal, () => {})();
    expect(listeners.count).toBe(0);
  });

  test("are told once each, in order, but for those that were taken back", () => {
    const { controller, signal } = countingSignal();
    const told: number[] = [];
    const tell = () => void told.push(1);
    onAbort(signal, tell);
    onAbort(signal, tell);
    onAbort(signal, () => told.push(2))();
    const release = onAbort(signal, () => told.push(3));
    controller.abort();
    release();
    onAbort(signal, () => told.push(4));
    expect(told).toEqual([1, 1, 3, 4]);
  });

  test("are not told when one before them took them back", () => {
    const { controller, signal } = countingSignal();
    const told: string[] = [];
    let releaseSecond = () => {};
    onAbort(signal, () => {
      told.push("first");
      releaseSecond();
    });
    releaseSecond = onAbort(signal, () => told.push("second"));
    controller.abort();
    expect(told).toEqual(["first"]);
  });

  test("leave nothing on it when what they waited for came", async () => {
    const { signal, listeners } = countingSignal();
    const clock = createTestClock();
    const waiting = withSignal(sleep(clock, 10, signal), signal);
    await clock.advance(10);
    await waiting;
    expect(listeners.count).toBe(0);
  });
});

describe("waiting with a signal", () => {
  test("settles as the promise does", async () => {
    const { signal } = new AbortController();
    expect(await withSignal(Promise.resolve(1), signal)).toBe(1);
    expect(await withSignal(Promise.resolve(1), undefined)).toBe(1);
    expect(await rejectionOf(withSignal(Promise.reject("no"), signal))).toBe("no");
  });

  test("ends with the signal's reason, unchanged, though the promise never settles", async () => {
    const controller = new AbortController();
    const reason = { why: "left" };
    const waiting = rejectionOf(withSignal(new Promise(() => {}), controller.signal));
    controller.abort(reason);
    expect(await waiting).toBe(reason);
    expect(await rejectionOf(withSignal(Promise.reject("late"), controller.signal))).toBe(reason);
  });
});

describe("a sleep", () => {
  test("lasts as long as the clock says", async () => {
    const clock = createTestClock();
    let isAwake = false;
    const sleeping = sleep(clock, 10).then(() => {
      isAwake = true;
    });
    await clock.advance(9);
    expect(isAwake).toBe(false);
    await clock.advance(1);
    await sleeping;
    expect(isAwake).toBe(true);
  });

  test("ends with the signal's reason and leaves no timer", async () => {
    const clock = createTestClock();
    const controller = new AbortController();
    const sleeping = rejectionOf(sleep(clock, 10, controller.signal));
    controller.abort("left");
    expect([await sleeping, clock.pendingCount]).toEqual(["left", 0]);
    expect(await rejectionOf(sleep(clock, 10, AbortSignal.abort("before")))).toBe("before");
    expect(clock.pendingCount).toBe(0);
  });
});
