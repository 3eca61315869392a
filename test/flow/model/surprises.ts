import {
  type CallExchange,
  endOf,
  type KnownStatus,
  type RunRecord,
  type Sighting,
  type Step,
} from "./record.ts";

/** Something from the agent that the card must be asked about, and the step that waits for the answer. */
export interface Surprise {
  readonly step: Step;
  /** What it was. */
  readonly label: string;
  /** When it was there. */
  readonly at: number;
  /** Until when the card must have been asked: the step's end, or what surprised it next. */
  readonly until: number;
  /** Name of the error that it is, where it is one; a status is none, whatever the rules will say of it. */
  readonly error: string | undefined;
  /** Whether the step had to see it as one: no other step could have learnt the same just before. */
  readonly isCertain: boolean;
  /** Whether a check went alongside the call, so that it can have failed first. */
  readonly isAlongside: boolean;
  /** Whether the call went once more, with other credentials. */
  readonly isRepeated: boolean;
}

/** Errors that a changed card would explain (design 4), by their JSON-RPC codes. */
const errorsByCode: Readonly<Record<number, string>> = Object.freeze({
  [-32602]: "InvalidParamsError",
  [-32601]: "MethodNotFoundError",
  [-32003]: "PushNotificationNotSupportedError",
  [-32004]: "UnsupportedOperationError",
  [-32005]: "ContentTypeNotSupportedError",
  [-32006]: "InvalidAgentResponseError",
  [-32007]: "ExtendedAgentCardNotConfiguredError",
  [-32008]: "ExtensionSupportRequiredError",
  [-32009]: "VersionNotSupportedError",
  401: "AuthenticationError",
  403: "AuthorizationError",
});
const askingStates: ReadonlySet<string> = new Set([
  "TASK_STATE_INPUT_REQUIRED",
  "TASK_STATE_AUTH_REQUIRED",
  "TASK_STATE_REJECTED",
]);
const plainStates: ReadonlySet<string> = new Set([
  "TASK_STATE_SUBMITTED",
  "TASK_STATE_WORKING",
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
]);
const finalStates: ReadonlySet<string> = new Set([
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
  "TASK_STATE_REJECTED",
]);

/** Steps whose calls depend on the card. */
const leased: ReadonlySet<Step["kind"]> = new Set(["send", "stream", "reply", "get", "find", "subscribe"]);

/** Whether a call depends on the card: not the way out, and not the reads that go with it (design 4). */
export function isLeased(call: CallExchange, step: Step): boolean {
  // A subscription that was refused reads the task first, since a finished one is no surprise.
  if (step.kind === "subscribe") return call.operation === "SubscribeToTask";
  return leased.has(step.kind) && call.operation !== "CancelTask";
}

/** The calls that were made for a step. */
export function callsOf({ exchanges }: RunRecord, { id }: Step): readonly CallExchange[] {
  return exchanges.filter((item): item is CallExchange => item.kind === "call" && item.stepId === id);
}

/** Everything in a run that had to be asked about, in order of the steps. */
export function surprisesOf(record: RunRecord): readonly Surprise[] {
  return record.steps.flatMap((step) => {
    const found = callsOf(record, step)
      .filter((call) => isLeased(call, step))
      .flatMap((call) => surprisesIn(record, step, call));
    return found.map((item) => ({ ...item, until: untilOf(item, found) }));
  });
}

function untilOf(surprise: Surprise, all: readonly Surprise[]): number {
  const later = all.filter(({ step, at }) => step === surprise.step && at > surprise.at);
  return Math.min(endOf(surprise.step), ...later.map(({ at }) => at));
}

