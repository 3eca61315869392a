import { TimeoutError } from "../errors/transport.ts";
import { isInterruptedState } from "../model/states.ts";
import { createScope, type Scope } from "../util/abort.ts";
import { elapsedMs, readInstant } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import { aboutTask, afterSend } from "./about-task.ts";
import { goesOnAfterAuth } from "./auth-required.ts";
import { checkCallOptions } from "./call.ts";
import type { TaskDesk } from "./desk.ts";
import type { Sender } from "./entry.ts";
import { followTask } from "./follow.ts";
import type { BegunStream } from "./follow-parts.ts";
import type { HandleEntry } from "./handle.ts";
import { outcomeOf } from "./outcome.ts";
import { getTask } from "./reads.ts";
import type { ResultOptions, TaskOutcome } from "./result-options.ts";
import { sendMessage } from "./send.ts";
import type { Session } from "./session.ts";
import { isSettled } from "./settle.ts";
import { limitWait } from "./wait-limits.ts";

/** Where a wait begins. */
export interface WaitFrom {
  /** A stream that has begun already. */
  readonly begun?: BegunStream | undefined;
  /** Whether the task was seen a moment ago, so that what it asks is what it asks now. @default false */
  readonly isFresh?: boolean;
}

/**
 * Waits until a task is settled and says what it came to. A completion is only believed when the task itself, read once
 * more, says so.
 */
export async function resultOf(
  session: Session,
  desk: () => TaskDesk,
  entry: HandleEntry,
  options: ResultOptions,
  from: WaitFrom = {},
): Promise<TaskOutcome> {
  checkCallOptions(options);
  const settle = options.until ?? "settled";
  const scope = createScope(session.clock, [options.signal]);
  const { deadlineMs: _all, timeoutMs: _too, noProgressMs, ...rest } = options;
  const { url } = entry.holder.pin.interface;
  limitWait(scope, url, options);
  const progress =
    noProgressMs === undefined ? undefined : watchProgress(session, entry, scope, noProgressMs);
  const waiting = { ...rest, signal: scope.signal };
  try {
    let isRead = false;
    const { begun, isFresh = false } = from;
    // A question may have found its answer elsewhere: a login needs no message.
    const isKnown = isSettled(entry.tracked, settle);
    const looksFirst = isKnown && !begun && !isFresh && isInterruptedState(entry.handle.state);
    if (begun || looksFirst || !isKnown) {
      const onSeen = (by: "stream" | "poll") => {
        isRead = by === "poll";
        progress?.seen(by);
      };
      const parts = { settle, onSeen, looksFirst, ...defined({ begun }) };
      for await (const update of followTask(session, entry, waiting, parts)) {
        progress?.moved();
        options.onUpdate?.(update);
      }
    }
    if (await goesOnAfterAuth(session, entry, scope.signal)) {
      isRead = false;
      for await (const update of followTask(session, entry, waiting, { settle: "question" })) {
        progress?.moved();
        options.onUpdate?.(update);
      }
    }
    // A completion is only believed, and its outputs are only whole, when the task itself says so.
    if (!isRead && entry.handle.state === "TASK_STATE_COMPLETED") await getTask(session, entry, waiting);
    return outcomeOf(entry, async (input, replyOptions = {}) => {
      checkCallOptions(replyOptions);
      const sender: Sender = { holder: entry.holder, task: entry };
      const { onUpdate, until } = options;
      // The time is for all of it: the answer and the wait for what comes of it.
      const { deadlineMs: _begun, timeoutMs, ...more } = replyOptions;
      const all = createScope(session.clock, [replyOptions.signal]);
      limitWait(all, url, replyOptions);
      let isSent = false;
      try {
        const { signal } = all;
        await sendMessage(session, desk(), sender, input, { ...more, ...defined({ timeoutMs }), signal });
        isSent = true;
        const next = { ...defined({ onUpdate, until }), ...more, signal };
        return await resultOf(session, desk, entry, next, { isFresh: true });
      } catch (error) {
        throw isSent ? afterSend(error, entry.handle.id, replyOptions.signal) : error;
      } finally {
        all.release();
      }
    });
  } catch (error) {
    const told = scope.signal.aborted ? scope.signal.reason : error;
    throw aboutTask(told, entry.handle.id, options.signal);
  } finally {
    progress?.release();
    scope.release();
  }
}

/** Gives up a wait for a task that stays as it is; the error says for how long, and how it was looked at. */
function watchProgress(session: Session, entry: HandleEntry, scope: Scope, noProgressMs: number) {
  const { clock } = session;
  let since = readInstant(clock);
  let looks = 0;
  let by: "stream" | "poll" = "poll";
  let cancel = arm();

  function arm(): () => void {
    return clock.schedule(noProgressMs, () => {
      const { state } = entry.handle;
      const unchangedMs = Math.round(elapsedMs(clock, since));
      const message = `found ${state} unchanged for ${unchangedMs} ms, seen ${looks} times by ${by}, wanted progress`;
      entry.tracked.note([{ kind: "no-progress", message }]);
      scope.abort(
        new TimeoutError(entry.holder.pin.interface.url, "no-progress", noProgressMs, {
          unchangedMs,
          observedBy: by,
          observations: looks,
          state,
        }),
      );
    });
  }

  return {
    seen(how: "stream" | "poll") {
      looks += 1;
      by = how;
    },
    moved() {
      cancel();
      since = readInstant(clock);
      looks = 0;
      cancel = arm();
    },
    release: () => cancel(),
  };
}
