import { SendOutcomeUnknownError } from "../errors/sending.ts";
import { StreamInterruptedError } from "../errors/transport.ts";
import type { StreamResponse } from "../model/events.ts";
import type { Message } from "../model/message.ts";
import { defined } from "../util/freeze.ts";
import type { TaskHandle, TaskStream } from "./handle.ts";
import type { Observer } from "./observer.ts";
import type { OpenedStream } from "./pipeline.ts";
import { receiveEvent } from "./receive.ts";
import type { LeaseHolder } from "./session.ts";
import { isSettled, type SettleRule } from "./settle.ts";
import { isUnknownOutcome } from "./surprise.ts";
import type { SkippedFrames } from "./task-options.ts";
import type { TrackedTask } from "./track.ts";

/** A task that a stream speaks of, as the client holds it. */
export interface StreamedTask {
  readonly tracked: TrackedTask;
  readonly holder: LeaseHolder;
  readonly handle: TaskHandle;
}

/** What a stream is made from. */
export interface TaskStreamParts {
  readonly opened: OpenedStream;
  /** The plan that the stream was opened under. */
  readonly plan: LeaseHolder;
  /** The task, for a stream of a task that is known. */
  readonly task?: StreamedTask;
  /** The message that was sent, for a stream that a send opened. */
  readonly message?: Message;
  /** Where the stream ends. */
  readonly settle: SettleRule;
  readonly observer: Observer;
  /** Checks the card while the stream is open; a drift ends it after the events already received. */
  readonly guard: (holder: () => LeaseHolder) => () => void;
  /** Makes the handle of a task that the stream's first event names. */
  readonly adopt: (taskId: string, contextId: string | undefined) => Promise<StreamedTask>;
}

/** Makes a {@link TaskStream} of a stream whose head was accepted. */
export function createTaskStream(parts: TaskStreamParts): TaskStream {
  return new StreamReader(parts);
}

class StreamReader implements TaskStream {
  readonly #parts: TaskStreamParts;
  #task: StreamedTask | undefined;
  #eventCount = 0;
  #isTaken = false;

  constructor(parts: TaskStreamParts) {
    this.#parts = parts;
    this.#task = parts.task;
  }

  get task(): TaskHandle | undefined {
    return this.#task?.handle;
  }

  get skipped(): SkippedFrames {
    return this.#parts.opened.answer.skipped;
  }

  close(): void {
    const { opened } = this.#parts;
    opened.answer.close();
    opened.scope.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  [Symbol.asyncIterator](): AsyncIterator<StreamResponse> {
    if (this.#isTaken) throw new TypeError("a TaskStream can be iterated once");
    this.#isTaken = true;
    return this.#run();
  }

  async *#run(): AsyncGenerator<StreamResponse> {
    const { opened, plan, guard } = this.#parts;
    const release = guard(() => this.#task?.holder ?? plan);
    try {
      for await (const event of this.#events()) {
        const isNew = await this.#receive(event);
        this.#eventCount += 1;
        if (isNew) yield event;
        // 3.1.2: a message in place of a task is the whole answer.
        if (!this.#task || isSettled(this.#task.tracked, this.#parts.settle)) return;
      }
      throw await this.#cut();
    } finally {
      release();
      this.#task?.tracked.note(opened.answer.deviations);
      this.close();
    }
  }

  /** The binding's events, with what goes wrong on the way judged by the card first. */
  async *#events(): AsyncGenerator<StreamResponse> {
    const { opened, plan, message } = this.#parts;
    try {
      yield* opened.answer.events;
    } catch (error) {
      const isLost = message && this.#eventCount === 0 && isUnknownOutcome(error);
      const outcome = isLost ? new SendOutcomeUnknownError(message, error) : error;
      if (this.#eventCount === 0) await opened.intent?.close(isLost ? "unknown" : "refused");
      await opened.fail(outcome, this.#task?.holder ?? plan, this.#task?.tracked.last !== undefined);
    }
  }

  async #receive(event: StreamResponse): Promise<boolean> {
    const { opened } = this.#parts;
    if (!this.#task && !("message" in event)) {
      const { taskId, contextId } = identityOf(event);
      this.#task = await this.#parts.adopt(taskId, contextId);
    }
    if (this.#eventCount === 0) await opened.intent?.close("answered");
    if (!this.#task) return true;
    const { tracked, holder } = this.#task;
    if (this.#eventCount === 0 && !("task" in event) && !("message" in event)) {
      // 3.1.2, 3.1.6: the first event is the task, or a message in its place.
      const [found] = Object.keys(event);
      tracked.breakRule(
        "stream-shape",
        `found ${found} first, wanted a task or a message`,
        tracked.observations,
      );
    }
    const { forceCheck } = opened;
    const { isNew } = await receiveEvent(event, { tracked, holder, source: "stream", forceCheck });
    return isNew;
  }

  async #cut(): Promise<Error> {
    const { message, opened } = this.#parts;
    const eventCount = this.#eventCount;
    const about = defined({ taskId: this.#task?.handle.id });
    this.#parts.observer.emit("stream-cut", { ...about, eventCount });
    const lastState = this.#task?.tracked.last?.state;
    const interrupted = new StreamInterruptedError({ eventCount, ...about, ...defined({ lastState }) });
    if (!message || this.#eventCount > 0) return interrupted;
    await opened.intent?.close("unknown");
    return new SendOutcomeUnknownError(message, interrupted);
  }
}

function identityOf(event: Exclude<StreamResponse, { message: unknown }>): {
  taskId: string;
  contextId: string | undefined;
} {
  if ("task" in event) return { taskId: event.task.id, contextId: event.task.contextId };
  return "statusUpdate" in event ? contextOf(event.statusUpdate) : contextOf(event.artifactUpdate);
}

function contextOf(update: { taskId: string; contextId?: string }) {
  return { taskId: update.taskId, contextId: update.contextId };
}
