/**
 * `a2a-lease`: a typed A2A v1.0 client that pins the agent card on every task handle and throws typed drift errors
 * instead of retrying blindly.
 *
 * @packageDocumentation
 */
export type {
  Binding,
  BindingAnswer,
  BindingCall,
  BindingFactory,
  BindingOptions,
  BindingStream,
  StreamingOperation,
  UnaryOperation,
} from "./binding/binding.ts";
export { readBindingAnswer, writeBindingRequest } from "./binding/body.ts";
export { createHttpJsonBinding } from "./binding/http-json.ts";
export { createJsonRpcBinding } from "./binding/jsonrpc.ts";
export type { AddressContext, AddressPolicy } from "./card/address-policy.ts";
export { diffCards } from "./card/diff.ts";
export { cardDigest, cardStructureDigest } from "./card/digest.ts";
export type { CardInput } from "./card/parse.ts";
export type { CardSignatureOptions, SignatureCheckOptions } from "./card/signature-options.ts";
export type { KeyLike, PublicKeyInput, TrustedKeyInput } from "./card/trusted-keys.ts";
export { type VerifySignaturesOptions, verifyCardSignatures } from "./card/verify-signatures.ts";
export { type Agents, createAgents } from "./client/agents.ts";
export type { CallOptions } from "./client/call.ts";
export { A2AClient } from "./client/client.ts";
export type { CardSourceInput } from "./client/create.ts";
export { createClient } from "./client/create.ts";
export type { DelegateOptions, DelegateOutcome } from "./client/delegate.ts";
export { type AnyA2ALeaseError, CardDriftError, isA2ALeaseError } from "./client/drift-error.ts";
export type { SendReply, TaskStream } from "./client/handle.ts";
export { TaskHandle } from "./client/handle.ts";
export type { MessageFields, MessageInput, SendOptions } from "./client/message.ts";
export type { Listener } from "./client/observer.ts";
export type { ClientOptions, TimeoutOptions } from "./client/options.ts";
export type { Recovery } from "./client/outbox.ts";
export { bytesOf, dataPart, filePart, type PartsText, textOf, textPart } from "./client/parts.ts";
export type { ProbeOptions } from "./client/probe-options.ts";
export type { ProbeReceiver } from "./client/probe-push.ts";
export type { CreatePushConfigRequest } from "./client/push-client.ts";
export type { PushConfigs } from "./client/push-configs.ts";
export type { PushConfigInput } from "./client/push-input.ts";
export type { ListPushConfigsOptions, PushConfigPage } from "./client/push-page.ts";
export type { FollowOptions, ResultOptions, TaskOutcome } from "./client/result-options.ts";
export type { AgentTrust } from "./client/session.ts";
export type {
  CancelOptions,
  GetOptions,
  RenegotiateOptions,
  SalvagedTask,
  SkippedFrames,
} from "./client/task-options.ts";
export type { TaskFailure, TaskPage } from "./client/task-page.ts";
export { type ToolResult, toToolResult } from "./client/tool-result.ts";
export type { WatchOptions } from "./client/watch.ts";
export type { ProvidersByScheme } from "./credentials/assign.ts";
export { chooseRequirement, type RequirementSource } from "./credentials/choose.ts";
export { createCredentials } from "./credentials/create.ts";
export {
  type ApiKeyOptions,
  apiKey,
  type BasicCredentials,
  basic,
  bearer,
  mutualTls,
  type SecretSource,
} from "./credentials/ready.ts";
export { AuthenticationError, AuthorizationError, CredentialOriginError } from "./errors/auth.ts";
export { A2ALeaseError, type ErrorJson, type NextStep, type RetryAdvice } from "./errors/base.ts";
export {
  type CardAttempt,
  CardAuthError,
  CardInvalidError,
  type CardIssue,
  CardNotFoundError,
  CardSignatureError,
  CardUnreachableError,
  CardUnreadableError,
  type CardUnreadableReason,
  NoSupportedInterfaceError,
  ProtocolVersionError,
  type UnusableInterface,
} from "./errors/card.ts";
export {
  CredentialMissingError,
  type TokenFailureReason,
  TokenRequestError,
} from "./errors/credentials.ts";
export {
  CapabilityMissingError,
  LeaseUnverifiableError,
  type Renegotiated,
  RequirementUnmetError,
} from "./errors/lease.ts";
export {
  LedgerConflictError,
  type LedgerFailure,
  type LedgerFailureDetails,
  LedgerUnavailableError,
} from "./errors/ledger.ts";
export {
  CancelNotConfirmedError,
  type CardReference,
  LifecycleMismatchError,
  LifecycleNotTrustedError,
  TaskForgottenError,
  TaskTerminalError,
} from "./errors/lifecycle.ts";
export {
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
  type RemoteErrorDetails,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnknownProtocolError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from "./errors/protocol.ts";
export { SendOutcomeUnknownError } from "./errors/sending.ts";
export { StreamInterruptedError, StreamReplacedError, StreamStalledError } from "./errors/stream.ts";
export {
  AddressRefusedError,
  ConnectionError,
  type ConnectionFailureReason,
  GatewayError,
  HttpStatusError,
  LimitExceededError,
  MalformedResponseError,
  RedirectRefusedError,
  type ResponseIssue,
  type TimeBudget,
  TimeoutError,
} from "./errors/transport.ts";
export type { JudgeOptions } from "./lease/judge.ts";
export { judgeCard } from "./lease/judge.ts";
export { type PinCardOptions, pinCard } from "./lease/pin.ts";
export { type LedgerFacets, ledgerFacets } from "./ledger/facets.ts";
export type { Ledger } from "./ledger/ledger.ts";
export { createMemoryLedger, type MemoryLedgerOptions } from "./ledger/memory.ts";
export type { Artifact } from "./model/artifact.ts";
export type { AuthRequiredContext, AuthRequiredHook } from "./model/auth-required.ts";
export type {
  AgentCapabilities,
  AgentCard,
  AgentCardSignature,
  AgentExtension,
  AgentInterface,
  AgentProvider,
  AgentSkill,
} from "./model/card.ts";
export type {
  ClientEvent,
  ClientEventName,
  ClientEvents,
  CredentialsChosenEvent,
  DeviationEvent,
  DriftEvent,
  LeaseEndedEvent,
  LeaseGrantedEvent,
  LeaseRenewedEvent,
  LeaseRepinnedEvent,
  RetryEvent,
  StreamCutEvent,
  StreamResumedEvent,
} from "./model/client-events.ts";
export type {
  ChosenRequirement,
  ChosenScheme,
  CredentialContext,
  CredentialProvider,
  CredentialRequirements,
  Credentials,
  GivenCredentials,
  RequestCredentials,
  RequestedScheme,
  SchemeProvider,
} from "./model/credentials.ts";
export type { Deviation } from "./model/deviation.ts";
export type {
  CardChange,
  CardChangeImpact,
  CardChangeKind,
  CardComparison,
  CardDrift,
  CardVerdict,
  DriftPhase,
  DriftReason,
  LiveCard,
} from "./model/drift.ts";
export type {
  SendMessageResponse,
  StreamResponse,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
} from "./model/events.ts";
export type { Lease } from "./model/lease.ts";
export type { LedgerPage, LedgerQuery, UnreadableRecord } from "./model/ledger.ts";
export type { Message, Role } from "./model/message.ts";
export type {
  LifecycleRule,
  Observation,
  ObservationSource,
  StandstillDetails,
  TaskMemory,
} from "./model/observation.ts";
export type { CapabilityName, OperationName, Operations } from "./model/operations.ts";
export type {
  AnsweredOutcome,
  AuthRequiredOutcome,
  CanceledOutcome,
  CompletedOutcome,
  FailedOutcome,
  InputRequiredOutcome,
  Outcome,
  RejectedOutcome,
} from "./model/outcome.ts";
export type { DataPart, Part, PartMembers, RawPart, TextPart, UrlPart } from "./model/part.ts";
export type { CardDigests, CardPin, PinnedCapabilities, PinnedExtendedCard } from "./model/pin.ts";
export type { DriftDecision, LeasedTask, Posture } from "./model/posture.ts";
export type { ProbeCheck, ProbeCheckName, ProbeProgress, ProbeReport } from "./model/probe.ts";
export type {
  AuthenticationInfo,
  ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from "./model/push.ts";
export type { BrokenByPush, InboxRecord, KnownPushConfig, PushRecord } from "./model/push-record.ts";
export type {
  CheckedCard,
  FormerPin,
  IntentRecord,
  IntentState,
  LeaseRecord,
  LedgerEntry,
  LedgerRecord,
  TaskRecord,
} from "./model/record.ts";
export type { OpenIntents, OpenIntentsQuery, RecoveryGap } from "./model/recovery.ts";
export type {
  CancelTaskRequest,
  GetExtendedAgentCardRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageConfiguration,
  SendMessageRequest,
  SubscribeToTaskRequest,
  TaskPushNotificationConfigRequest,
} from "./model/requests.ts";
export type { CardRequirements, RequirementName, UnmetRequirement } from "./model/requirements.ts";
export type { RetryOptions, RetryRefusal, RetryReport } from "./model/retry.ts";
export type { JsonObject } from "./model/schema.ts";
export type {
  APIKeySecurityScheme,
  HTTPAuthSecurityScheme,
  MutualTlsSecurityScheme,
  OAuth2SecurityScheme,
  OAuthFlow,
  OpenIdConnectSecurityScheme,
  SecurityRequirement,
  SecurityScheme,
  SecuritySchemeKind,
  StringList,
} from "./model/security.ts";
export type {
  CanonicalForm,
  CardSignatureProblem,
  CardSignatureProfile,
  CardSignatureResult,
  CardSignatureVerdict,
  CardSigner,
  CheckedSignature,
} from "./model/signature.ts";
export type { SpecTaskState, TaskState } from "./model/states.ts";
export { isInterruptedState, isTerminalState, taskStates } from "./model/states.ts";
export type { Task, TaskStatus } from "./model/task.ts";
export type { ProbedCapability, TrustChange, TrustLevel, TrustRecord } from "./model/trust.ts";
export type { TaskUpdate } from "./model/update.ts";
export { checkProbe } from "./probe/verdict.ts";
export type { Clock } from "./util/clock.ts";
export type { Silence } from "./wire/event-stream.ts";
export type { FetchLike, HttpExchange, HttpRequest, HttpResponse } from "./wire/http.ts";
export type { Limits, Timeouts } from "./wire/limits.ts";
