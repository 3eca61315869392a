import {
  type Artifact,
  type Message,
  type Part,
  Role,
  type Task,
  TaskState,
  type TaskStatus,
} from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from "@a2a-js/sdk/server";

/** How the one who runs the agent steers its work. */
export interface SummarizerControls {
  /** Skill that is used when a request's metadata names none. */
  readonly defaultSkill: () => string;
  /** Question to ask before the work on a new task, or nothing. */
  readonly nextQuestion: () => string | undefined;
  /** Awaited after each piece of the work, and before a question. */
  readonly mayGoOn: () => Promise<void>;
  /** Whether a further turn begins with the task as it stands, its question included, as in the SDK's samples. */
  readonly repeatsTask: boolean;
}

/** The work of the example agent, in the form that the official SDK wants: it makes long texts short, piece by piece. */
export class Summarizer implements AgentExecutor {
  readonly #controls: SummarizerControls;
  /** Contexts of the tasks that are not over. */
  readonly #contexts = new Map<string, string>();

  constructor(controls: SummarizerControls) {
    this.#controls = controls;
  }

  async execute(request: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, contextId, userMessage, task } = request;
    const update = (state: TaskState, message?: Message): void =>
      bus.publish(
        AgentEvent.statusUpdate({ taskId, contextId, status: statusOf(state, message), metadata: undefined }),
      );
    this.#contexts.set(taskId, contextId);
    // The SDK wants every turn to begin with the task.
    const { repeatsTask } = this.#controls;
    const further = task && (repeatsTask ? task : workingOn(task));
    bus.publish(AgentEvent.task(further ?? submitted(taskId, contextId, userMessage)));
    const question = task ? undefined : this.#controls.nextQuestion();
    if (!task || repeatsTask) update(TaskState.TASK_STATE_WORKING);
    if (question !== undefined) {
      await this.#controls.mayGoOn();
      if (!this.#contexts.has(taskId)) return;
      return update(TaskState.TASK_STATE_INPUT_REQUIRED, messageOf(taskId, contextId, question));
    }
    const skill = String(request.request.metadata?.skill ?? this.#controls.defaultSkill());
    const asked = task?.history.filter(({ role }) => role === Role.ROLE_USER) ?? [userMessage];
    const pieces = shorten(skill, asked.map(textOf).join(" "));
    for (const [index, piece] of pieces.entries()) {
      const place = { append: index > 0, lastChunk: index === pieces.length - 1, metadata: undefined };
      bus.publish(
        AgentEvent.artifactUpdate({ taskId, contextId, artifact: artifactOf(skill, piece), ...place }),
      );
      await this.#controls.mayGoOn();
      if (!this.#contexts.has(taskId)) return;
    }
    this.#contexts.delete(taskId);
    update(TaskState.TASK_STATE_COMPLETED);
  }

  async cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
    const contextId = this.#contexts.get(taskId) ?? "";
    this.#contexts.delete(taskId);
    const status = statusOf(TaskState.TASK_STATE_CANCELED);
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
  }
}

/** What a skill makes of a text, in pieces. */
function shorten(skill: string, text: string): readonly string[] {
  if (skill === "keywords") {
    const words = new Set(text.toLowerCase().match(/\p{L}{7,}/gu));
    return [[...words].slice(0, 5).join(", ")];
  }
  // The first sentence and the last one: what most reports come down to.
  const sentences = text.split(/(?<=[.!?])\s+/);
  return sentences.length < 2 ? [text] : [`${sentences[0]} `, `${sentences.at(-1)}`];
}

function submitted(id: string, contextId: string, message: Message): Task {
  const status = statusOf(TaskState.TASK_STATE_SUBMITTED);
  return { id, contextId, status, artifacts: [], history: [message], metadata: undefined };
}

function workingOn(task: Task): Task {
  return { ...task, status: statusOf(TaskState.TASK_STATE_WORKING) };
}

function statusOf(state: TaskState, message?: Message): TaskStatus {
  return { state, message, timestamp: new Date().toISOString() };
}

function messageOf(taskId: string, contextId: string, text: string): Message {
  const parts = [partOf(text)];
  const rest = { metadata: undefined, extensions: [], referenceTaskIds: [] };
  return { messageId: crypto.randomUUID(), taskId, contextId, role: Role.ROLE_AGENT, parts, ...rest };
}

function artifactOf(skill: string, text: string): Artifact {
  const parts = [partOf(text)];
  return { artifactId: skill, name: skill, description: "", parts, metadata: undefined, extensions: [] };
}

function partOf(text: string): Part {
  return {
    content: { $case: "text", value: text },
    mediaType: "text/plain",
    filename: "",
    metadata: undefined,
  };
}

function textOf({ parts }: Message): string {
  return parts.map(({ content }) => (content?.$case === "text" ? content.value : "")).join(" ");
}
