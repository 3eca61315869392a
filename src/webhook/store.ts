import { LifecycleMismatchError } from "../errors/lifecycle.ts";
import { calleeOf } from "../ledger/callee.ts";
import { changeRecord, recordOf } from "../ledger/change.ts";
import { emptyInbox } from "../ledger/inbox.ts";
import { inboxKey, type Ledger, pushKey, trustKey } from "../ledger/ledger.ts";
import type { TaskRecord } from "../model/record.ts";
import { isTerminalState } from "../model/states.ts";
import type { TrustRecord } from "../model/trust.ts";
import { type Clock, isoTime } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import { judgePush, type PushVerdict } from "./judge.ts";
import type { ReadPush } from "./payload.ts";
import type { PushSender } from "./sender.ts";

/** Where things are kept, and when. */
export interface Store {
  readonly ledger: Ledger;
  readonly clock: Clock;
}

/** A notification that is to be kept. */
export interface Incoming {
  readonly sender: PushSender;
  readonly push: ReadPush;
  /** The task that it is of. */
  readonly taskId: string;
  /** What the client knows of that task. */
  readonly task: TaskRecord | undefined;
  /** Hash of the notification. */
  readonly hash: string;
}

/**
 * Judges a notification and keeps what it shows, under compare-and-set: when somebody else was first, it is judged anew
 * by what is there then. What breaks a rule ends the agent's trust.
 *
 * @throws the ledger errors; then nothing was kept.
 */
export async function storePush(store: Store, incoming: Incoming): Promise<PushVerdict> {
  const { ledger, clock } = store;
  const { sender, push, taskId, task, hash } = incoming;
  const { cardUrl, principal, record } = sender;
  const trust = await readTrust(ledger, sender, task);
  const receivedAt = isoTime(clock.now());
  const trustsTimestamps = trust?.level === "lifecycle-trusted" && trust.timestamps;
  const facts = { memory: task?.memory, contextId: task?.contextId, trustsTimestamps, hash, receivedAt };
  let verdict: PushVerdict | undefined;
  await changeRecord(ledger, { key: inboxKey(cardUrl, principal, taskId), kind: "inbox" }, (known) => {
    const inbox = known ?? emptyInbox(cardUrl, principal, taskId);
    verdict = judgePush(inbox, push, facts);
    if (!("inbox" in verdict) || verdict.inbox === inbox) return undefined;
    return Object.freeze({ ...verdict.inbox, updatedAt: receivedAt });
  });
  const judged: PushVerdict = verdict ?? { outcome: "duplicate" };
  if (judged.outcome === "broken") {
    await demote(store, incoming, `${judged.rule}: ${judged.message}`);
  }
  const state = push.observation?.state;
  if (judged.outcome === "new" && record && state && isTerminalState(state)) {
    await closePush(store, record.fingerprint).catch(() => {});
  }
  return judged;
}

/** What is told of a rule that a notification broke. */
export function mismatchOf(
  verdict: Extract<PushVerdict, { outcome: "broken" }>,
  { taskId, task }: Incoming,
): LifecycleMismatchError {
  const { rule, message, observations } = verdict;
  const card = { digest: task?.pin.digest ?? "", version: task?.pin.version ?? "" };
  return new LifecycleMismatchError(rule, { message, observations, card, taskId });
}

/** Ends the trust in an agent. Throws the ledger errors. */
export async function demote({ ledger, clock }: Store, incoming: Incoming, reason: string): Promise<void> {
  const key = trustKeyOf(incoming.sender, incoming.task);
  if (key === undefined) return;
  const at = isoTime(clock.now());
  await changeRecord(ledger, { key, kind: "trust" }, (known) => {
    if (known?.level !== "lifecycle-trusted") return undefined;
    const change = { at, level: "card-trusted", reason } as const;
    const history = Object.freeze([...known.history, change].slice(-50));
    return Object.freeze({ ...known, level: "card-trusted", history, updatedAt: at });
  });
}

/** The task is over: what is still pushed of it is late or a duplicate, and the record may make room. */
async function closePush({ ledger, clock }: Store, fingerprint: string): Promise<void> {
  await changeRecord(ledger, { key: pushKey(fingerprint), kind: "push" }, (known) =>
    known && !known.isOver
      ? Object.freeze({ ...known, isOver: true, updatedAt: isoTime(clock.now()) })
      : undefined,
  );
}

async function readTrust(
  ledger: Ledger,
  sender: PushSender,
  task: TaskRecord | undefined,
): Promise<TrustRecord | undefined> {
  const key = trustKeyOf(sender, task);
  return key === undefined ? undefined : recordOf(await ledger.read(key), "trust");
}

function trustKeyOf({ record }: PushSender, task: TaskRecord | undefined): string | undefined {
  const { callee, protocolVersion } = defined({
    callee: record?.callee ?? (task && calleeOf(task.pin)),
    protocolVersion: record?.protocolVersion ?? task?.pin.protocolVersion,
  });
  return callee === undefined || protocolVersion === undefined
    ? undefined
    : trustKey(callee, protocolVersion);
}
