import { A2ALeaseError } from "../errors/base.ts";
import { LeaseUnverifiableError } from "../errors/lease.ts";
import { renewLease } from "../lease/renew.ts";
import type { CardVerdict } from "../model/drift.ts";
import { createScope } from "../util/abort.ts";
import { type CallOptions, checkCallOptions } from "./call.ts";
import { judgeOptionsOf } from "./check-request.ts";
import type { LeasePlan, Session } from "./session.ts";
import { limitWait } from "./wait-limits.ts";

/** Reads the live card in full and says how it differs from a plan. Adopts nothing and ends nothing. */
export async function revalidatePlan(
  session: Session,
  { pin, requirements, policy }: LeasePlan,
  options: CallOptions,
): Promise<CardVerdict> {
  checkCallOptions(options);
  const { source, clock, closed } = session;
  const scope = createScope(clock, [options.signal, closed]);
  limitWait(scope, source.url ?? "", options);
  try {
    const renewal = await renewLease(source, {
      pin,
      requirements,
      kind: "forced",
      signal: scope.signal,
      judge: judgeOptionsOf(session, { operation: "revalidate", check: "forced" }, policy),
    });
    if (renewal.outcome === "drift") return { outcome: "drift", drift: renewal.drift };
    if (renewal.outcome === "renewed") {
      session.lastReading = renewal.reading;
      session.isStale = false;
      return { outcome: "same", changes: renewal.changes };
    }
    if (scope.signal.aborted) throw scope.signal.reason;
    const { failure } = renewal;
    const retryAfterMs = failure instanceof A2ALeaseError ? failure.retryAfterMs : undefined;
    throw new LeaseUnverifiableError(source.url ?? "", { cause: failure, retryAfterMs });
  } finally {
    scope.release();
  }
}
