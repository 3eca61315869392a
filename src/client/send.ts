import type { BindingAnswer } from "../binding/binding.ts";
import { LedgerConflictError, LedgerUnavailableError } from "../errors/ledger.ts";
import { TaskTerminalError } from "../errors/lifecycle.ts";
import { SendOutcomeUnknownError } from "../errors/sending.ts";
import { checkRequirements, joinRequirements } from "../lease/requirements.ts";
import type { SendMessageResponse } from "../model/events.ts";
import type { SendMessageRequest } from "../model/requests.ts";
import { isInterruptedState, isTerminalState } from "../model/states.ts";
import type { Task } from "../model/task.ts";
import { defined } from "../util/freeze.ts";
import type { Call } from "./call.ts";
import { checkPosture } from "./check-posture.ts";
import { createDelivery } from "./delivery.ts";
import type { TaskDesk } from "./desk.ts";
import type { Sender } from "./entry.ts";
import { guardStream } from "./guard.ts";
import type { SendReply } from "./handle.ts";
import { checkHistoryLength } from "./history-length.ts";
import { createMessage, impliedRequirements, type MessageInput, type SendOptions } from "./message.ts";
import { type OpenedStream, openStream } from "./open-stream.ts";
import { lookForLost } from "./outbox.ts";
import { callOnce, type Passage } from "./pipeline.ts";
import { prepareSendPush } from "./push-send.ts";
import { getTask } from "./reads.ts";
import { receiveTask, tellDeviations } from "./receive.ts";
import type { Session } from "./session.ts";
import type { SettleRule } from "./settle.ts";
import { createTaskStream, type HeldTaskStream } from "./stream.ts";
import { streamFound } from "./stream-found.ts";

/** What a streaming send is for. */
export interface StreamingHow {
  /** Where the stream ends. @default "settled" */
  readonly settle?: SettleRule;
  /** Whether the work needs a stream, and not only whoever sends it so. @default true */
  readonly needsStream?: boolean;
}

type SendPassage = Passage<BindingAnswer<SendMessageResponse>>;

/** Sends a message (3.1.1) and takes what it is answered with. */
export async function sendMessage(
  session: Session,
  desk: TaskDesk,
  sender: Sender,
  input: MessageInput,
  options: SendOptions,
): Promise<SendReply> {
  await refreshTrust(session, sender);
  const outgoing = prepare(session, sender, input, options);
  const { message, asking, delivery } = outgoing;
  const call: Call<"SendMessage"> = {
    operation: "SendMessage",
    request: {
      ...outgoing.request,
      configuration: { ...outgoing.request.configuration, returnImmediately: options.blocking !== true },
    },
    holder: sender.holder,
    requirements: asking,
    policy: outgoing.policy,
    options,
    knowsTask: sender.task?.tracked.last !== undefined,
    message,
    prepare: outgoing.push?.open,
    explains: delivery.explains,
  };
  try {
    return await callOnce(session, call, async (passage) => {
      delivery.taken("message" in passage.answer.value);
      const reply = await settle(desk, sender, outgoing, { passage, isBlocking: options.blocking === true });
      if ("message" in reply) tellDeviations(session, passage.answer.deviations);
      return reply;
    });
  } catch (error) {
    const failure = await delivery.failed(error);
    const found = await lookForLost({ session, desk, plan: () => sender.holder }, failure, options);
    if (!found) throw failure;
    return { task: found.handle };
  }
}

/** Sends a message and streams what comes of it (3.1.2). Resolves when the head of the stream was accepted. */
export async function sendStreamingMessage(
  session: Session,
  desk: TaskDesk,
  sender: Sender,
  input: MessageInput,
  options: SendOptions,
  how: StreamingHow = {},
): Promise<HeldTaskStream> {
  const { settle = "settled", needsStream = true } = how;
  await refreshTrust(session, sender);
  const outgoing = prepare(session, sender, input, options, true);
  const { message, request, requirements, asking, policy, delivery } = outgoing;
  const { holder, task } = sender;
  const call: Call<"SendStreamingMessage"> = {
    operation: "SendStreamingMessage",
    request,
    holder,
    requirements: needsStream ? joinRequirements(asking, { streaming: true }) : asking,
    policy,
    options,
    knowsTask: task?.tracked.last !== undefined,
    message,
    prepare: outgoing.push?.open,
    explains: delivery.explains,
  };
  let opened: OpenedStream;
  try {
    opened = await openStream(session, call);
  } catch (error) {
    const failure = await delivery.failed(error);
    const found = await lookForLost({ session, desk, plan: () => holder }, failure, options);
    if (!found) throw failure;
    return streamFound(session, found, { options, settle, failure });
  }
  return createTaskStream({
    session,
    opened,
    plan: holder,
    settle,
    guard: (current) => guardStream(session, "SendStreamingMessage", opened.scope, current),
    sent: { message, delivery },
    mark: outgoing.mark,
    ...(task ? { task } : {}),
    async adopt(taskId, contextId) {
      const entry = await desk.adopt(taskId, contextId, { pin: holder.pin, requirements, policy });
      await outgoing.push?.adopt(taskId);
      return entry;
    },
    look: (entry, signal) => getTask(session, entry, { signal, ...defined({ headers: options.headers }) }),
  });
}

