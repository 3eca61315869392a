import { A2ALeaseError } from "../errors/base.ts";
import { LeaseUnverifiableError } from "../errors/lease.ts";
import { renewLease } from "../lease/renew.ts";
import type { AgentCard } from "../model/card.ts";
import type { CardVerdict } from "../model/drift.ts";
import type { Lease } from "../model/lease.ts";
import type { CardPin } from "../model/pin.ts";
import type { CancelTaskRequest, GetTaskRequest, SubscribeToTaskRequest } from "../model/requests.ts";
import type { CardRequirements } from "../model/requirements.ts";
import { createScope } from "../util/abort.ts";
import type { CallOptions } from "./call.ts";
import { cancelTask } from "./cancel.ts";
import { judgeOptionsOf, pinnedCard } from "./check.ts";
import { TaskDesk } from "./desk.ts";
import type {
  HandleActions,
  HandleEntry,
  RenegotiateOptions,
  SendReply,
  TaskHandle,
  TaskStream,
} from "./handle.ts";
import { createHolder, type Holder } from "./holder.ts";
import type { MessageInput, SendOptions } from "./message.ts";
import { getTask, salvageTask, subscribeToTask } from "./reads.ts";
import { pinLiveCard } from "./renegotiate.ts";
import { type Sender, sendMessage, sendStreamingMessage } from "./send.ts";
import { leaseOf, type Session } from "./session.ts";

/**
 * A client of one agent. It holds a plan: a pin of the card that was read when the client was made. Every new task is
 * checked against the plan and its handle inherits the pin; another card is only ever adopted by `renegotiate`.
 */
export class A2AClient implements AsyncDisposable {
  readonly #session: Session;
  readonly #desk: TaskDesk;
  readonly #closing: AbortController;
  #plan: Holder;

  /** @internal */
  constructor(session: Session, pin: CardPin, closing: AbortController) {
    this.#session = session;
    this.#closing = closing;
    this.#plan = this.#planOn(pin, session.options.requires);
    this.#desk = new TaskDesk(session, this.#actions());
  }

