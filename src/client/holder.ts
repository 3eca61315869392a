import { CardDriftError, type LeaseUnverifiableError, type Renegotiate } from "../errors/lease.ts";
import type { CardPin } from "../model/pin.ts";
import type { LeasedTask } from "../model/posture.ts";
import { defined } from "../util/freeze.ts";
import type { Observer } from "./observer.ts";
import type { LeaseHolder, LeasePlan } from "./session.ts";

/** A lease holder as it is made here. */
export type Holder = LeaseHolder;

/** What a holder is made from. */
export interface HolderParts extends LeasePlan {
  readonly observer: Observer;
  /** The task; absent for a plan. */
  readonly task?: LeasedTask;
  /** What the drift error's own `renegotiate` does. */
  readonly renegotiate: Renegotiate;
  /** Keeps a pin that the posture accepted. */
  readonly onRepin?: (pin: CardPin) => Promise<void>;
}

/** Makes the holder of a pin, and grants it the lease. */
export function createHolder(parts: HolderParts): Holder {
  const { requirements, policy, observer, task, renegotiate, onRepin } = parts;
  const controller = new AbortController();
  let { pin } = parts;
  let ended: CardDriftError | LeaseUnverifiableError | undefined;
  const taskId = task?.id;
  const about = defined({ taskId });
  observer.emit("lease-granted", { ...about, digest: pin.digest, interface: pin.interface });

  function over<E extends CardDriftError | LeaseUnverifiableError>(error: E): E {
    ended = error;
    const reason = error instanceof CardDriftError ? error.reason : "unverifiable";
    observer.emit("lease-ended", { ...about, reason });
    controller.abort(error);
    return error;
  }

  async function replacePin(next: CardPin): Promise<void> {
    pin = next;
    await onRepin?.(next);
  }

  return {
    requirements,
    policy,
    ...defined({ task }),
    get pin() {
      return pin;
    },
    get ended() {
      return ended;
    },
    signal: controller.signal,
    end(drift, cause) {
      return ended ?? over(new CardDriftError(drift, { renegotiate, cause, ...about }));
    },
    expire(error) {
      if (!ended) over(error);
    },
    replacePin,
    async repin(next, drift) {
      const from = pin.digest;
      await replacePin(next);
      observer.emit("lease-repinned", { ...about, from, to: next.digest, drift });
    },
  };
}

/** Holds a pin for one read that is not under a lease; nobody hears of it. */
export function holdPin(pin: CardPin): Holder {
  return createHolder({
    pin,
    requirements: {},
    policy: { posture: "fail-closed", compare: "content" },
    observer: { on: () => () => {}, emit: () => {} },
    renegotiate: () => Promise.reject(new TypeError("a pin without a plan can't be renegotiated")),
  });
}
