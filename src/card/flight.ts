import { onAbort } from "../util/abort.ts";

/** How a read is asked for: an ordinary one may share any read in flight, a forced one only a read not yet begun. */
export type FlightKind = "ordinary" | "forced";

interface Flight<T> {
  readonly kind: FlightKind;
  readonly promise: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

/**
 * Lets one read serve many callers. At most one read is in flight and one forced read is queued behind it: an ordinary
 * caller joins the one in flight; a forced caller joins the queued one, whose read begins after its surprise. A read
 * that nobody waits for any more is aborted.
 */
export function createFlights<T>(read: (kind: FlightKind, signal: AbortSignal) => Promise<T>) {
  let current: Flight<T> | undefined;
  let queued: Flight<T> | undefined;

  function launch(kind: FlightKind, after: Promise<unknown> | undefined): Flight<T> {
    const controller = new AbortController();
    const begin = async () => {
      // One turn of patience, so that surprises of one moment share one read.
      await (after ?? Promise.resolve());
      if (queued === flight) {
        queued = undefined;
        current = flight;
      }
      // Whoever waited for a queued read may have left before its turn came.
      controller.signal.throwIfAborted();
      return read(kind, controller.signal);
    };
    const promise = begin().finally(() => {
      if (current === flight) current = undefined;
      if (queued === flight) queued = undefined;
    });
    promise.catch(() => {});
    const flight: Flight<T> = { kind, controller, waiting: 0, promise };
    return flight;
  }

  return function join(kind: FlightKind, signal: AbortSignal | undefined): Promise<T> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    let flight: Flight<T>;
    if (kind === "ordinary") {
      flight = current ?? queued ?? launch("ordinary", undefined);
      if (!queued || flight !== queued) current = flight;
    } else {
      queued ??= launch(
        "forced",
        current?.promise.catch(() => {}),
      );
      flight = queued;
    }
    return wait(flight, signal);
  };

  function wait(flight: Flight<T>, signal: AbortSignal | undefined): Promise<T> {
    flight.waiting += 1;
    const leave = (reason: unknown) => {
      flight.waiting -= 1;
      if (flight.waiting > 0) return;
      if (current === flight) current = undefined;
      if (queued === flight) queued = undefined;
      flight.controller.abort(reason);
    };
    if (!signal) return flight.promise;
    return new Promise<T>((resolve, reject) => {
      const release = onAbort(signal, () => {
        leave(signal.reason);
        reject(signal.reason);
      });
      flight.promise.then(resolve, reject).finally(release);
    });
  }
}
