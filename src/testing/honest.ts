import type { Message } from "../model/message.ts";
import { isTerminalState } from "../model/states.ts";
import type { Task } from "../model/task.ts";
import { isRecord } from "../util/freeze.ts";
import { answer, type Reply } from "./answers.ts";
import type { HonestCall, LiveReply, OwnReply } from "./honest-call.ts";
import { listTasks } from "./list-tasks.ts";
import { keepConfig, problemOfConfig, pushOperation } from "./push-operations.ts";
import type { TaskDesk } from "./task-desk.ts";
import { followTask, nextSettled } from "./task-feed.ts";
import { type TaskRecord, trimHistory } from "./task-record.ts";

/** What a call has done, and what there is to say about it. */
export interface Effect {
  /** Whether the call was turned down, and so did nothing. */
  readonly isRefusal: boolean;
  /** The true answer; a blocking send has it only later. */
  truth(): Promise<Reply | OwnReply>;
  /** Lets go of an answer that nobody will read. */
  drop(): void;
}

/** The agent as it behaves unscripted: carries out a call at once, and knows what to answer. */
export type HonestAgent = (call: HonestCall) => Effect;

/** What a send has come to once its message is accepted. */
interface Reception {
  readonly record: TaskRecord;
  /** Lets the plan of the task go on. */
  readonly run: () => void;
}

/** Makes the honest agent over a desk of tasks. `accepted` is told the id of every message that was accepted. */
export function createHonestAgent(
  desk: TaskDesk,
  endsOnQuestion: () => boolean,
  accepted: (messageId: string) => void,
): HonestAgent {
  /** Accepts a message; an error reply where it can't be. */
  function receive(call: HonestCall): Reception | Reply {
    const { message, configuration } = call.params;
    const pushConfig = isRecord(configuration) ? configuration.taskPushNotificationConfig : undefined;
    const unfit = pushConfig === undefined ? undefined : refusePush(pushConfig, call);
    const missing = missingMember(message);
    if (missing) return answer.error(-32602, `${missing} is required.`);
    if (unfit) return unfit;
    const keep = (record: TaskRecord) => isRecord(pushConfig) && keepConfig(desk, record, pushConfig);
    const said = message as Message;
    if (said.taskId === undefined || said.taskId === "") {
      const record = desk.create(said);
      accepted(said.messageId);
      // As on a stream, the first event of a task is the task.
      if (keep(record)) desk.tell(record, { task: record.task });
      return { record, run: () => desk.run(record) };
    }
    const record = desk.find(said.taskId);
    if (!record) return notFound(said.taskId);
    const { contextId, status } = record.task;
    if (said.contextId !== undefined && said.contextId !== contextId) {
      return answer.error(-32602, `Task ${said.taskId} is in context ${contextId}, not ${said.contextId}.`);
    }
    if (isTerminalState(status.state)) {
      return answer.error(-32004, `Task ${said.taskId} is over (${status.state}) and takes no message.`);
    }
    keep(record);
    desk.receive(record, said);
    accepted(said.messageId);
    return { record, run: () => void (record.pause === undefined && desk.run(record)) };
  }

  function send(call: HonestCall): Effect {
    const reception = receive(call);
    if (!("record" in reception)) return effectOf(reception);
    const { record, run } = reception;
    const { configuration } = call.params;
    const { returnImmediately, historyLength } = isRecord(configuration) ? configuration : {};
    const tell = (task: Task) => answer.result({ task: trimHistory(task, lengthOf(historyLength)) });
    const atOnce = tell(record.task);
    const settled = returnImmediately === true ? undefined : nextSettled(record, call.signal);
    settled?.catch(() => {});
    run();
    return { isRefusal: false, truth: async () => (settled ? tell(await settled) : atOnce), drop: () => {} };
  }

  function stream(call: HonestCall): Reply | LiveReply {
    if (call.capabilities.streaming !== true) return unsupported("Streaming is not supported by the agent.");
    const reception = receive(call);
    if (!("record" in reception)) return reception;
    const feed = followTask(reception.record, endsOnQuestion);
    reception.run();
    return { reply: "live", feed };
  }

  function subscribe({ params, capabilities }: HonestCall): Reply | LiveReply {
    if (capabilities.streaming !== true) return unsupported("Streaming is not supported by the agent.");
    const record = desk.find(String(params.id));
    if (!record) return notFound(params.id);
    const { state } = record.task.status;
    if (isTerminalState(state)) return unsupported(`Task ${params.id} is over (${state}).`);
    return { reply: "live", feed: followTask(record, endsOnQuestion) };
  }

  function get({ params }: HonestCall): Reply {
    const record = desk.find(String(params.id));
    return record
      ? answer.result(trimHistory(record.task, lengthOf(params.historyLength)))
      : notFound(params.id);
  }

  function cancel({ params }: HonestCall): Reply {
    const record = desk.find(String(params.id));
    if (!record) return notFound(params.id);
    if (isTerminalState(record.task.status.state)) {
      return answer.error(-32002, `Task not cancelable: ${params.id}`);
    }
    desk.cancel(record);
    return answer.result(record.task);
  }

  function other(call: HonestCall): Reply | OwnReply {
    const { operation, capabilities, extendedCard } = call;
    if (operation !== "GetExtendedAgentCard") {
      return pushOperation(desk, call) ?? answer.error(-32601, `Method not found: ${operation}`);
    }
    if (capabilities.extendedAgentCard !== true) return unsupported("The agent has no extended agent card.");
    if (extendedCard !== undefined) return answer.result(extendedCard);
    return answer.error(-32007, "No extended agent card is configured.");
  }

  return (call) => {
    switch (call.operation) {
      case "SendMessage":
        return send(call);
      case "SendStreamingMessage":
        return effectOf(stream(call));
      case "SubscribeToTask":
        return effectOf(subscribe(call));
      case "GetTask":
        return effectOf(get(call));
      case "CancelTask":
        return effectOf(cancel(call));
      case "ListTasks":
        return effectOf(listTasks(desk.all(), call.params));
      default:
        return effectOf(other(call));
    }
  };
}

function effectOf(reply: Reply | OwnReply): Effect {
  return {
    isRefusal: reply.reply === "error",
    truth: async () => reply,
    drop: () => reply.reply === "live" && reply.feed.stop(),
  };
}

/** What turns down a push configuration inside a send. */
function refusePush(pushConfig: unknown, { capabilities }: HonestCall): Reply | undefined {
  if (capabilities.pushNotifications !== true) {
    return answer.error(-32003, "Push notifications are not supported by the agent.");
  }
  const problem = problemOfConfig(pushConfig);
  return problem === undefined ? undefined : answer.error(-32602, problem);
}

function missingMember(message: unknown): string | undefined {
  if (!isRecord(message)) return "message";
  if (typeof message.messageId !== "string" || message.messageId === "") return "message.messageId";
  if (message.role !== "ROLE_USER" && message.role !== "ROLE_AGENT") return "message.role";
  return Array.isArray(message.parts) && message.parts.length > 0 ? undefined : "message.parts";
}

function lengthOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function notFound(id: unknown): Reply {
  return answer.error(-32001, `Task not found: ${id}`);
}

function unsupported(message: string): Reply {
  return answer.error(-32004, message);
}
