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
  /** Whether something else of the task was looked at before the card was asked. */
  readonly isLookedInto: boolean;
  /** Whether something surprised the same step later on, which then says what it comes to. */
  readonly isFollowed: boolean;
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
  401: "GatewayError",
  403: "GatewayError",
  404: "GatewayError",
});
const refusalsByStatus: Readonly<Record<number, string>> = Object.freeze({
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
  if (step.kind === "subscribe") return call.operation === "SubscribeToTask" || isLook(call, step);
  return leased.has(step.kind) && call.operation !== "CancelTask";
}

/** Whether an open stream looks at its task, because it is silent or because the agent refused to go on. */
function isLook({ operation, at }: CallExchange, { settled }: Step): boolean {
  return operation === "GetTask" && settled !== undefined && at > settled.at;
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
    return found.map((surprise) => {
      const later = found.filter((item) => item.step === surprise.step && item.at > surprise.at);
      const until = surprise.isLookedInto ? [] : later.map(({ at }) => at);
      return { ...surprise, isFollowed: later.length > 0, until: Math.min(endOf(surprise.step), ...until) };
    });
  });
}

function surprisesIn(record: RunRecord, opener: Step, call: CallExchange): Surprise[] {
  const isOfStream = opener.kind !== "reply" && isLook(call, opener);
  const reader = isOfStream ? readerOf(record, opener, call) : opener;
  const found = call.answer && reader ? judgeAnswer(record, reader, call, call.answer) : [];
  // Such a look is a leased one on silence, and an unleased one on a refusal.
  if (isOfStream) return found.map((item) => ({ ...item, isCertain: false }));
  // What a second look at a refused message's task shows is judged, and then the refusal itself.
  const isSecondLook = opener.kind === "reply" && call.operation === "GetTask";
  return isSecondLook ? found.map((item) => ({ ...item, isCertain: false })) : found;
}

function judgeAnswer(
  record: RunRecord,
  opener: Step,
  call: CallExchange,
  answer: NonNullable<CallExchange["answer"]>,
): Surprise[] {
  const { sightings, stalledAt, operation } = call;
  const about = {
    ...{ step: opener, until: 0, isFollowed: false, isLookedInto: false },
    isAlongside: operation !== "SendMessage" && operation !== "SendStreamingMessage",
    isRepeated: isRepeated(record, opener, call),
  };
  const refusal = refusalOf(call);
  if (refusal) {
    const explained = explain(record, opener, call);
    return explained ? [{ ...about, ...refusal, at: answer.at, ...explained }] : [];
  }
  const found: Surprise[] = [];
  const isStream = answer.mediaType === "text/event-stream";
  const isStreamingCall = operation === "SendStreamingMessage" || operation === "SubscribeToTask";
  const [first] = sightings;
  if (isStreamingCall && !isStream && first && first.code === undefined) {
    found.push({ ...about, label: "no event stream", at: answer.at, error: undefined, isCertain: true });
  }
  for (const sighting of sightings) {
    const isAnEvent = isStreamingCall && (isStream || sighting.code === undefined);
    const step = isAnEvent ? readerOf(record, opener, sighting) : opener;
    const seen = step && judgeSighting(record, step, call, sighting);
    if (seen) found.push({ ...about, step, isAlongside: about.isAlongside && !isStream, ...seen });
  }
  const step = stalledAt === undefined ? undefined : readerOf(record, opener, { at: stalledAt });
  if (stalledAt !== undefined && step) {
    const silence = { label: "a silent stream", at: stalledAt, error: "StreamStalledError", isCertain: true };
    found.push({ ...about, step, isAlongside: false, ...silence });
  }
  return found;
}

/** Whether the same call left once more for the step, after it was answered. */
function isRepeated(record: RunRecord, step: Step, { operation, answer }: CallExchange): boolean {
  return callsOf(record, step).some(
    (item) => item.operation === operation && item.at > (answer?.at ?? item.at),
  );
}

/** An answer that is surprising by its head alone. */
function refusalOf({ answer }: CallExchange): Pick<Surprise, "label" | "error"> | undefined {
  if (!answer) return undefined;
  const { status, mediaType } = answer;
  const error = refusalsByStatus[status];
  if (error) return { label: `HTTP ${status}`, error };
  return status === 404 || mediaType === "text/html"
    ? { label: `HTTP ${status} ${mediaType}`.trim(), error: "HttpStatusError" }
    : undefined;
}

/** The step that takes an event off a stream. */
function readerOf({ steps }: RunRecord, opener: Step, { at }: { readonly at: number }): Step | undefined {
  return steps.find(({ stream, ...step }) => stream === opener.id && (step.settled?.at ?? at + 1) > at);
}

type Seen = Pick<Surprise, "label" | "at" | "error" | "isCertain"> & Partial<Pick<Surprise, "isLookedInto">>;

function judgeSighting(
  record: RunRecord,
  step: Step,
  call: CallExchange,
  sighting: Sighting,
): Seen | undefined {
  const { code, at, status, before } = sighting;
  if (code !== undefined) {
    // An error in the middle of a stream is no refusal of the call.
    const explained = step.stream === undefined ? explain(record, step, call) : { isCertain: true };
    const evidence =
      code === -32001 ? evidenceOf(record, step, call) : { error: errorsByCode[code], isCertain: true };
    if (!explained || !evidence?.error) return undefined;
    const isCertain = explained.isCertain && evidence.isCertain !== false;
    return { label: String(code), at, error: evidence.error, ...explained, isCertain };
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

/** Whether a task that is not found was known: to the caller when it asked, or to somebody else by then. */
function evidenceOf(
  { exchanges }: RunRecord,
  { before }: Step,
  { taskId, answer }: CallExchange,
): { readonly error: string; readonly isCertain?: boolean } | undefined {
  const error = "TaskNotFoundError";
  if (before) return { error };
  const isSeen = exchanges.some(
    (other) =>
      other.kind === "call" &&
      other.sightings.some((seen) => seen.taskId === taskId && seen.at < (answer?.at ?? 0)),
  );
  return isSeen ? { error, isCertain: false } : undefined;
}

/**
 * A finished task can't be subscribed to (3.1.6) and takes no message (3.1.1); so the task is looked at before the card
 * is asked about a refusal. Nothing when the end of the task explains it.
 */
function explain(
  record: RunRecord,
  step: Step,
  { operation, answer, sightings }: CallExchange,
): Pick<Surprise, "isCertain" | "isLookedInto"> | undefined {
  const code = sightings[0]?.code;
  const isBySubscription = operation === "SubscribeToTask" && code === -32004;
  const isUnexplained =
    code === -32001 || code === -32006 || answer?.status === 401 || answer?.status === 403;
  const isByReply = step.kind === "reply" && operation === "SendMessage" && !isUnexplained;
  if (!isBySubscription && !isByReply) return { isCertain: true, isLookedInto: false };
  // Where a connection fails, the task is looked for at the next interface.
  const look = callsOf(record, step).findLast(
    (item) => item.operation === "GetTask" && item.at > (answer?.at ?? 0),
  );
  const state = look?.sightings[0]?.status?.state;
  if (state !== undefined && finalStates.has(state)) return undefined;
  // Without an answer nobody knows whether the task is over.
  return { isCertain: look?.answer !== undefined || look?.failure !== undefined, isLookedInto: true };
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
