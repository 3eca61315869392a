import type { Artifact } from "../model/artifact.ts";
import type { Deviation } from "../model/deviation.ts";
import type { StreamResponse } from "../model/events.ts";
import type { Lease } from "../model/lease.ts";
import type { Message } from "../model/message.ts";
import type { CardPin } from "../model/pin.ts";
import type { TaskRecord } from "../model/record.ts";
import type { TaskState } from "../model/states.ts";
import type { Task } from "../model/task.ts";
import type { TaskUpdate } from "../model/update.ts";
import { onAbort } from "../util/abort.ts";
import { iterableOnce } from "../util/iterate.ts";
import type { CallOptions } from "./call.ts";
import type { HandleParts } from "./handle-parts.ts";
import type { MessageInput, SendOptions } from "./message.ts";
import type { PushConfigs } from "./push-configs.ts";
import type { FollowOptions, ResultOptions, TaskOutcome } from "./result-options.ts";
import type {
  CancelOptions,
  GetOptions,
  RenegotiateOptions,
  SalvagedTask,
  SkippedFrames,
} from "./task-options.ts";

/** Answer to a sent message: the task that works on it, or a message that is the whole answer (3.1.1). */
export type SendReply = { readonly task: TaskHandle } | { readonly message: Message };

/**
 * One stream of the spec's events, in order (3.1.2, 3.1.6). It ends when the task is settled: over, or waiting for the
 * caller. It can be iterated once; leaving the loop closes the connection, not the task.
 *
 * Where the task was found settled while the stream was silent, the last event is that task.
 *
 * Iterating throws `StreamInterruptedError` when the stream is cut before that, the typed error of an error frame,
 * `StreamStalledError` after three silences in a row, `StreamReplacedError` when a newer stream of the handle was opened,
 * the lease's error when the lease ends meanwhile, `LifecycleMismatchError`, and `SendOutcomeUnknownError` when a stream
 * that a send opened is cut before its first event.
 */
export interface TaskStream extends AsyncIterable<StreamResponse>, AsyncDisposable {
  /** Handle of the task, once it is known: at once for a subscription, with the first event for a send. */
  readonly task: TaskHandle | undefined;
  /** Frames that could not be used and were skipped. */
  readonly skipped: SkippedFrames;
  /** Closes the connection. The task goes on. */
  close(): void;
}

/** A handle and what it is made of. */
export interface HandleEntry extends HandleParts {
  readonly handle: TaskHandle;
}

/** What a handle can have done for it. */
export interface HandleActions {
  lease(pin: CardPin): Lease;
  get(entry: HandleEntry, options: GetOptions): Promise<void>;
  subscribe(entry: HandleEntry, options: CallOptions): Promise<TaskStream>;
  follow(entry: HandleEntry, options: FollowOptions): AsyncIterator<TaskUpdate>;
  result(entry: HandleEntry, options: ResultOptions): Promise<TaskOutcome>;
  send(entry: HandleEntry, input: MessageInput, options: SendOptions): Promise<SendReply>;
  start(input: MessageInput, options: SendOptions): Promise<SendReply>;
  cancel(entry: HandleEntry, options: CancelOptions): Promise<void>;
  salvage(entry: HandleEntry, options: CallOptions): Promise<SalvagedTask>;
  pushConfigs(entry: HandleEntry): PushConfigs;
  renegotiate(parts: HandleParts, options: RenegotiateOptions): Promise<TaskHandle>;
}

/**
 * One task at an agent, pinned to the card that it was planned against. Before each step that depends on the card the
 * live card is checked; when it is another one, the step throws `CardDriftError` and so does every later one, until the
 * caller renegotiates. There is one handle for each task and pin.
 */
export class TaskHandle {
  readonly #actions: HandleActions;
  readonly #entry: HandleEntry;
  /** What was known when the lease ended: what others learn of the task after that is under another card. */
  #sealed: TaskRecord | undefined;

