import type { CardPin } from "../model/pin.ts";
import type { CardRequirements } from "../model/requirements.ts";
import { policyOf } from "./desk.ts";
import { createHolder, type Holder } from "./holder.ts";
import type { Session } from "./session.ts";
import type { RenegotiateOptions } from "./task-options.ts";

/** Makes the holder of a client's plan: of no task, under the client's own posture. */
export function createPlan(
  session: Session,
  pin: CardPin,
  requirements: CardRequirements,
  renegotiate: (options: RenegotiateOptions) => Promise<object>,
): Holder {
  return createHolder({
    pin,
    requirements,
    policy: policyOf(session),
    observer: session.observer,
    renegotiate: async (options) => ({ client: await renegotiate(options) }),
  });
}
