import type { OperationName } from "../model/operations.ts";
import type { JsonObject } from "../model/schema.ts";
import type { Task } from "../model/task.ts";
import { A2ALeaseError, type NextStep, type RetryAdvice } from "./base.ts";

/** What the remote side said in an error answer, whichever binding carried it. */
export interface RemoteErrorDetails {
  /** The operation that was answered. */
  readonly operation: OperationName;
  /** The agent's message. */
  readonly remoteMessage: string;
  /** JSON-RPC code, where the answer had one. */
  readonly rpcCode?: number;
  /** HTTP status of the answer. */
  readonly httpStatus?: number;
  /** `reason` of a `google.rpc.ErrorInfo` in the details. */
  readonly reason?: string;
  /** The details as sent, bounded. */
  readonly details?: readonly JsonObject[];
  /** How long the agent asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The task that the error is about, where it was read again. */
  readonly task?: Task;
}

/** Base of the errors that an agent answers by protocol; not exported, since `code` tells them apart. */
abstract class RemoteError extends A2ALeaseError {
  /** The operation that was answered. */
  readonly operation: OperationName;
  /** JSON-RPC code, where the answer had one. */
  readonly rpcCode?: number;
  /** HTTP status of the answer. */
  readonly httpStatus?: number;
  /** `reason` of a `google.rpc.ErrorInfo` in the details. */
  readonly reason?: string;
  /** The details as sent, bounded. */
  readonly details?: readonly JsonObject[];
  /** The task that the error is about, where it was read again. */
  readonly task?: Task;

  constructor(name: string, remote: RemoteErrorDetails, retry: RetryAdvice, nextStep: NextStep) {
    const found = [
      remote.rpcCode === undefined ? undefined : `code ${remote.rpcCode}`,
      remote.httpStatus === undefined ? undefined : `HTTP ${remote.httpStatus}`,
      remote.reason,
    ];
    const codes = found.filter((item) => item !== undefined).join(", ");
    const shown = codes ? `${name} (${codes})` : name;
    super(`${remote.operation} was answered with ${shown}: ${remote.remoteMessage}`, {
      retry,
      nextStep,
      retryAfterMs: remote.retryAfterMs,
    });
    this.operation = remote.operation;
    if (remote.rpcCode !== undefined) this.rpcCode = remote.rpcCode;
    if (remote.httpStatus !== undefined) this.httpStatus = remote.httpStatus;
    if (remote.reason !== undefined) this.reason = remote.reason;
    if (remote.details !== undefined) this.details = remote.details;
    if (remote.task !== undefined) this.task = remote.task;
  }
}

/** The agent does not know the task, or the caller may not see it (-32001). */
export class TaskNotFoundError extends RemoteError {
  static readonly code = "TASK_NOT_FOUND";
  override readonly name = "TaskNotFoundError";
  override readonly code = "TASK_NOT_FOUND";

  constructor(remote: RemoteErrorDetails) {
    super("TaskNotFoundError", remote, "never", "replan");
  }
}

/** The task can't be cancelled, it is over (-32002). */
export class TaskNotCancelableError extends RemoteError {
  static readonly code = "TASK_NOT_CANCELABLE";
  override readonly name = "TaskNotCancelableError";
  override readonly code = "TASK_NOT_CANCELABLE";

  constructor(remote: RemoteErrorDetails) {
    super("TaskNotCancelableError", remote, "never", "replan");
  }
}

/** The agent sends no push notifications (-32003). */
export class PushNotificationNotSupportedError extends RemoteError {
  static readonly code = "PUSH_NOTIFICATION_NOT_SUPPORTED";
  override readonly name = "PushNotificationNotSupportedError";
  override readonly code = "PUSH_NOTIFICATION_NOT_SUPPORTED";

  constructor(remote: RemoteErrorDetails) {
    super("PushNotificationNotSupportedError", remote, "never", "replan");
  }
}

/** The agent does not support the operation, or not for this task (-32004). */
export class UnsupportedOperationError extends RemoteError {
  static readonly code = "UNSUPPORTED_OPERATION";
  override readonly name = "UnsupportedOperationError";
  override readonly code = "UNSUPPORTED_OPERATION";

  constructor(remote: RemoteErrorDetails) {
    super("UnsupportedOperationError", remote, "never", "replan");
  }
}

