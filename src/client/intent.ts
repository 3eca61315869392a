import { intentKey } from "../ledger/ledger.ts";
import type { Message } from "../model/message.ts";
import type { IntentRecord, IntentState, LedgerEntry } from "../model/record.ts";
import type { CardRequirements } from "../model/requirements.ts";
import { isoTime } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import type { LeaseHolder, Session } from "./session.ts";

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
  let entry: LedgerEntry | undefined;
  const sentAt = isoTime(clock.now());

  async function write(state: IntentState, answer?: IntentRecord["answer"]): Promise<void> {
    const record: IntentRecord = {
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
    // A message that is sent again by its caller has an intent already.
    entry ??= await ledger.read(key);
    entry = await ledger.write(key, record, entry?.revision ?? 0);
  }

  await write("open");
  return {
    // What became of the message is known by now, and must not give way to a failure to write it down: an intent that
    // stays open is looked up again.
    close: (state, answer) => write(state, answer).catch(() => {}),
    reopen: () => write("open"),
  };
}
