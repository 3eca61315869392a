import { LedgerConflictError, LedgerUnavailableError } from "../errors/ledger.ts";
import { SendOutcomeUnknownError } from "../errors/sending.ts";
import { intentKey } from "../ledger/ledger.ts";
import type { IntentRecord, LedgerEntry } from "../model/record.ts";
import type { OpenIntents, OpenIntentsQuery, RecoveryGap } from "../model/recovery.ts";
import { createScope } from "../util/abort.ts";
import { isoTime, parseTime } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import { checkOptions } from "../util/options.ts";
import { type CallOptions, checkCallOptions, isCallersAbort } from "./call.ts";
import { policyOf, type TaskDesk } from "./desk.ts";
import { findMessage, type MessageSearch } from "./find-message.ts";
import type { HandleEntry, TaskHandle } from "./handle.ts";
import { receiveTask } from "./receive.ts";
import type { LeaseHolder, Session } from "./session.ts";
import { writeRecord } from "./write-record.ts";

/** What became of a message whose answer was lost. */
export type Recovery =
  /** The agent works on it, or did. */
  | { readonly status: "found"; readonly task: TaskHandle }
  /** No task of the agent holds it, as far as the agent lists them, and it shows others of ours. */
  | { readonly status: "not-there" }
  | { readonly status: "cannot-tell"; readonly reason: RecoveryGap };

/** Where messages are looked for. */
export interface Outbox {
  readonly session: Session;
  readonly desk: TaskDesk;
  /** The client's plan as it is now, under which the look is made. */
  readonly plan: () => LeaseHolder;
}

/** How far two clocks may be apart, in milliseconds, for the quick look at what is new. */
const clockMarginMs = 300_000;
/** Pages that are read: of what is new, and of everything. */
const maxNewPages = 5;
const maxPages = 40;
/** How long a send whose answer was lost looks for its message, in milliseconds. */
const lookMs = 5_000;

/**
 * Finds out what became of a message.
 *
 * @throws CardDriftError and LeaseUnverifiableError, when the plan's card no longer holds; the transport and protocol
 * errors; the ledger errors.
 */
export async function recoverMessage(
  outbox: Outbox,
  messageId: string,
  options: CallOptions,
): Promise<Recovery> {
  if (typeof messageId !== "string" || messageId === "") {
    throw new TypeError("messageId: wanted the id of a message");
  }
  checkCallOptions(options);
  const { session } = outbox;
  const entry = await readIntent(session, messageId);
  const intent = entry?.record;
  const { answer } = intent ?? {};
  if (answer && "taskId" in answer) {
    const known = await adopt(outbox, intent, answer.taskId);
    return { status: "found", task: known.handle };
  }
  if (answer) return { status: "cannot-tell", reason: "answers-with-messages" };
  const search = searchFor(outbox, messageId, intent, options);
  const after = intent?.contextId === undefined ? timeOf(intent) : undefined;
  // What is new is a short list, and says where the message is; that it is nowhere only the whole list can say.
  const quick = after === undefined ? undefined : await findMessage(session, { ...search, after });
  const result = quick?.outcome === "found" ? quick : await findMessage(session, { ...search, maxPages });
  if (result.outcome === "found") {
    // A ledger that is full may have let go of it already.
    const { handle } = await adopt(outbox, intent, result.taskId);
    return { status: "found", task: handle };
  }
  const isRefused = intent?.state === "refused";
  if (result.outcome === "gap") {
    return isRefused ? { status: "not-there" } : { status: "cannot-tell", reason: result.gap };
  }
  if (isRefused) return { status: "not-there" };
  if (!intent) return { status: "cannot-tell", reason: "no-intent" };
  if (await answersWithMessages(session)) return { status: "cannot-tell", reason: "answers-with-messages" };
  // What was written while the list was read is newer than the list.
  const stands = await settleIntent(session, messageId, { state: "refused" }, entry);
  if (stands?.answer && "taskId" in stands.answer) {
    const { handle } = await adopt(outbox, stands, stands.answer.taskId);
    return { status: "found", task: handle };
  }
  return stands?.state === "refused"
    ? { status: "not-there" }
    : { status: "cannot-tell", reason: "incomplete" };
}

/**
 * One look for a message whose answer was lost, bounded in time and pages; `undefined` where it shows nothing.
 *
 * @param failure - what the send failed with.
 */
export async function lookForLost(
  outbox: Outbox,
  failure: unknown,
  options: CallOptions,
): Promise<HandleEntry | undefined> {
  if (!(failure instanceof SendOutcomeUnknownError) || isOfTheLedger(failure.cause)) return undefined;
  const { session, desk } = outbox;
  const { messageId } = failure;
  const scope = createScope(session.clock, [options.signal, session.closed]);
  scope.deadline(lookMs, () => failure);
  const { headers } = options;
  const call = { signal: scope.signal, timeoutMs: lookMs, ...defined({ headers }) };
  try {
    const intent = (await readIntent(session, messageId))?.record;
    const after = intent?.contextId === undefined ? timeOf(intent) : undefined;
    const search = searchFor(outbox, messageId, intent, call);
    const result = await findMessage(session, { ...search, isOnce: true, ...defined({ after }) });
    return result.outcome === "found" ? await desk.find(result.taskId) : undefined;
  } catch {
    // Who gave up hears his own reason. Whatever else kept it from being found, the unknown outcome is the news.
    if (scope.signal.reason !== failure && isCallersAbort(scope)) throw scope.signal.reason;
    return undefined;
  } finally {
    scope.release();
  }
}

