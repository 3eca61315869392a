import type { BindingCall, BindingStream } from "../binding/binding.ts";
import { secretsOf } from "../binding/secrets.ts";
import { MalformedResponseError } from "../errors/transport.ts";
import type { Deviation } from "../model/deviation.ts";
import type { OperationName } from "../model/operations.ts";
import { deepFreeze, isRecord } from "../util/freeze.ts";
import { holdsSecret, strikeJson, strikeSecrets } from "../util/strike.ts";

/** An error about an answer quotes it: what the agent gives back of our secrets is struck out. */
export function strikeError(error: unknown, call: BindingCall, request: object): unknown {
  if (!(error instanceof MalformedResponseError)) return error;
  const secrets = secretsOf(call, request);
  const body = error.body && strikeSecrets(error.body, secrets);
  return new MalformedResponseError(strikeJson(error.issues, secrets), body);
}

/** What an answer is looked at for. */
export interface Striking {
  readonly operation: OperationName;
  readonly call: BindingCall;
  readonly request: object;
  /** The secrets that the client has sent. */
  readonly sent: readonly string[];
  /** What authenticated the call itself. */
  readonly own: readonly string[];
}

/**
 * An answer, or a stream of them, without what the agent repeats in it of our secrets: what comes in is kept, told and
 * handed to models, and may be all of that at once. Nothing else is changed, and what was struck is a deviation.
 *
 * @throws MalformedResponseError when a secret stands in an id, by which the agent would be asked again.
 */
export function strikeAnswer<T>(answer: T, striking: Striking): T {
  if (!isRecord(answer)) return answer;
  if ("events" in answer) return strikeStream(answer as unknown as BindingStream, striking) as T;
  if (!("value" in answer) || !Array.isArray(answer.deviations)) return answer;
  const { value, isStruck } = strikeValue(answer.value, striking);
  const deviations = strikeAll(answer.deviations as readonly Deviation[], () => secretsTold(striking));
  if (!isStruck && deviations === answer.deviations) return answer;
  const told = isStruck ? Object.freeze([...deviations, repeated]) : deviations;
  return Object.freeze({ ...answer, value, deviations: told });
}

/** That an agent repeats a secret in what it answers. */
const repeated: Deviation = Object.freeze({
  kind: "repeated-secret",
  message: "found a secret of ours in an answer, wanted none; it is struck out",
});

/** The stream itself is asked for everything, at the moment at which it is wanted. */
function strikeStream(stream: BindingStream, striking: Striking): BindingStream {
  let isStruck = false;
  // Asked for with each event; a list that stays the same is looked for by the same patterns.
  let known: readonly string[] | undefined;
  const secrets = () => {
    known ??= secretsTold(striking);
    return known;
  };
  const events: BindingStream["events"] = {
    [Symbol.asyncIterator]() {
      const iterator = stream.events[Symbol.asyncIterator]();
      return {
        async next() {
          const { done, value } = await iterator.next();
          if (done) return { done, value };
          const struck = strikeValue(value, striking);
          isStruck ||= struck.isStruck;
          return { done: false, value: struck.value };
        },
        async return() {
          await iterator.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
  return {
    events,
    ...(stream.isWhole === undefined ? {} : { isWhole: stream.isWhole }),
    get deviations() {
      const own = strikeAll(stream.deviations, secrets);
      return isStruck ? Object.freeze([...own, repeated]) : own;
    },
    get skipped() {
      return strikeAll(stream.skipped, secrets);
    },
    get retryMs() {
      return stream.retryMs;
    },
    close: () => stream.close(),
  };
}

/** All that what is told of an answer may not hold: whatever went out with its request. */
function secretsTold({ call, request, sent }: Striking): readonly string[] {
  return [...new Set([...secretsOf(call, request), ...sent])];
}

function strikeAll<T extends object>(told: T, secretsOfCall: () => readonly string[]): T {
  if (Array.isArray(told) && told.length === 0) return told;
  const secrets = secretsOfCall();
  return holdsSecret(told, secrets) ? deepFreeze(strikeJson(told, secrets)) : told;
}

/** Operations that are answered with what they were sent: secrets of notifications, which are no strangers there. */
const ownAnswers: ReadonlySet<OperationName> = new Set([
  "CreateTaskPushNotificationConfig",
  "GetTaskPushNotificationConfig",
  "ListTaskPushNotificationConfigs",
]);

function strikeValue<T>(value: T, { operation, sent, own }: Striking): { value: T; isStruck: boolean } {
  // What an extended card may not hold is judged elsewhere.
  const isCard = operation === "GetExtendedAgentCard";
  if (isCard || !holdsSecret(value, sent)) return { value, isStruck: false };
  const strangers = ownAnswers.has(operation) ? own : sent;
  for (const { path, id } of idsIn(value)) {
    if (!holdsSecret(id, sent)) continue;
    const message = "found a secret of ours in an id, wanted an id without one";
    throw new MalformedResponseError([{ path, message }]);
  }
  if (!holdsSecret(value, strangers)) return { value, isStruck: false };
  return { value: deepFreeze(strikeJson(value, strangers)), isStruck: true };
}

/** Members by which an agent is asked again. */
const idNames: ReadonlySet<string> = new Set(["id", "taskId", "contextId", "artifactId", "nextPageToken"]);

/** Members in which such members stand; nothing in them is content. */
const idHolders: ReadonlySet<string> = new Set([
  ...["task", "message", "statusUpdate", "artifactUpdate", "status", "history", "artifacts", "artifact"],
  ...["tasks", "configs"],
]);

function* idsIn(value: unknown, path = "$"): Iterable<{ readonly path: string; readonly id: string }> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* idsIn(item, `${path}[${index}]`);
  } else if (isRecord(value)) {
    for (const [name, member] of Object.entries(value)) {
      const at = `${path}.${name}`;
      if (idNames.has(name) && typeof member === "string") yield { path: at, id: member };
      else if (idHolders.has(name)) yield* idsIn(member, at);
    }
  }
}
