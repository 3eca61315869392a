import { A2ALeaseError } from "../errors/base.ts";
import { CapabilityMissingError } from "../errors/lease.ts";
import type { Message } from "../model/message.ts";
import type { OperationName } from "../model/operations.ts";
import type { CardPin } from "../model/pin.ts";
import type { TaskPushNotificationConfig } from "../model/push.ts";
import { effectiveCard } from "./pinned.ts";
import { type PushConfigInput, preparePush } from "./push-input.ts";
import { createPushNote } from "./push-note.ts";
import type { LeaseHolder, Session } from "./session.ts";
import type { Delivery } from "./stream-parts.ts";

/** The push configuration that travels inside a send, so that no event is missed. */
export interface SendPush {
  readonly config: TaskPushNotificationConfig;
  /** Writes it down, before it leaves. */
  readonly open: () => Promise<void>;
  /** The agent named the task. Never fails. */
  readonly adopt: (taskId: string) => Promise<void>;
  /** The delivery of its message: what comes of that is what comes of it. */
  readonly follow: (delivery: Delivery) => Delivery;
}

/**
 * Refuses what asks for push notifications where the pinned card has none.
 *
 * @throws CapabilityMissingError.
 */
export function requirePush(operation: OperationName, pin: CardPin): void {
  if (effectiveCard(pin).capabilities.pushNotifications === true) return;
  throw new CapabilityMissingError("pushNotifications", operation, pin.digest);
}

/**
 * Prepares the push configuration of a send.
 *
 * @throws CapabilityMissingError where the pinned card has no push notifications; as {@link preparePush} does.
 */
export function prepareSendPush(
  session: Session,
  holder: LeaseHolder,
  message: Message,
  input: PushConfigInput,
): SendPush {
  const { pin } = holder;
  requirePush("SendMessage", pin);
  const prepared = preparePush(input, session.options.random);
  const { messageId, taskId } = message;
  const place = taskId === undefined ? { messageId } : { messageId, taskId };
  const note = createPushNote(session, prepared, { pin, ...place });
  let isAdopted = false;
  let dropping: Promise<void> | undefined;
  return {
    // Without the task, which the message names (proto, SendMessageConfiguration).
    config: prepared.config,
    open: note.open,
    async adopt(known) {
      isAdopted = true;
      await (known === taskId ? note.replace() : note.adopt(known));
    },
    follow: (delivery) => ({
      ...delivery,
      taken(isMessage) {
        // Of a message there is nothing to push; of a task that it was sent to there may be.
        if (isMessage && taskId === undefined) dropping = note.drop();
        delivery.taken(isMessage);
      },
      async lookAgain() {
        await dropping;
        return delivery.lookAgain();
      },
      async failed(error) {
        // Where the agent may have taken the message, it may push as well.
        const isRefused = error instanceof A2ALeaseError && error.retry !== "unknown-outcome";
        if (isRefused && !isAdopted) await note.drop();
        return delivery.failed(error);
      },
    }),
  };
}
