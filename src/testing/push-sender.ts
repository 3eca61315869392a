import type { StreamResponse } from "../model/events.ts";
import { createScope, sleep, withSignal } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import type { AgentFetch } from "./in-process.ts";
import type { OutgoingPush, ResolvedPushes } from "./push-settings.ts";
import { isSettled, type KeptPushConfig, type TaskRecord } from "./task-record.ts";

/** One attempt to deliver a push notification. */
export interface PushAttempt extends OutgoingPush {
  /** Wall time on the agent's clock when it was made, in milliseconds. */
  readonly at: number;
  /** Which attempt at this notification it is, from 1. */
  readonly attempt: number;
  /** Status that the webhook answered with; absent while and where it did not. */
  readonly status?: number;
  /** What came of it: still open, answered with 2xx, answered otherwise, or not answered at all. */
  readonly outcome: "open" | "delivered" | "refused" | "failed";
  /** What failed; for `"failed"` only. */
  readonly error?: unknown;
}

type OpenAttempt = { -readonly [K in keyof PushAttempt]: PushAttempt[K] };

/** Sends the push notifications of an agent. */
export interface PushSender {
  /** Notifies all webhooks of a task. Returns at once. */
  notify(record: TaskRecord, event: StreamResponse): void;
  /** All attempts so far, in order. */
  attempts(): readonly PushAttempt[];
  /** Resolves when nothing is on its way; rejects with what a script threw. */
  settled(): Promise<void>;
}

/** What is on its way to one webhook, in order. */
interface Line {
  sent: number;
  gathered: OutgoingPush[];
  last: Promise<void>;
}

/** Makes the sender. Notifications to one webhook are sent one after the other (4.3.3, 13.2). */
export function createPushSender(
  clock: Clock,
  behaviour: () => ResolvedPushes,
  fetch: AgentFetch,
): PushSender {
  const attempts: OpenAttempt[] = [];
  const lines = new WeakMap<KeptPushConfig, Line>();
  const underWay = new Set<Promise<void>>();

  async function attemptOnce(push: OutgoingPush, attempt: number): Promise<boolean> {
    const entry: OpenAttempt = { ...push, at: clock.now(), attempt, outcome: "open" };
    attempts.push(entry);
    const { timeoutMs } = behaviour();
    const scope = createScope(clock, []);
    scope.deadline(timeoutMs, () => new DOMException(`no answer in ${timeoutMs} ms`, "TimeoutError"));
    try {
      const { url, headers, body } = push;
      const init: RequestInit = { method: "POST", headers: { ...headers }, body, redirect: "manual" };
      const response = await withSignal(fetch(url, { ...init, signal: scope.signal }), scope.signal);
      entry.status = response.status;
      entry.outcome = response.ok ? "delivered" : "refused";
      await response.body?.cancel();
    } catch (error) {
      entry.outcome = "failed";
      entry.error = error;
    } finally {
      scope.release();
    }
    return entry.outcome === "delivered";
  }

  async function deliver(push: OutgoingPush, isActive: () => boolean): Promise<void> {
    const { edit, copies } = behaviour();
    const edited = (isActive() && (await edit?.(push))) || push;
    const outgoing: readonly OutgoingPush[] = "length" in edited ? edited : [edited];
    for (const each of outgoing.flatMap((one) => Array.from({ length: copies }, () => one))) {
      for (let attempt = 1; isActive(); attempt++) {
        const isDelivered = await attemptOnce(each, attempt);
        if (isDelivered || attempt > behaviour().retries) break;
        const { retryDelayMs } = behaviour();
        if (retryDelayMs > 0) await sleep(clock, retryDelayMs);
      }
    }
  }

  function enqueue(line: Line, push: OutgoingPush, isActive: () => boolean): void {
    const delivered = line.last.catch(() => {}).then(() => deliver(push, isActive));
    line.last = delivered;
    underWay.add(delivered);
    // One that a script made fail stays, for whoever waits to see.
    delivered.then(
      () => underWay.delete(delivered),
      () => {},
    );
  }

  return {
    notify(record, event) {
      const { task } = record;
      const pushes = behaviour();
      for (const kept of record.pushConfigs.values()) {
        const line = lines.get(kept) ?? { sent: 0, gathered: [], last: Promise.resolve() };
        lines.set(kept, line);
        line.sent += 1;
        line.gathered.push({
          ...{ taskId: task.id, configId: kept.config.id, nth: line.sent, url: kept.config.url },
          headers: headersOf(kept, pushes),
          body: JSON.stringify(pushes.payload === "task" ? task : event),
        });
        const isOver = "statusUpdate" in event && isSettled(task.status.state);
        if (line.gathered.length < pushes.reverse && !isOver) continue;
        const isActive = () => record.pushConfigs.get(kept.config.id) === kept;
        for (const push of line.gathered.splice(0).reverse()) enqueue(line, push, isActive);
      }
    },
    attempts: () => attempts.map((entry) => Object.freeze({ ...entry })),
    async settled() {
      while (underWay.size > 0) {
        const waiting = [...underWay];
        const ends = await Promise.allSettled(waiting);
        const failed = ends.findIndex(({ status }) => status === "rejected");
        const wrong = waiting[failed];
        if (!wrong) continue;
        underWay.delete(wrong);
        await wrong;
      }
    },
  };
}

function headersOf({ config }: KeptPushConfig, given: ResolvedPushes): Record<string, string> {
  const { token = config.token, authorization = authorizationOf(config) } = given;
  return {
    "content-type": given.payload === "task" ? "application/json" : "application/a2a+json",
    ...(token ? { "x-a2a-notification-token": token } : {}),
    ...(authorization ? { authorization } : {}),
  };
}

/** `Authorization` as the configuration asks for it (4.3.2). */
function authorizationOf({ authentication }: KeptPushConfig["config"]): string | undefined {
  if (!authentication) return undefined;
  return [authentication.scheme, authentication.credentials].filter(Boolean).join(" ");
}
