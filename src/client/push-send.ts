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

/** The push configuration that travels inside a send, so that no event is missed. */
export interface SendPush {
  readonly config: TaskPushNotificationConfig;
  /** Writes it down, before it leaves. */
  readonly open: () => Promise<void>;
  /** The agent named the task. Never fails. */
  readonly adopt: (taskId: string) => Promise<void>;
  /** The agent answered with a message, so there is nothing to push. Never fails. */
  readonly drop: () => Promise<void>;
  /** The send failed: it is forgotten, unless the agent may have taken the message. Never fails. */
  readonly failed: (error: unknown) => Promise<void>;
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
  return {
    config: taskId === undefined ? prepared.config : { ...prepared.config, taskId },
    open: note.open,
    async adopt(known) {
      isAdopted = true;
      await (known === taskId ? note.replace() : note.adopt(known));
    },
    drop: note.drop,
    async failed(error) {
      const isRefused = error instanceof A2ALeaseError && error.retry !== "unknown-outcome";
      if (isRefused && !isAdopted) await note.drop();
    },
  };
}
