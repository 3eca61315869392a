import { CardDriftError, LeaseUnverifiableError } from "../errors/lease.ts";
import type { OperationName } from "../model/operations.ts";
import { onAbort, type Scope } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import { checkLease } from "./check.ts";
import type { LeaseHolder, Session } from "./session.ts";

/** Shortest time between two checks under a stream, in milliseconds, whatever the options say. */
const shortestRoundMs = 1_000;

/**
 * Checks the card every `fullCheckEveryMs` while a stream is open. When the lease ends, the stream is aborted with the
 * error; what had come in before is still delivered. The returned function ends the guard.
 */
export function guardStream(
  session: Session,
  operation: OperationName,
  scope: Scope,
  holder: () => LeaseHolder,
): () => void {
  const { clock, options, source } = session;
  if (source.url === undefined || !Number.isFinite(options.fullCheckEveryMs)) return () => {};
  const everyMs = Math.max(shortestRoundMs, options.fullCheckEveryMs);
  let cancel = () => {};
  let isOpen = true;

  async function tick(): Promise<void> {
    const checked = holder();
    const phase = { operation, check: "alongside" } as const;
    try {
      const { signal } = scope;
      await checkLease(session, { holder: checked, requirements: checked.requirements, phase, signal });
    } catch (error) {
      // A card that can't be read for a moment is no reason to drop a stream; one that is over is.
      const isOver =
        error instanceof CardDriftError || (error instanceof LeaseUnverifiableError && checked.ended);
      if (isOver) scope.abort(error);
    }
    if (isOpen) schedule();
  }
  function schedule(): void {
    cancel = clock.schedule(everyMs, () => void tick());
  }

  schedule();
  const end = () => {
    isOpen = false;
    cancel();
  };
  const unfollow = onAbort(scope.signal, end);
  return () => {
    unfollow();
    end();
  };
}

/** After its last event a stream is listened to for this long, in milliseconds: it has to end. */
const graceMs = 1_000;

/** Closes a stream that should end by itself and does not. The returned function keeps it open. */
export function closeSoon(clock: Clock, scope: Scope, close: () => void): () => void {
  const cancel = clock.schedule(graceMs, close);
  const unfollow = onAbort(scope.signal, cancel);
  return () => {
    unfollow();
    cancel();
  };
}
