import type { BindingAnswer } from "../binding/binding.ts";
import { TaskTerminalError } from "../errors/lifecycle.ts";
import { joinRequirements } from "../lease/requirements.ts";
import type { SendMessageResponse } from "../model/events.ts";
import type { Message } from "../model/message.ts";
import type { SendMessageRequest } from "../model/requests.ts";
import { isTerminalState } from "../model/states.ts";
import { defined } from "../util/freeze.ts";
import type { Call } from "./call.ts";
import type { TaskDesk } from "./desk.ts";
import { guardStream } from "./guard.ts";
import type { HandleEntry, SendReply, TaskStream } from "./handle.ts";
import { createMessage, impliedRequirements, type MessageInput, type SendOptions } from "./message.ts";
import { checkPosture } from "./options.ts";
import { callOnce, openStream, type Passage } from "./pipeline.ts";
import { receiveTask } from "./receive.ts";
import type { LeaseHolder, Session } from "./session.ts";
import type { SettleRule } from "./settle.ts";
import { createTaskStream } from "./stream.ts";

/** Who sends: a plan that starts a task, or a task that goes on. */
export interface Sender {
  /** Whose pin the send depends on. */
  readonly holder: LeaseHolder;
  /** The task, when the message belongs to one. */
  readonly task?: HandleEntry;
}

/** Sends a message (3.1.1) and takes what it is answered with. */
export async function sendMessage(
  session: Session,
  desk: TaskDesk,
  sender: Sender,
  input: MessageInput,
  options: SendOptions,
): Promise<SendReply> {
  const outgoing = prepare(session, sender, input, options);
  const { message, requirements } = outgoing;
  const call: Call<"SendMessage"> = {
    operation: "SendMessage",
    request: {
      ...outgoing.request,
      configuration: { ...outgoing.request.configuration, returnImmediately: options.blocking !== true },
    },
    holder: sender.holder,
    requirements,
    policy: outgoing.policy,
    options,
    knowsTask: sender.task?.tracked.last !== undefined,
    message,
  };
  return callOnce(session, call, (passage) => settle(desk, sender, outgoing, passage));
}

/** Sends a message and streams what comes of it (3.1.2). Resolves when the head of the stream was accepted. */
export async function sendStreamingMessage(
  session: Session,
  desk: TaskDesk,
  sender: Sender,
  input: MessageInput,
  options: SendOptions,
  settle: SettleRule = "settled",
): Promise<TaskStream> {
  const { message, request, requirements, policy } = prepare(session, sender, input, options, true);
  const needs = joinRequirements(requirements, { streaming: true });
  const { holder, task } = sender;
  const opened = await openStream(session, {
    operation: "SendStreamingMessage",
    request,
    holder,
    requirements: needs,
    policy,
    options,
    knowsTask: task?.tracked.last !== undefined,
    message,
  });
  return createTaskStream({
    opened,
    plan: holder,
    settle,
    observer: session.observer,
    guard: (current) => guardStream(session, "SendStreamingMessage", opened.scope, current),
    message,
    ...(task ? { task } : {}),
    adopt: (taskId, contextId) => desk.adopt(taskId, contextId, { pin: holder.pin, requirements, policy }),
  });
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
  const requirements = joinRequirements(asked, impliedRequirements(message, options));
  const configuration = defined({
    acceptedOutputModes: options.acceptedOutputModes,
    historyLength: options.historyLength,
  });
  const request: SendMessageRequest = { message, ...defined({ configuration, metadata: options.metadata }) };
  checkPosture(options.posture);
  if (session.options.trust === "required") {
    session.trust.require(holder.pin, streams ? ["streaming"] : []);
  }
  task?.tracked.answer();
  const { posture = holder.policy.posture, compare = holder.policy.compare } = options;
  return { message, request, requirements, policy: { posture, compare } };
}

/** Steps 6 and 7 for the answer to a send. */
async function settle(
  desk: TaskDesk,
  sender: Sender,
  { requirements, policy }: ReturnType<typeof prepare>,
  passage: Passage<BindingAnswer<SendMessageResponse>>,
): Promise<SendReply> {
  const { value, deviations } = passage.answer;
  if ("message" in value) {
    await passage.intent?.close("answered");
    return answeredByMessage(sender, value.message);
  }
  const { task } = value;
  // The id is written down before anything is judged: whatever the judgement, the task is not lost.
  const plan = { pin: sender.holder.pin, requirements, policy };
  const entry = sender.task ?? (await desk.adopt(task.id, task.contextId, plan));
  const beforeSend = entry.tracked.last;
  entry.tracked.note(deviations);
  await passage.intent?.close("answered");
  const { forceCheck } = passage;
  await receiveTask(task, { ...entry, source: "send", forceCheck, beforeSend, omissions: { history: true } });
  return { task: entry.handle };
}

async function answeredByMessage(sender: Sender, message: Message): Promise<SendReply> {
  // The message says nothing of the task it was sent to; reading it again does.
  if (sender.task) await sender.task.handle.get();
  return { message };
}