/** A webhook or another process may have ended the trust that a send depends on. */
async function refreshTrust({ ledger, options, trust }: Session, { holder }: Sender): Promise<void> {
  if (ledger.shared || options.trust === "required") await trust.refresh(holder.pin);
}

function prepare(
  session: Session,
  sender: Sender,
  input: MessageInput,
  options: SendOptions,
  streams = false,
) {
  const { task, holder } = sender;
  if (task && isTerminalState(task.handle.state))
    throw new TaskTerminalError(task.handle.id, task.handle.state);
  const message = createMessage(input, options, {
    random: session.options.random,
    ...defined({ taskId: task?.handle.id, contextId: task?.handle.contextId }),
  });
  const asked = joinRequirements(holder.requirements, options.requires ?? {});
  const requirements = joinRequirements(asked, impliedRequirements(message, options, holder.pin));
  const { pushNotificationConfig } = options;
  const push = pushNotificationConfig && prepareSendPush(session, holder, message, pushNotificationConfig);
  const configuration = defined({
    acceptedOutputModes: options.acceptedOutputModes,
    historyLength: options.historyLength,
    taskPushNotificationConfig: push?.config,
  });
  const request: SendMessageRequest = { message, ...defined({ configuration, metadata: options.metadata }) };
  checkPosture(options.posture);
  checkHistoryLength(options.historyLength);
  checkRequirements(options.requires);
  if (session.options.trust === "required") {
    session.trust.require(holder.pin, streams ? ["streaming"] : []);
  }
  const sending = createDelivery(session, task, options);
  const delivery = push ? push.follow(sending) : sending;
  const { posture = holder.policy.posture, compare = holder.policy.compare } = options;
  const { mark } = task?.tracked ?? {};
  // The call needs it of the card; the task goes on without it.
  const asking = push ? joinRequirements(requirements, { pushNotifications: true }) : requirements;
  return { message, request, requirements, asking, policy: { posture, compare }, delivery, mark, push };
}

/** Steps 6 and 7 for the answer to a send. */
async function settle(
  desk: TaskDesk,
  sender: Sender,
  prepared: ReturnType<typeof prepare>,
  { passage, isBlocking }: { readonly passage: SendPassage; readonly isBlocking: boolean },
): Promise<SendReply> {
  const { answer, intent } = passage;
  const { value } = answer;
  if ("message" in value) {
    await intent?.close("answered", { message: true });
    await prepared.delivery.lookAgain();
    return { message: value.message };
  }
  const { task } = value;
  try {
    return await settleTask(desk, sender, prepared, { passage, isBlocking, task });
  } catch (error) {
    if (!(error instanceof LedgerUnavailableError || error instanceof LedgerConflictError)) throw error;
    // The agent works on it, whatever the ledger does: to call that safe to try again would start it twice.
    const { messageId } = prepared.message;
    throw new SendOutcomeUnknownError(
      { messageId, taskId: task.id, ...defined({ contextId: task.contextId }) },
      error,
    );
  }
}

async function settleTask(
  desk: TaskDesk,
  sender: Sender,
  { requirements, policy, mark, push }: ReturnType<typeof prepare>,
  answered: { readonly passage: SendPassage; readonly isBlocking: boolean; readonly task: Task },
): Promise<SendReply> {
  const { passage, isBlocking, task } = answered;
  const { answer, intent, forceCheck } = passage;
  // The id is written down before anything is judged: whatever the judgement, the task is not lost.
  const plan = { pin: sender.holder.pin, requirements, policy };
  const entry = sender.task ?? (await desk.adopt(task.id, task.contextId, plan));
  const beforeSend = sender.task ? undefined : entry.tracked.terminal;
  await push?.adopt(entry.handle.id);
  await intent?.close("answered", { taskId: task.id });
  const { state } = task.status;
  if (isBlocking && !isTerminalState(state) && !isInterruptedState(state)) {
    const message = `found ${state} as the answer to a blocking send, wanted a task that is over or asks (3.2.2)`;
    entry.tracked.note([{ kind: "blocking-returned-early", message }]);
  }
  const omissions = { history: true };
  const onFolded = () => entry.tracked.note(answer.deviations);
  await receiveTask(task, { ...entry, source: "send", forceCheck, beforeSend, omissions, mark, onFolded });
  return { task: entry.handle };
}
