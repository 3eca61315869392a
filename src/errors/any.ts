import type { AuthenticationError, AuthorizationError, CredentialOriginError } from "./auth.ts";
import { type A2ALeaseError, isBranded } from "./base.ts";
import type {
  CardAuthError,
  CardInvalidError,
  CardNotFoundError,
  CardSignatureError,
  CardUnreachableError,
  CardUnreadableError,
  NoSupportedInterfaceError,
  ProtocolVersionError,
} from "./card.ts";
import type { CredentialMissingError, TokenRequestError } from "./credentials.ts";
import type {
  CapabilityMissingError,
  CardDriftError,
  LeaseUnverifiableError,
  RequirementUnmetError,
} from "./lease.ts";
import type { LedgerConflictError, LedgerUnavailableError } from "./ledger.ts";
import type {
  CancelNotConfirmedError,
  LifecycleMismatchError,
  LifecycleNotTrustedError,
  TaskForgottenError,
  TaskTerminalError,
} from "./lifecycle.ts";
import type {
  ContentTypeNotSupportedError,
  ExtendedAgentCardNotConfiguredError,
  ExtensionSupportRequiredError,
  InternalError,
  InvalidAgentResponseError,
  InvalidParamsError,
  InvalidRequestError,
  MethodNotFoundError,
  ParseError,
  PushNotificationNotSupportedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnknownProtocolError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from "./protocol.ts";
import type { SendOutcomeUnknownError } from "./sending.ts";
import type { StreamInterruptedError, StreamReplacedError, StreamStalledError } from "./stream.ts";
import type {
  AddressRefusedError,
  ConnectionError,
  GatewayError,
  HttpStatusError,
  LimitExceededError,
  MalformedResponseError,
  RedirectRefusedError,
  TimeoutError,
} from "./transport.ts";

/** Every error that this library throws, as a closed union: `switch (error.code)` narrows it. */
export type AnyA2ALeaseError =
  | CardNotFoundError
  | CardAuthError
  | CardUnreachableError
  | CardUnreadableError
  | CardInvalidError
  | CardSignatureError
  | ProtocolVersionError
  | NoSupportedInterfaceError
  | CardDriftError
  | LeaseUnverifiableError
  | RequirementUnmetError
  | CapabilityMissingError
  | LifecycleMismatchError
  | LifecycleNotTrustedError
  | TaskTerminalError
  | TaskForgottenError
  | CancelNotConfirmedError
  | TaskNotFoundError
  | TaskNotCancelableError
  | PushNotificationNotSupportedError
  | UnsupportedOperationError
  | ContentTypeNotSupportedError
  | InvalidAgentResponseError
  | ExtendedAgentCardNotConfiguredError
  | ExtensionSupportRequiredError
  | VersionNotSupportedError
  | ParseError
  | InvalidRequestError
  | MethodNotFoundError
  | InvalidParamsError
  | InternalError
  | UnknownProtocolError
  | ConnectionError
  | TimeoutError
  | HttpStatusError
  | GatewayError
  | MalformedResponseError
  | LimitExceededError
  | RedirectRefusedError
  | AddressRefusedError
  | StreamInterruptedError
  | StreamReplacedError
  | StreamStalledError
  | AuthenticationError
  | AuthorizationError
  | CredentialOriginError
  | CredentialMissingError
  | TokenRequestError
  | SendOutcomeUnknownError
  | LedgerConflictError
  | LedgerUnavailableError;

/** Whether something caught is an error of this library, also one of another copy or of the other build. */
export function isA2ALeaseError(value: unknown): value is AnyA2ALeaseError {
  return isBranded(value);
}

/** The union and the base class name the same things; this fails to compile when they part. */
export type UnionIsErrors = AnyA2ALeaseError extends A2ALeaseError ? true : never;