  /** The card that the plan is pinned to, frozen. */
  get card(): AgentCard {
    return pinnedCard(this.#plan.pin);
  }

  /** The pin that every new task inherits. */
  get pin(): CardPin {
    return this.#plan.pin;
  }

  /** The lease on the plan's pin as it stands after the last check. */
  get lease(): Lease {
    return leaseOf(this.#session, this.#plan.pin);
  }

  /**
   * Sends a message (3.1.1), after a check of the card. Asks the agent to answer at once unless `blocking` is asked
   * for: the handle is how one waits. A message is never sent twice by itself.
   *
   * @throws CardDriftError, LeaseUnverifiableError, RequirementUnmetError and LedgerUnavailableError before anything is
   * sent; SendOutcomeUnknownError when it left and no usable answer came; the protocol and transport errors when the
   * agent refused it.
   */
  async sendMessage(input: MessageInput, options: SendOptions = {}): Promise<SendReply> {
    return sendMessage(this.#session, this.#desk, await this.#senderOf(input), input, options);
  }

  /**
   * Sends a message and streams what comes of it (3.1.2), after a check of the card. Resolves when the head of the
   * stream was accepted, so that a drift rejects the await.
   *
   * @throws as {@link A2AClient.sendMessage} does, and CapabilityMissingError where the card does not stream.
   */
  async sendStreamingMessage(input: MessageInput, options: SendOptions = {}): Promise<TaskStream> {
    return sendStreamingMessage(this.#session, this.#desk, await this.#senderOf(input), input, options);
  }

  /**
   * Reads a task (3.1.3). Resolves to its handle; a task that the ledger does not know is pinned to the card of this
   * moment.
   *
   * @throws as `TaskHandle.get` does; TaskNotFoundError for a task that nobody has seen.
   */
  async getTask(request: GetTaskRequest, options: CallOptions = {}): Promise<TaskHandle> {
    const { entry, isChecked } = await this.#entryOf(request.id, options.signal);
    const { historyLength } = request;
    await getTask(
      this.#session,
      entry,
      historyLength === undefined ? options : { ...options, historyLength },
      isChecked,
    );
    return entry.handle;
  }

  /** Subscribes to a task (3.1.6). Throws as `TaskHandle.subscribe` does. */
  async subscribeToTask(request: SubscribeToTaskRequest, options: CallOptions = {}): Promise<TaskStream> {
    const { entry, isChecked } = await this.#entryOf(request.id, options.signal);
    return subscribeToTask(this.#session, entry, options, isChecked);
  }

  /** Cancels a task (3.1.5) and waits until it is seen to be canceled. Throws as `TaskHandle.cancel` does. */
  async cancelTask(request: CancelTaskRequest, options: CallOptions = {}): Promise<TaskHandle> {
    const entry = (await this.#desk.find(request.id)) ?? (await this.#adoptUnderPlan(request.id));
    const { metadata } = request;
    await cancelTask(this.#session, entry, metadata === undefined ? options : { ...options, metadata });
    return entry.handle;
  }

  /**
   * The handle of a task by its id. Makes no call; a task that the ledger does not know is pinned to the card of this
   * moment, which is checked for that.
   *
   * @throws the errors of {@link A2AClient.renegotiate} when the card of this moment can't be pinned.
   */
  async task(id: string, options: CallOptions = {}): Promise<TaskHandle> {
    const { entry } = await this.#entryOf(id, options.signal);
    return entry.handle;
  }

  /**
   * Reads the live card in full and says how it differs from the plan. Adopts nothing and ends nothing.
   *
   * @throws LeaseUnverifiableError when the card can't be read.
   */
  async revalidate(options: CallOptions = {}): Promise<CardVerdict> {
    const { pin, requirements } = this.#plan;
    const scope = createScope(this.#session.clock, [options.signal, this.#session.closed]);
    const { source } = this.#session;
    try {
      const renewal = await renewLease(source, {
        pin,
        requirements,
        kind: "forced",
        signal: scope.signal,
        judge: judgeOptionsOf(this.#session, { operation: "revalidate", check: "forced" }),
      });
      if (renewal.outcome === "drift") return renewal;
      if (renewal.outcome === "renewed") {
        this.#session.lastReading = renewal.reading;
        return { outcome: "same", changes: renewal.changes };
      }
      if (scope.signal.aborted) throw scope.signal.reason;
      const { failure } = renewal;
      const retryAfterMs = failure instanceof A2ALeaseError ? failure.retryAfterMs : undefined;
      throw new LeaseUnverifiableError(source.url ?? "", { cause: failure, retryAfterMs });
    } finally {
      scope.release();
    }
  }

  /**
   * Reads the live card in full and moves the plan to it. Tasks that are under way keep their pins. Resolves to this
   * client.
   *
   * @throws RequirementUnmetError when the live card does not meet the plan; LeaseUnverifiableError when it can't be
   * read; CardNotFoundError when it is gone; CardInvalidError, ProtocolVersionError and NoSupportedInterfaceError when
   * it can't be called.
   */
  async renegotiate(options: RenegotiateOptions = {}): Promise<this> {
    const requirements = options.requires ?? this.#plan.requirements;
    const pin = await pinLiveCard(this.#session, "forced", requirements, options.signal);
    this.#plan = this.#planOn(pin, requirements);
    return this;
  }

  /** Ends everything that is under way at once and lets go of the ledger. Later calls reject. */
  async close(): Promise<void> {
    this.#closing.abort(new DOMException("the client was closed", "AbortError"));
    await this.#session.ledger.close?.();
  }

  /** Closes the client: `await using client = …`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #planOn(pin: CardPin, requirements: CardRequirements): Holder {
    return createHolder({
      pin,
      requirements,
      renegotiate: async () => ({ client: await this.renegotiate() }),
    });
  }

  /** A whole message that names its task is sent under that task's pin, everything else under the plan. */
  async #senderOf(input: MessageInput): Promise<Sender> {
    const taskId = typeof input === "object" && "taskId" in input ? input.taskId : undefined;
    if (taskId === undefined) return { holder: this.#plan };
    const { entry } = await this.#entryOf(taskId, undefined);
    return { holder: entry.holder, task: entry };
  }

  async #entryOf(
    taskId: string,
    signal: AbortSignal | undefined,
  ): Promise<{ entry: HandleEntry; isChecked: boolean }> {
    const known = await this.#desk.find(taskId);
    if (known) return { entry: known, isChecked: false };
    const requirements = this.#plan.requirements;
    const pin = await pinLiveCard(this.#session, "ordinary", requirements, signal);
    // The same card is the same pin, so that one task has one handle.
    const plan = { pin: pin.digest === this.#plan.pin.digest ? this.#plan.pin : pin, requirements };
    return { entry: await this.#desk.adopt(taskId, undefined, plan), isChecked: true };
  }

  #adoptUnderPlan(taskId: string): Promise<HandleEntry> {
    const { pin, requirements } = this.#plan;
    return this.#desk.adopt(taskId, undefined, { pin, requirements });
  }

  #actions(): HandleActions {
    const session = this.#session;
    return {
      lease: (pin) => leaseOf(session, pin),
      get: (entry, options) => getTask(session, entry, options),
      subscribe: (entry, options) => subscribeToTask(session, entry, options),
      send: (entry, input, options) =>
        sendMessage(session, this.#desk, { holder: entry.holder, task: entry }, input, options),
      start: (input, options) => this.sendMessage(input, options),
      cancel: (entry, options) => cancelTask(session, entry, options),
      salvage: (entry, options) => salvageTask(session, entry.holder, entry.handle.id, options),
      renegotiate: async ({ tracked, holder }, options) => {
        const requirements = options.requires ?? holder.requirements;
        const pin = await pinLiveCard(session, "forced", requirements, options.signal);
        tracked.repin(pin, requirements);
        await tracked.commit();
        return this.#desk.entry(tracked, { pin, requirements }).handle;
      },
    };
  }
}
