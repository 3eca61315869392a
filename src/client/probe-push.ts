import { A2ALeaseError } from "../errors/base.ts";
import { recordOf } from "../ledger/change.ts";
import { inboxKey } from "../ledger/ledger.ts";
import type { Observation } from "../model/observation.ts";
import type { Operations } from "../model/operations.ts";
import type { ProbeCheck } from "../model/probe.ts";
import type { TaskPushNotificationConfig } from "../model/push.ts";
import type { InboxRecord } from "../model/push-record.ts";
import { check } from "../probe/verdict.ts";
import { sleep } from "../util/abort.ts";
import { elapsedMs, readInstant } from "../util/clock.ts";
import { attemptCall } from "./attempt.ts";
import type { Call, CallOptions } from "./call.ts";
import { effectiveCard } from "./pinned.ts";
import { preparePush } from "./push-input.ts";
import { createPushNote, type PushNote } from "./push-note.ts";
import type { LeaseHolder, Session } from "./session.ts";

/** Where a probe has notifications sent: a webhook receiver over the same ledger as the client's. */
export interface ProbeReceiver {
  /** Its URL, as the agent reaches it. */
  readonly url: string;
  /** Whether a URL is sent that is not HTTPS, or that leads to a private or loopback address. @default false */
  readonly allowInsecureUrl?: boolean;
}

/** The push side of one probe: registered with the message and once more for the task, and then waited for. */
export interface PushProbe {
  /** Configuration that travels with the message. */
  readonly config: TaskPushNotificationConfig | undefined;
  /** Writes down what travels with a message, before it leaves. */
  readonly open: (messageId: string) => Promise<void>;
  /** Something was seen of the task; the first time a second configuration is registered for it. */
  readonly seen: (observation: Observation) => void;
  /** Waits for the agent to call back, judges, and takes the configurations away again. */
  readonly finish: (last: Observation | undefined) => Promise<ProbeCheck>;
}

/** How long after the end of the task an agent may take to call back, and how often is looked, in milliseconds. */
const callBackMs = 10_000;
const lookEveryMs = 250;

/** Makes the push side of a probe; one without a receiver looks at nothing. */
export function createPushProbe(
  session: Session,
  plan: LeaseHolder,
  asked: {
    readonly isWanted: boolean;
    readonly receiver: ProbeReceiver | undefined;
    readonly options: CallOptions;
  },
): PushProbe {
  const { pin } = plan;
  const { receiver, isWanted } = asked;
  const isClaimed = effectiveCard(pin).capabilities.pushNotifications === true;
  const why = !isClaimed
    ? "the card claims no push notifications"
    : !isWanted
      ? "push was not probed"
      : "no receiver";
  if (!isClaimed || !isWanted || !receiver) return unprobed(why);
  const { random } = session.options;
  const inline = preparePush(receiver, random);
  const later = preparePush(receiver, random);
  let note: PushNote | undefined;
  let registered: Promise<{ readonly taskId: string; readonly failure: unknown }> | undefined;

  async function call<O extends "CreateTaskPushNotificationConfig" | "DeleteTaskPushNotificationConfig">(
    operation: O,
    request: Operations[O]["request"],
  ): Promise<void> {
    const { options } = asked;
    const made: Call<O> = { operation, request, holder: plan, requirements: {}, options, knowsTask: true };
    const signal = options.signal ?? session.closed;
    await attemptCall(session, made, {
      exchange: (wire) => session.bindings.of(wire.interface).call(operation, request, wire),
      signal,
      since: readInstant(session.clock),
    });
  }

  async function register(taskId: string): Promise<{ taskId: string; failure: unknown }> {
    try {
      await note?.adopt(taskId);
      await createPushNote(session, later, { pin, taskId }).open();
      await call("CreateTaskPushNotificationConfig", { ...later.config, taskId });
      return { taskId, failure: undefined };
    } catch (failure) {
      return { taskId, failure };
    }
  }

  async function read(taskId: string): Promise<InboxRecord | undefined> {
    const { ledger, cardKey, options } = session;
    return recordOf(await ledger.read(inboxKey(cardKey, options.principal, taskId)), "inbox");
  }

  /** What was pushed, once it shows how the task ended or the time for that is over. */
  async function awaitCalls(taskId: string, last: Observation | undefined): Promise<InboxRecord | undefined> {
    const since = readInstant(session.clock);
    for (;;) {
      const inbox = await read(taskId);
      const isTold = inbox?.observations.some(({ state }) => state === last?.state);
      if (isTold || elapsedMs(session.clock, since) >= callBackMs) return inbox;
      await sleep(session.clock, lookEveryMs, asked.options.signal);
    }
  }

  async function leave(taskId: string): Promise<void> {
    const { ledger, cardKey, options } = session;
    for (const { config } of [inline, later]) {
      await call("DeleteTaskPushNotificationConfig", { taskId, id: config.id }).catch(() => {});
      await createPushNote(session, config.id === inline.config.id ? inline : later, {
        pin,
        taskId,
      }).forget();
    }
    await ledger.remove(inboxKey(cardKey, options.principal, taskId)).catch(() => {});
  }

  return {
    config: inline.config,
    async open(messageId) {
      note = createPushNote(session, inline, { pin, messageId });
      await note.open();
    },
    seen({ taskId }) {
      registered ??= register(taskId);
    },
    async finish(last) {
      const known = await registered;
      if (!known) {
        await note?.forget();
        return check("push-calls-back", "not-run", "there was no task");
      }
      const { taskId, failure } = known;
      try {
        if (failure !== undefined) return registrationFailed(failure);
        return judge(await awaitCalls(taskId, last), last);
      } finally {
        await leave(taskId);
      }
    },
  };
}

function registrationFailed(failure: unknown): ProbeCheck {
  const found = failure instanceof A2ALeaseError ? `${failure.name}: ${failure.message}` : String(failure);
  return check("push-calls-back", "failed", `found ${found}, wanted the registration to be accepted (3.1.7)`);
}

function judge(inbox: InboxRecord | undefined, last: Observation | undefined): ProbeCheck {
  const observations = inbox?.observations ?? [];
  const [broken] = inbox?.broken ?? [];
  if (broken) return check("push-calls-back", "failed", `${broken.rule}: ${broken.message}`, observations);
  const found = `${inbox?.count ?? 0} notifications of its status`;
  const isTold = observations.some(({ state }) => state === last?.state);
  return isTold
    ? check("push-calls-back", "passed", found, observations)
    : check("push-calls-back", "failed", `found ${found}, wanted ${last?.state} among them`, observations);
}

function unprobed(why: string): PushProbe {
  return {
    config: undefined,
    open: async () => {},
    seen: () => {},
    finish: async () => check("push-calls-back", "not-run", why),
  };
}
