import { recordOf } from "../ledger/change.ts";
import { inboxKey } from "../ledger/ledger.ts";
import { isReplay } from "../lifecycle/memory.ts";
import type { InboxRecord } from "../model/push-record.ts";
import { createScope, sleep } from "../util/abort.ts";
import { elapsedMs, readInstant } from "../util/clock.ts";
import type { Session } from "./session.ts";
import type { TrackedTask } from "./track.ts";

/** How often a ledger that tells nobody of its writes is asked, in milliseconds, and only while somebody waits. */
const lookEveryMs = 1_000;

/** The waits between two reads of a task. */
export interface PushWait {
  /**
   * Waits, but not longer than until something new is pushed of the task: the read that comes then has its own check
   * of the card. Whatever is pushed, it waits for `floorMs`. Rejects with the signal's reason.
   */
  rest(delayMs: number, how: { readonly signal: AbortSignal; readonly floorMs: number }): Promise<void>;
}

/** Makes the waits of somebody who follows a task. */
export function createPushWait(session: Session, tracked: TrackedTask): PushWait {
  const { clock, ledger, cardKey, options } = session;
  const key = inboxKey(cardKey, options.principal, tracked.record.taskId);
  let heard = 0;

  async function look(): Promise<InboxRecord | undefined> {
    // Polling is the floor: a ledger that can't be read here takes nothing away from it.
    return recordOf(await ledger.read(key).catch(() => undefined), "inbox");
  }

  /** Whether something was pushed that the last read of the task did not show. */
  async function hasNews(record: InboxRecord): Promise<boolean> {
    if (record.count === heard) return false;
    heard = record.count;
    const { last } = tracked;
    const pushed = record.observations.at(-1);
    if (last && pushed && isReplay(last, pushed)) return false;
    // A notification that broke a rule has ended the trust, in another process perhaps.
    await session.trust.refresh(tracked.record.pin).catch(() => {});
    return true;
  }

  return {
    async rest(delayMs, { signal, floorMs }) {
      const since = readInstant(clock);
      if (floorMs > 0) await sleep(clock, floorMs, signal);
      let inbox: InboxRecord | undefined;
      for (;;) {
        // It is listened before it is looked, so that nothing is written unheard in between.
        const told = listen(signal);
        try {
          inbox = (await look()) ?? inbox;
          if (inbox && (await hasNews(inbox))) return;
          const leftMs = delayMs - elapsedMs(clock, since);
          if (leftMs <= 0) return;
          if (!inbox) return await sleep(clock, leftMs, signal);
          await told.rest(told.isHeard ? leftMs : Math.min(leftMs, lookEveryMs));
        } finally {
          told.stop();
        }
      }
    },
  };

  /** Listens to the ledger, where it tells of its writes; the rest ends with the first of them. */
  function listen(signal: AbortSignal) {
    const scope = createScope(clock, [signal]);
    let isTold = false;
    const tell = () => {
      isTold = true;
      scope.abort(new DOMException("there is news", "AbortError"));
    };
    const stopWatch = watch(tell);
    return {
      isHeard: stopWatch !== undefined,
      async rest(restMs: number): Promise<void> {
        try {
          await sleep(clock, restMs, scope.signal);
        } catch (error) {
          if (!isTold) throw error;
        }
      },
      stop() {
        stopWatch?.();
        scope.release();
      },
    };
  }

  /** A ledger that can't be listened to is asked instead. */
  function watch(tell: () => void): (() => void) | undefined {
    try {
      return ledger.watch?.(key, tell);
    } catch {
      return undefined;
    }
  }
}
