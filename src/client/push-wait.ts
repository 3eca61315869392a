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
      let inbox = await look();
      for (;;) {
        if (inbox && (await hasNews(inbox))) return;
        const leftMs = delayMs - elapsedMs(clock, since);
        if (leftMs <= 0) return;
        if (!inbox) return sleep(clock, leftMs, signal);
        const isTold = ledger.watch !== undefined;
        await restUntilTold(isTold ? leftMs : Math.min(leftMs, lookEveryMs), signal);
        inbox = (await look()) ?? inbox;
      }
    },
  };

  /** Sleeps, until the ledger tells of a write where it does that. */
  async function restUntilTold(delayMs: number, signal: AbortSignal): Promise<void> {
    const scope = createScope(clock, [signal]);
    let isTold = false;
    const stop = ledger.watch?.(key, () => {
      isTold = true;
      scope.abort(new DOMException("there is news", "AbortError"));
    });
    try {
      await sleep(clock, delayMs, scope.signal);
    } catch (error) {
      if (!isTold) throw error;
    } finally {
      stop?.();
      scope.release();
    }
  }
}