function surprisesIn(record: RunRecord, opener: Step, call: CallExchange): Surprise[] {
  const { answer, sightings, stalledAt } = call;
  if (!answer) return [];
  const isRepeated = callsOf(record, opener).some(
    ({ at, operation }) => operation === call.operation && at > answer.at,
  );
  const isSend = call.operation === "SendMessage" || call.operation === "SendStreamingMessage";
  const about = { isAlongside: !isSend, isRepeated, isCertain: true, until: 0 };
  const isStream = answer.mediaType === "text/event-stream";
  const refusal = errorsByCode[answer.status];
  if (refusal)
    return [{ ...about, step: opener, label: `HTTP ${answer.status}`, at: answer.at, error: refusal }];
  if (answer.status === 404 || answer.mediaType === "text/html") {
    const label = `HTTP ${answer.status} ${answer.mediaType}`;
    return [{ ...about, step: opener, label, at: answer.at, error: "HttpStatusError" }];
  }
  const found: Surprise[] = [];
  const isStreamingCall = call.operation === "SendStreamingMessage" || call.operation === "SubscribeToTask";
  const isAnEvent = (sighting: Sighting) => isStreamingCall && (isStream || sighting.code === undefined);
  const [first] = sightings;
  if (isStreamingCall && !isStream && first && first.code === undefined) {
    const label = "no event stream";
    found.push({ ...about, step: opener, label, at: answer.at, error: undefined });
  }
  for (const sighting of sightings) {
    const step = isAnEvent(sighting) ? readerOf(record, opener, sighting) : opener;
    if (!step) continue;
    const seen = judgeSighting(record, step, call, sighting);
    if (seen) found.push({ ...about, step, isAlongside: about.isAlongside && !isStream, ...seen });
  }
  if (stalledAt !== undefined) {
    const step = readerOf(record, opener, { at: stalledAt });
    const silence = { label: "a silent stream", at: stalledAt, error: "StreamStalledError" };
    if (step) found.push({ ...about, step, isAlongside: false, ...silence });
  }
  return found;
}

/** The step that takes an event off a stream. */
function readerOf({ steps }: RunRecord, opener: Step, { at }: { readonly at: number }): Step | undefined {
  return steps.find(({ stream, ...step }) => stream === opener.id && (step.settled?.at ?? at + 1) > at);
}

type Seen = Pick<Surprise, "label" | "at" | "error" | "isCertain">;

function judgeSighting(
  record: RunRecord,
  step: Step,
  call: CallExchange,
  sighting: Sighting,
): Seen | undefined {
  const { code, at, status, before } = sighting;
  if (code === -32001) {
    const knew = step.before !== undefined;
    return knew ? { label: "-32001", at, error: "TaskNotFoundError", isCertain: true } : undefined;
  }
  if (code === -32004 && call.operation === "SubscribeToTask" && step.kind === "subscribe") {
    return judgeUnsupported(record, step, sighting);
  }
  if (code !== undefined) {
    const error = errorsByCode[code];
    return error ? { label: String(code), at, error, isCertain: true } : undefined;
  }
  if (!status) return undefined;
  const isUnheardOf = !plainStates.has(status.state) && !askingStates.has(status.state);
  if (!isUnheardOf && (!askingStates.has(status.state) || isSame(before, status))) return undefined;
  return {
    label: isUnheardOf ? "a state unheard of" : status.state,
    at,
    error: undefined,
    isCertain: !isContested(record, step, sighting),
  };
}

/** 3.1.6: a finished task can't be subscribed to; so the task is read before the card is asked. */
function judgeUnsupported(record: RunRecord, step: Step, { at }: Sighting): Seen | undefined {
  const look = callsOf(record, step).find((item) => item.operation === "GetTask" && item.at > at);
  const end = look?.answer?.at ?? look?.failure?.at;
  const surprise = { label: "-32004", error: "UnsupportedOperationError" };
  // Without an answer nobody knows whether the task is over, or when that was given up.
  if (!look || end === undefined) return { ...surprise, at, isCertain: false };
  const state = look.sightings[0]?.status?.state;
  if (state !== undefined && finalStates.has(state)) return undefined;
  return { ...surprise, at: end, isCertain: true };
}

/** Whether another step may have learnt the same of the task meanwhile, so that it was no news. */
function isContested({ exchanges, steps }: RunRecord, step: Step, { at, taskId }: Sighting): boolean {
  const until = endOf(step);
  const others = steps.filter((item) => item !== step && endOf(item) > at && item.startedAt < until);
  return exchanges.some((call) => {
    if (call.kind !== "call") return false;
    const isOthers = others.some(({ id, stream }) => call.stepId === id || call.stepId === stream);
    return (
      isOthers && call.sightings.some((seen) => seen.taskId === taskId && seen.at !== at && seen.at < until)
    );
  });
}

function isSame(a: KnownStatus | undefined, b: KnownStatus): boolean {
  return a?.state === b.state && a.timestamp === b.timestamp && a.messageId === b.messageId;
}