/** Lists the messages of which nobody knows yet what became of them. Throws the ledger errors. */
export async function listOpenIntents(session: Session, query: OpenIntentsQuery): Promise<OpenIntents> {
  const { ledger, cardKey, options } = session;
  checkOptions(query, { updatedBefore: "text", pageSize: "any", pageToken: "any" });
  const { updatedBefore, pageSize, pageToken } = query;
  const { entries, unreadable, nextPageToken } = await ledger.list({
    kind: "intent",
    cardUrl: cardKey,
    principal: options.principal,
    states: ["open", "unknown"],
    ...defined({ updatedBefore, pageSize, pageToken }),
  });
  const intents = entries.flatMap(({ record }) => (record.kind === "intent" ? [record] : []));
  return Object.freeze({ intents: Object.freeze(intents), unreadable, ...defined({ nextPageToken }) });
}

function searchFor(
  outbox: Outbox,
  messageId: string,
  intent: IntentRecord | undefined,
  options: CallOptions,
): MessageSearch {
  const { session } = outbox;
  const plan = outbox.plan();
  return {
    messageId,
    ...defined({ contextId: intent?.contextId }),
    maxPages: maxNewPages,
    holder: plan,
    options,
    isOurs: async (id) => id !== messageId && (await readIntent(session, id)) !== undefined,
    async take(task, forceCheck) {
      const entry = await adopt(outbox, intent, task.id, task.contextId);
      await settleIntent(session, messageId, { state: "answered", answer: { taskId: task.id } });
      // Under another pin than the one that was just checked its content stays withheld; the handle asks for it.
      const { tracked, holder } = entry;
      if (holder.pin.digest !== plan.pin.digest) return;
      await receiveTask(task, { tracked, holder, source: "list", forceCheck, omissions: omitted });
    },
  };
}

/** 3.1.4: a listing may leave out artifacts, and cut histories. */
const omitted = { history: true, artifacts: true };

/** The handle of the task that works on a message, under the pin that the message was sent under. */
async function adopt(
  { desk, plan, session }: Outbox,
  intent: IntentRecord | undefined,
  taskId: string,
  contextId?: string,
): Promise<HandleEntry> {
  const known = await desk.find(taskId);
  if (known) return known;
  const planned = plan();
  const { pin, requirements } = intent ?? planned;
  const held = pin.digest === planned.pin.digest ? planned.pin : pin;
  return desk.adopt(taskId, contextId, { pin: held, requirements, policy: policyOf(session) });
}

async function readIntent(
  { ledger, cardKey, options }: Session,
  messageId: string,
): Promise<LedgerEntry<IntentRecord> | undefined> {
  const entry = await ledger.read(intentKey(cardKey, options.principal, messageId));
  return entry?.record.kind === "intent" ? (entry as LedgerEntry<IntentRecord>) : undefined;
}

/**
 * Writes down what became of a message; what somebody else found meanwhile stands, and where it is said to be refused,
 * whatever they wrote.
 *
 * @param known - the intent as it was when it was looked for.
 * @returns what stands.
 */
async function settleIntent(
  session: Session,
  messageId: string,
  found: Pick<IntentRecord, "state" | "answer">,
  known?: LedgerEntry<IntentRecord>,
): Promise<IntentRecord | undefined> {
  const entry = known ?? (await readIntent(session, messageId));
  if (!entry) return undefined;
  let base = entry.record;
  let isTheirs = base.state === "answered";
  const current = (): IntentRecord =>
    isTheirs ? base : { ...base, ...found, updatedAt: isoTime(session.clock.now()) };
  const merge = (theirs: IntentRecord) => {
    base = theirs;
    isTheirs = base.state === "answered" || found.state === "refused";
  };
  const { record } = await writeRecord<IntentRecord>(session.ledger, entry, {
    key: entry.key,
    current,
    merge,
  });
  return record;
}

/** Whether this agent is known to answer without a task, bounded to what a few pages of the ledger show. */
async function answersWithMessages({ ledger, cardKey, options }: Session): Promise<boolean> {
  let pageToken: string | undefined;
  for (let page = 0; page < 10; page++) {
    const query = { kind: "intent", cardUrl: cardKey, principal: options.principal } as const;
    const listed = await ledger.list({ ...query, states: ["answered"], ...defined({ pageToken }) });
    const isOne = ({ record }: LedgerEntry) =>
      record.kind === "intent" && record.answer !== undefined && "message" in record.answer;
    if (listed.entries.some(isOne)) return true;
    pageToken = listed.nextPageToken;
    if (pageToken === undefined) return false;
  }
  return false;
}

/** From when on a message can have come in, by a clock that may be apart from ours. */
function timeOf(intent: IntentRecord | undefined): string | undefined {
  const sentMs = parseTime(intent?.sentAt ?? "");
  return sentMs === undefined ? undefined : isoTime(sentMs - clockMarginMs);
}

function isOfTheLedger(cause: unknown): boolean {
  return cause instanceof LedgerUnavailableError || cause instanceof LedgerConflictError;
}
