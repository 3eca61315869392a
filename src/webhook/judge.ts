import { judgeObservation } from "../lifecycle/judge.ts";
import { isReplay, noMemory } from "../lifecycle/memory.ts";
import { findForeign, type JudgeContext } from "../lifecycle/rules.ts";
import type { Deviation } from "../model/deviation.ts";
import type { LifecycleRule, Observation, TaskMemory } from "../model/observation.ts";
import type { InboxRecord } from "../model/push-record.ts";
import type { ReadPush } from "./payload.ts";

/** What a judgement of a notification depends on. */
export interface PushFacts {
  /** What the client has seen of the task, as far as the ledger knows. */
  readonly memory: TaskMemory | undefined;
  /** Context that the task belongs to, once it is known. */
  readonly contextId: string | undefined;
  /** Whether an older timestamp tells that something is old; only where a probe has shown it. */
  readonly trustsTimestamps: boolean;
  /** Hash of the notification. */
  readonly hash: string;
  /** When it came, RFC 3339. */
  readonly receivedAt: string;
}

/** What to make of a notification, and the inbox after it. */
export type PushVerdict =
  | { readonly outcome: "new"; readonly inbox: InboxRecord; readonly deviations: readonly Deviation[] }
  | { readonly outcome: "duplicate" | "late" }
  | {
      readonly outcome: "broken";
      readonly inbox: InboxRecord;
      readonly rule: LifecycleRule;
      readonly message: string;
      readonly observations: readonly Observation[];
    };

const maxObservations = 20;
const maxHashes = 64;
const maxBroken = 20;

/** Judges a notification by the rules of a task's life: by what was pushed before, and by what the client has seen. */
export function judgePush(inbox: InboxRecord, push: ReadPush, facts: PushFacts): PushVerdict {
  return push.observation
    ? judgeStatus(inbox, push.observation, facts)
    : judgePiece(inbox, { taskId: push.taskId ?? inbox.taskId, contextId: push.contextId }, facts);
}

/** Neither a message nor a piece of an artifact carries a state: whose it is can be judged, and whether it came before. */
function judgePiece(
  inbox: InboxRecord,
  { contextId, taskId }: { readonly taskId: string; readonly contextId: string | undefined },
  facts: PushFacts,
): PushVerdict {
  const found = { taskId, ...(contextId === undefined ? {} : { contextId }) };
  const message = findForeign(found, contextOf(inbox, facts));
  if (message !== undefined)
    return breaks(inbox, { rule: "identity", message, observations: inbox.observations }, facts);
  if (inbox.hashes.includes(facts.hash)) return { outcome: "duplicate" };
  const hashes = Object.freeze([...inbox.hashes, facts.hash].slice(-maxHashes));
  return { outcome: "new", inbox: { ...inbox, hashes }, deviations: [] };
}

function judgeStatus(inbox: InboxRecord, seen: Observation, facts: PushFacts): PushVerdict {
  const context = contextOf(inbox, facts);
  const known = inbox.observations.reduce(
    (memory, earlier) => judgeObservation(memory, earlier, after(memory, context)).memory,
    facts.memory ?? noMemory,
  );
  const verdict = judgeObservation(known, seen, after(known, context));
  const { deviations } = verdict;
  if (verdict.outcome === "broken") return breaks(inbox, verdict, facts);
  const last = inbox.observations.at(-1);
  // What the client was faster to see is news all the same for whoever hears of the task by notifications alone.
  const isRepeated = inbox.observations.some((earlier) => isReplay(earlier, seen));
  const isDuplicate = verdict.outcome !== "advance" || (last !== undefined && isReplay(last, seen));
  if (isRepeated && isDuplicate) return { outcome: "duplicate" };
  if (verdict.outcome === "late") return { outcome: "late" };
  const observations = Object.freeze([...inbox.observations, seen].slice(-maxObservations));
  return { outcome: "new", inbox: { ...inbox, observations, count: inbox.count + 1 }, deviations };
}

function contextOf({ taskId }: InboxRecord, { contextId, trustsTimestamps }: PushFacts): JudgeContext {
  return {
    taskId,
    ...(contextId === undefined ? {} : { contextId }),
    trustsTimestamps,
    trustsHistory: false,
    claimsHistory: false,
    // Only the client knows what it answered in between.
    maxIdleRounds: Number.POSITIVE_INFINITY,
  };
}

/** Notifications overtake each other on their way, so one without a date says nothing against an end that was seen. */
function after(memory: TaskMemory, context: JudgeContext): JudgeContext {
  return { ...context, isOvertaken: memory.terminal !== undefined };
}

function breaks(
  inbox: InboxRecord,
  found: {
    readonly rule: LifecycleRule;
    readonly message: string;
    readonly observations: readonly Observation[];
  },
  { receivedAt }: PushFacts,
): PushVerdict {
  const { rule, message, observations } = found;
  const isKnown = inbox.broken.some((item) => item.rule === rule && item.message === message);
  const isKept = isKnown || inbox.broken.length >= maxBroken;
  const broken = isKept ? inbox.broken : Object.freeze([...inbox.broken, { rule, message, at: receivedAt }]);
  return { outcome: "broken", inbox: { ...inbox, broken }, rule, message, observations };
}
