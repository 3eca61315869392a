import type { CardPin } from "../model/pin.ts";
import type { IntentRecord, LeaseRecord, TaskRecord } from "../model/record.ts";
import type { TrustRecord } from "../model/trust.ts";
import { isoTime } from "../util/clock.ts";

/** When the records of the contract were written, unless a case says otherwise: the start of the test clock. */
export const writtenMs = 1_767_225_600_000;

/** The same, RFC 3339. */
export const writtenAt = isoTime(writtenMs);

const pin: CardPin = {
  digest: `sha256:${"0".repeat(64)}`,
  structuralDigest: `sha256-s1:${"0".repeat(64)}`,
  version: "1.0.0",
  protocolVersion: "1.0",
  interface: { url: "https://agent.example/a2a", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
  skills: [],
  capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false, extensions: [] },
  inputModes: [],
  outputModes: [],
  securitySchemes: [],
  pinnedAt: writtenAt,
  card: {},
};

const common = {
  schema: 1,
  cardUrl: "https://agent.example/card",
  principal: "default",
  updatedAt: writtenAt,
} as const;

/** A task's record. */
export function taskRecord(taskId: string, changes: Partial<TaskRecord> = {}): TaskRecord {
  return {
    ...common,
    kind: "task",
    taskId,
    pin,
    formerPins: [],
    requirements: {},
    memory: { observations: [], replayCount: 0, lateCount: 0 },
    deviations: [],
    ...changes,
  };
}

/** A task's record, once the task was seen in a state. */
export function seenTask(taskId: string, state: string, changes: Partial<TaskRecord> = {}): TaskRecord {
  const task = { id: taskId, contextId: "context", status: { state } } as TaskRecord["task"];
  return taskRecord(taskId, { ...(task ? { task } : {}), ...changes });
}

/** An intent's record. */
export function intentRecord(messageId: string, changes: Partial<IntentRecord> = {}): IntentRecord {
  return { ...common, kind: "intent", messageId, pin, requirements: {}, state: "open", ...changes };
}

/** A record of trust. */
export function trustRecord(callee: string): TrustRecord {
  return {
    kind: "trust",
    schema: 1,
    callee,
    protocolVersion: "1.0",
    level: "lifecycle-trusted",
    digest: pin.digest,
    capabilities: ["streaming"],
    timestamps: true,
    originWaived: false,
    history: [{ at: writtenAt, level: "lifecycle-trusted", reason: "a probe passed" }],
    updatedAt: writtenAt,
  };
}

/** The record of who checks a card. */
export function leaseRecord(holder: string): LeaseRecord {
  return { ...common, kind: "lease", holder, ttlMs: 5_000, expiresAt: isoTime(writtenMs + 5_000) };
}
