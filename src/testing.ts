export {
  answer,
  type CardLike,
  type Reply,
  type StreamEnd,
  type StreamOptions,
} from "./testing/answers.ts";
export type { NextCard } from "./testing/card-desk.ts";
export {
  type ArtifactDetails,
  type Content,
  type EventPlace,
  event,
  type StatusDetails,
} from "./testing/events.ts";
export { type Frame, frame, type StreamItem } from "./testing/frames.ts";
export type { AgentFetch } from "./testing/in-process.ts";
export {
  type LedgerCase,
  type LedgerFactory,
  type LedgerFactoryOptions,
  type LedgerHouse,
  ledgerSuite,
} from "./testing/ledger-suite.ts";
export type { AgentListener } from "./testing/loopback.ts";
export {
  createLoopbackReceiver,
  type LoopbackReceiver,
  type LoopbackReceiverOptions,
  type ReceivedRequest,
  type WebHandler,
} from "./testing/loopback-receiver.ts";
export type { ScriptedAgentOptions } from "./testing/options.ts";
export type { PushAttempt } from "./testing/push-sender.ts";
export type { OutgoingPush, PushBehaviour } from "./testing/push-settings.ts";
export type { RotationMoment } from "./testing/rotations.ts";
export type { Behaviour, Handler, Scripted, ScriptedParams, ScriptedRequest } from "./testing/script-book.ts";
export { createScriptedAgent, type ScriptedAgent } from "./testing/scripted-agent.ts";
export type { AgentSettings } from "./testing/settings.ts";
export { step, type TaskPlan, type TaskStep } from "./testing/steps.ts";
export type { AgentTasks } from "./testing/task-desk.ts";
export { createTestCard } from "./testing/test-card.ts";
export { createTestClock, type TestClock, type TestClockOptions } from "./testing/test-clock.ts";
export { createTestNetwork } from "./testing/test-network.ts";
export type { TranscriptEntry, TranscriptOutcome } from "./testing/transcript.ts";
