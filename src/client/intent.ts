import { intentKey } from "../ledger/ledger.ts";
import type { Message } from "../model/message.ts";
import type { IntentRecord, IntentState, LedgerEntry } from "../model/record.ts";
import type { CardRequirements } from "../model/requirements.ts";
import { isoTime } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import type { LeaseHolder, Session } from "./session.ts";
import { writeRecord } from "./write-record.ts";

/** The intent to send one message, in the ledger before it leaves. */
export interface Intent {
  /** Says what became of it, and what answered; never fails. */
  close(state: Exclude<IntentState, "open">, answer?: IntentRecord["answer"]): Promise<void>;
  /** Says that the same message leaves once more. */
  reopen(): Promise<void>;
}

/**
 * Writes the intent to send a message.
 *
 * @throws LedgerUnavailableError and LedgerConflictError; then nothing may be sent.
 */
export async function openIntent(
  session: Session,
  message: Message,
  holder: LeaseHolder,
  requirements: CardRequirements,
): Promise<Intent> {
  const { ledger, clock, options } = session;
  const cardUrl = session.cardKey;
  const key = intentKey(cardUrl, options.principal, message.messageId);
  const { contextId, taskId } = message;
  const sentAt = isoTime(clock.now());

  function recordOf(state: IntentState, answer?: IntentRecord["answer"]): IntentRecord {
    return {
      kind: "intent",
      schema: 1,
      cardUrl,
      principal: options.principal,
      messageId: message.messageId,
      ...(contextId === undefined ? {} : { contextId }),
      ...(taskId === undefined ? {} : { taskId }),
      pin: holder.pin,
      requirements,
      state,
      sentAt,
      ...defined({ answer }),
      updatedAt: isoTime(clock.now()),
    };
  }

  // A message that is sent again by its caller has an intent already.
  const before = await ledger.read(key);
  const earlier = before?.record.kind === "intent" ? before.record : undefined;
  let entry = await ledger.write(key, recordOf("open"), before?.revision ?? 0);

  /** That this sending was refused says nothing of an earlier one. */
  function afterAll(state: IntentState, answer: IntentRecord["answer"]): IntentRecord {
    if (state !== "refused" || !earlier) return recordOf(state, answer);
    return recordOf(earlier.state === "open" ? "unknown" : earlier.state, earlier.answer);
  }

  async function close(state: IntentState, answer: IntentRecord["answer"]): Promise<void> {
    let record = afterAll(state, answer);
    entry = await writeRecord<IntentRecord>(ledger, entry as LedgerEntry<IntentRecord>, {
      key,
      current: () => record,
      merge(theirs) {
        if (weights[theirs.state] > weights[record.state]) record = theirs;
      },
    });
  }

  return {
    // What became of the message is known by now, and must not give way to a failure to write it down: an intent that
    // stays open is looked up again.
    close: (state, answer) => close(state, answer).catch(() => {}),
    async reopen() {
      entry = await ledger.write(key, recordOf("open"), entry.revision);
    },
  };
}

/** Of two workers that write what became of one message, whose word stands: that it was answered is never taken back. */
const weights: Readonly<Record<IntentState, number>> = { refused: 0, open: 1, unknown: 2, answered: 3 };