/** A media type of the message is not supported (-32005). */
export class ContentTypeNotSupportedError extends RemoteError {
  static readonly code = "CONTENT_TYPE_NOT_SUPPORTED";
  override readonly name = "ContentTypeNotSupportedError";
  override readonly code = "CONTENT_TYPE_NOT_SUPPORTED";

  constructor(remote: RemoteErrorDetails) {
    super("ContentTypeNotSupportedError", remote, "never", "replan");
  }
}

/** The server says that its agent answered outside the spec (-32006). */
export class InvalidAgentResponseError extends RemoteError {
  static readonly code = "INVALID_AGENT_RESPONSE";
  override readonly name = "InvalidAgentResponseError";
  override readonly code = "INVALID_AGENT_RESPONSE";

  constructor(remote: RemoteErrorDetails) {
    super("InvalidAgentResponseError", remote, "never", "give-up");
  }
}

/** The agent has no extended card configured (-32007). */
export class ExtendedAgentCardNotConfiguredError extends RemoteError {
  static readonly code = "EXTENDED_AGENT_CARD_NOT_CONFIGURED";
  override readonly name = "ExtendedAgentCardNotConfiguredError";
  override readonly code = "EXTENDED_AGENT_CARD_NOT_CONFIGURED";

  constructor(remote: RemoteErrorDetails) {
    super("ExtendedAgentCardNotConfiguredError", remote, "never", "replan");
  }
}

/** The agent demands an extension that the call did not declare (-32008). */
export class ExtensionSupportRequiredError extends RemoteError {
  static readonly code = "EXTENSION_SUPPORT_REQUIRED";
  override readonly name = "ExtensionSupportRequiredError";
  override readonly code = "EXTENSION_SUPPORT_REQUIRED";

  constructor(remote: RemoteErrorDetails) {
    super("ExtensionSupportRequiredError", remote, "never", "replan");
  }
}

/** The agent does not speak the protocol version of the call (-32009). */
export class VersionNotSupportedError extends RemoteError {
  static readonly code = "VERSION_NOT_SUPPORTED";
  override readonly name = "VersionNotSupportedError";
  override readonly code = "VERSION_NOT_SUPPORTED";

  constructor(remote: RemoteErrorDetails) {
    super("VersionNotSupportedError", remote, "never", "replan");
  }
}

/** The server could not parse the request as JSON (-32700). */
export class ParseError extends RemoteError {
  static readonly code = "PARSE_ERROR";
  override readonly name = "ParseError";
  override readonly code = "PARSE_ERROR";

  constructor(remote: RemoteErrorDetails) {
    super("ParseError", remote, "never", "give-up");
  }
}

/** The server says that the request is no valid request object (-32600). */
export class InvalidRequestError extends RemoteError {
  static readonly code = "INVALID_REQUEST";
  override readonly name = "InvalidRequestError";
  override readonly code = "INVALID_REQUEST";

  constructor(remote: RemoteErrorDetails) {
    super("InvalidRequestError", remote, "never", "give-up");
  }
}

/** The server does not have the method (-32601). */
export class MethodNotFoundError extends RemoteError {
  static readonly code = "METHOD_NOT_FOUND";
  override readonly name = "MethodNotFoundError";
  override readonly code = "METHOD_NOT_FOUND";

  constructor(remote: RemoteErrorDetails) {
    super("MethodNotFoundError", remote, "never", "replan");
  }
}

/** The server refuses the parameters (-32602). Never transient. */
export class InvalidParamsError extends RemoteError {
  static readonly code = "INVALID_PARAMS";
  override readonly name = "InvalidParamsError";
  override readonly code = "INVALID_PARAMS";

  constructor(remote: RemoteErrorDetails) {
    super("InvalidParamsError", remote, "never", "replan");
  }
}

/** The server failed (-32603). On a write the outcome is unknown. */
export class InternalError extends RemoteError {
  static readonly code = "INTERNAL_ERROR";
  override readonly name = "InternalError";
  override readonly code = "INTERNAL_ERROR";

  constructor(remote: RemoteErrorDetails) {
    super("InternalError", remote, "unknown-outcome", "wait");
  }
}

/** The agent answered an error that the spec does not name. */
export class UnknownProtocolError extends RemoteError {
  static readonly code = "UNKNOWN_PROTOCOL_ERROR";
  override readonly name = "UnknownProtocolError";
  override readonly code = "UNKNOWN_PROTOCOL_ERROR";

  constructor(remote: RemoteErrorDetails) {
    super("UnknownProtocolError", remote, "never", "give-up");
  }
}
