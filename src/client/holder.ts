import { CardDriftError } from "../errors/lease.ts";
import type { CardDrift } from "../model/drift.ts";
import type { CardPin } from "../model/pin.ts";
import type { CardRequirements } from "../model/requirements.ts";
import type { LeaseHolder } from "./session.ts";

/** A lease holder with the signal that tells of its end. */
export interface Holder extends LeaseHolder {
  /** Aborted, with the drift as its reason, when the lease ends. */
  readonly signal: AbortSignal;
}

/** Makes the holder of a pin. */
export function createHolder<Renewed>(facts: {
  readonly pin: CardPin;
  readonly requirements: CardRequirements;
  readonly taskId?: string;
  /** What the drift error's own `renegotiate` does. */
  readonly renegotiate: () => Promise<Renewed>;
}): Holder {
  const { pin, requirements, taskId, renegotiate } = facts;
  const controller = new AbortController();
  let ended: CardDriftError | undefined;
  return {
    pin,
    requirements,
    ...(taskId === undefined ? {} : { taskId }),
    get ended() {
      return ended;
    },
    signal: controller.signal,
    end(drift: CardDrift, cause: unknown) {
      if (ended) return ended;
      ended = new CardDriftError(drift, { renegotiate, cause, ...(taskId === undefined ? {} : { taskId }) });
      controller.abort(ended);
      return ended;
    },
  };
}