  /** @internal */
  constructor(actions: HandleActions, parts: HandleParts) {
    this.#actions = actions;
    this.#entry = { ...parts, handle: this };
    onAbort(parts.holder.signal, () => this.#seal());
  }

  /** The task's id. */
  get id(): string {
    return this.#record.taskId;
  }

  /** The context that the task belongs to, once it is known. */
  get contextId(): string | undefined {
    return this.#record.contextId;
  }

  /** The task as it was last seen, frozen; `undefined` until it was. */
  get task(): Task | undefined {
    return this.#record.task;
  }

  /** The state it was last seen in; `TASK_STATE_UNSPECIFIED` until it was. */
  get state(): TaskState {
    return this.task?.status.state ?? "TASK_STATE_UNSPECIFIED";
  }

  /** Its outputs so far, frozen. */
  get artifacts(): readonly Artifact[] {
    return this.#sealed ? (this.#sealed.task?.artifacts ?? []) : this.#entry.tracked.artifacts;
  }

  /** What broke the spec on the way and could be read. */
  get deviations(): readonly Deviation[] {
    return this.#record.deviations;
  }

  /** What the task was planned against. Never changes: another pin is another handle. */
  get pin(): CardPin {
    return this.#entry.holder.pin;
  }

  /** The lease on the pin as it stands after the last check. */
  get lease(): Lease {
    return this.#actions.lease(this.pin);
  }

  /** Its push configurations: webhooks that the agent tells of it (3.1.7 to 3.1.10). */
  get pushConfigs(): PushConfigs {
    return this.#actions.pushConfigs(this.#entry);
  }

  /** Aborted when the lease ends, with the `CardDriftError` as its reason. */
  get signal(): AbortSignal {
    return this.#entry.holder.signal;
  }

  /**
   * Reads the task (3.1.3), with a check of the card alongside. Resolves to this handle, refreshed.
   *
   * @throws CardDriftError, LeaseUnverifiableError, TaskForgottenError, LifecycleMismatchError, the protocol and
   * transport errors.
   */
  async get(options: GetOptions = {}): Promise<this> {
    await this.#actions.get(this.#entry, options);
    return this;
  }

  /**
   * Subscribes to the task (3.1.6), with a check of the card alongside. Resolves when the head of the stream was
   * accepted. A handle has one connection: an older stream of it then ends with `StreamReplacedError`.
   *
   * @throws as {@link TaskHandle.get} does, and CapabilityMissingError where the card does not stream.
   */
  subscribe(options: CallOptions = {}): Promise<TaskStream> {
    return this.#actions.subscribe(this.#entry, options);
  }

  /**
   * Follows the task until it is over or asks something: one ordered sequence in which nothing comes twice and nothing
   * is left out. A lost connection is resumed, an agent without streams is polled, and the card is checked at each
   * step. A wait for an authentication is told and followed on. All who follow by one handle, `result` too, share a
   * connection; an older stream of `subscribe` ends with `StreamReplacedError`. Leaving the loop leaves the task alone.
   *
   * Iterating throws as {@link TaskHandle.get} does, `TimeoutError` when `timeoutMs` or `deadlineMs` passes, and, after
   * `maxAttempts` in a row without progress, what the last one failed with: `ConnectionError`, `LeaseUnverifiableError`
   * where the card was out of reach too, `StreamInterruptedError` where streams opened and broke.
   */
  follow(options: FollowOptions = {}): AsyncIterable<TaskUpdate> {
    return iterableOnce("what follow() gives", this.#actions.follow(this.#entry, options));
  }

  /**
   * Waits until the task is over or asks something, by stream or by poll, and says what it came to. A question that is
   * known already is read once more: after a login the work may go on without a message.
   *
   * @throws TimeoutError when `deadlineMs` or `noProgressMs` passes; the task is left alone. Otherwise as
   * {@link TaskHandle.follow} does.
   */
  result(options: ResultOptions = {}): Promise<TaskOutcome> {
    return this.#actions.result(this.#entry, options);
  }

  /**
   * Sends the next message of this task, after a check of the card. Throws as `client.sendMessage` does, and
   * TaskTerminalError when the task is over; nothing was sent then.
   */
  sendMessage(input: MessageInput, options: SendOptions = {}): Promise<SendReply> {
    return this.#actions.send(this.#entry, input, options);
  }

  /**
   * Starts a new task in this task's context, under the client's plan. Throws as `client.sendMessage` does, and a
   * TypeError while the context is not known yet.
   */
  continueInContext(input: MessageInput, options: SendOptions = {}): Promise<SendReply> {
    const { contextId } = this;
    if (contextId === undefined) {
      return Promise.reject(new TypeError(`task ${this.id} has no known context; call get() first`));
    }
    return this.#actions.start(input, { ...options, contextId });
  }

  /**
   * Cancels the task (3.1.5) and waits until it is seen to be canceled. Depends on no card: leaving is always
   * possible. Resolves to this handle.
   *
   * @throws TaskNotCancelableError when the task ended otherwise; CancelNotConfirmedError when it goes on;
   * TaskForgottenError; the protocol and transport errors.
   */
  async cancel(options: CancelOptions = {}): Promise<this> {
    try {
      await this.#actions.cancel(this.#entry, options);
    } finally {
      // What the task came to by being cancelled depends on no card.
      if (this.#sealed) this.#seal();
    }
    return this;
  }

  /**
   * Reads the task once and raw at the pinned interface, without a lease, so that finished work is never out of reach.
   * The handle does not take it over. Throws the protocol and transport errors.
   */
  salvage(options: CallOptions = {}): Promise<SalvagedTask> {
    return this.#actions.salvage(this.#entry, options);
  }

  /**
   * Reads the live card in full and pins the task to it. Resolves to another handle; this one keeps throwing, and
   * neither the client nor other handles are touched. Throws RequirementUnmetError when the live card does not meet
   * the plan, and LeaseUnverifiableError when it can't be read.
   */
  renegotiate(options: RenegotiateOptions = {}): Promise<TaskHandle> {
    return this.#actions.renegotiate(this.#entry, options);
  }

  /** The record of the task: pin, requirements, last state, deviations. Holds no secret. */
  toJSON(): TaskRecord {
    return Object.freeze({ ...this.#record, pin: this.pin });
  }

  get #record(): TaskRecord {
    return this.#sealed ?? this.#entry.tracked.record;
  }

  #seal(): void {
    this.#sealed = this.#entry.tracked.record;
  }
}
