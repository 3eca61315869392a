import { A2ALeaseError, reasonText } from "./base.ts";

/**
 * A message left and no usable answer came back: the agent may or may not be working on it. It was not sent again, and
 * sending it again is the caller's decision, since two sends make two tasks.
 */
export class SendOutcomeUnknownError extends A2ALeaseError {
  static readonly code = "SEND_OUTCOME_UNKNOWN";
  override readonly name = "SendOutcomeUnknownError";
  override readonly code = "SEND_OUTCOME_UNKNOWN";
  /** Id of the message, to look for it at the agent. */
  readonly messageId: string;
  /** Context that the message was sent to. */
  readonly contextId?: string;
  /** Task that the message was sent to. */
  declare readonly taskId?: string;

  constructor(message: { messageId: string; contextId?: string; taskId?: string }, cause: unknown) {
    super(`the outcome of sending message ${message.messageId} is unknown: ${reasonText(cause)}`, {
      retry: "unknown-outcome",
      nextStep: "recover",
      cause,
      retryAfterMs: cause instanceof A2ALeaseError ? cause.retryAfterMs : undefined,
    });
    this.messageId = message.messageId;
    if (message.contextId !== undefined) this.contextId = message.contextId;
    if (message.taskId !== undefined) this.taskId = message.taskId;
  }
}
