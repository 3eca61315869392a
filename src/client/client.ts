import type { AgentCard } from "../model/card.ts";
import type { ClientEventName } from "../model/client-events.ts";
import type { Deviation } from "../model/deviation.ts";
import type { CardVerdict } from "../model/drift.ts";
import type { Lease } from "../model/lease.ts";
import type { CardPin } from "../model/pin.ts";
import type { ProbeReport } from "../model/probe.ts";
import type {
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksRequest,
  SubscribeToTaskRequest,
} from "../model/requests.ts";
import type { CardRequirements } from "../model/requirements.ts";
import { createHandleActions } from "./actions.ts";
import type { CallOptions } from "./call.ts";
import { cancelTask } from "./cancel.ts";
import { type DelegateOptions, type DelegateOutcome, delegate } from "./delegate.ts";
import { TaskDesk } from "./desk.ts";
import { type EntryContext, findEntry, findSender, findToLeave, type Sender } from "./entry.ts";
import { adoptExtended } from "./extended.ts";
import type { SendReply, TaskHandle, TaskStream } from "./handle.ts";
import type { Holder } from "./holder.ts";
import { listTasks } from "./list.ts";
import type { MessageInput, SendOptions } from "./message.ts";
import type { Listener } from "./observer.ts";
import { effectiveCard } from "./pinned.ts";
import { createPlan } from "./plan.ts";
import { probeAgent } from "./probe.ts";
import type { ProbeOptions } from "./probe-options.ts";
import { getTask, subscribeToTask } from "./reads.ts";
import { RecoveringClient } from "./recovering.ts";
import { pinLiveCard } from "./renegotiate.ts";
import { revalidatePlan } from "./revalidate.ts";
import { sendMessage, sendStreamingMessage } from "./send.ts";
import { type AgentTrust, cardDeviationsOf, leaseOf, type Session, trustIn } from "./session.ts";
import type { RenegotiateOptions } from "./task-options.ts";
import type { TaskPage } from "./task-page.ts";
import { type WatchOptions, watchCard } from "./watch.ts";

/**
 * A client of one agent. It holds a plan: a pin of the card that was read when the client was made. Every new task is
 * checked against the plan and its handle inherits the pin; another card is only ever adopted by `renegotiate`.
 */
export class A2AClient extends RecoveringClient implements AsyncDisposable {
  readonly #session: Session;
  readonly #desk: TaskDesk;
  readonly #closing: AbortController;
  readonly #context: EntryContext;
  #plan: Holder;

  /** @internal */
  constructor(session: Session, pin: CardPin, closing: AbortController) {
    super(() => this.#context);
    this.#session = session;
    this.#closing = closing;
    this.#plan = this.#planOn(pin, session.options.requires);
    const send = (input: MessageInput, options?: SendOptions) => this.sendMessage(input, options);
    const actions = createHandleActions(session, () => this.#desk, send);
    this.#desk = new TaskDesk(session, actions);
    this.#context = { session, desk: this.#desk, plan: () => this.#plan };
  }

  /** The card that the plan is pinned to, frozen: the extended one, once it was read. */
  get card(): AgentCard {
    return effectiveCard(this.#plan.pin);
  }

  /** What of the card breaks the spec and could be read: a path of an older protocol, lists left out, bad entries. */
  get deviations(): readonly Deviation[] {
    return cardDeviationsOf(this.#session);
  }

  /** The pin that every new task inherits. */
  get pin(): CardPin {
    return this.#plan.pin;
  }

  /** The lease on the plan's pin as it stands after the last check. */
  get lease(): Lease {
    return leaseOf(this.#session, this.#plan.pin);
  }

  /** Aborted when the lease of the plan ends, with the error as its reason; after `renegotiate` there is a new one. */
  get signal(): AbortSignal {
    return this.#plan.signal;
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
    return sendMessage(this.#session, this.#desk, await this.#sender(input, options), input, options);
  }

  /**
   * Sends a message and streams what comes of it (3.1.2), after a check of the card. Resolves when the head of the
   * stream was accepted, so that a drift rejects the await.
   *
   * @throws as {@link A2AClient.sendMessage} does, and CapabilityMissingError where the card does not stream.
   */
  async sendStreamingMessage(input: MessageInput, options: SendOptions = {}): Promise<TaskStream> {
    const sender = await this.#sender(input, options);
    return sendStreamingMessage(this.#session, this.#desk, sender, input, options);
  }

  /**
   * Delegates a piece of work: sends the message, follows what comes of it, answers nothing by itself, and resolves to
   * what it came to. Streams where the card has it, polls where not. What it throws once there is a task has the
   * `taskId`, and never says that delegating again is safe: go on with `client.task(taskId)`. Throws as {@link A2AClient.sendMessage} and `TaskHandle.result` do.
   */
  async delegate(input: MessageInput, options: DelegateOptions = {}): Promise<DelegateOutcome> {
    return delegate(this.#session, this.#desk, await this.#sender(input, options), { input, options });
  }

  /**
   * Reads a task (3.1.3). Resolves to its handle; a task that the ledger does not know is pinned to the card of now.
   * Throws as `TaskHandle.get` does, and TaskNotFoundError for a task that nobody has seen.
   */
  async getTask(request: GetTaskRequest, options: CallOptions = {}): Promise<TaskHandle> {
    const { entry, isChecked } = await findEntry(this.#context, request.id, options);
    const { id: _task, ...more } = request;
    await getTask(this.#session, entry, { ...options, ...more }, isChecked);
    return entry.handle;
  }

  /**
   * Lists tasks (3.1.4), newest status first: one page, which is an iterator over the tasks of all pages too. Each is
   * folded into its handle; one that the ledger does not know is pinned to the card of this moment.
   *
   * @throws TypeError naming a filter that can't be; CardDriftError, LeaseUnverifiableError, LedgerUnavailableError, the
   * protocol and transport errors.
   */
  listTasks(request: ListTasksRequest = {}, options: CallOptions = {}): Promise<TaskPage> {
    return listTasks(this.#context, request, options);
  }

  /** Subscribes to a task (3.1.6). Throws as `TaskHandle.subscribe` does. */
  async subscribeToTask(request: SubscribeToTaskRequest, options: CallOptions = {}): Promise<TaskStream> {
    const { entry, isChecked } = await findEntry(this.#context, request.id, options);
    return subscribeToTask(this.#session, entry, options, isChecked);
  }

  /** Cancels a task (3.1.5) and waits until it is seen to be canceled. Throws as `TaskHandle.cancel` does. */
  async cancelTask(request: CancelTaskRequest, options: CallOptions = {}): Promise<TaskHandle> {
    const entry = await findToLeave(this.#context, request.id);
    const { id: _task, ...more } = request;
    await cancelTask(this.#session, entry, { ...options, ...more });
    return entry.handle;
  }

  /**
   * Reads the extended card (3.1.11). From then on it is the one that this client's requirements are judged by, pinned
   * beside the public card and checked with it. Reading it is no drift.
   *
   * @throws CapabilityMissingError where the card declares none; CardInvalidError when it is no card; CardSignatureError when
   * it is not signed as asked, or not by the pinned signer; AuthenticationError; the protocol and transport errors.
   */
  async getExtendedAgentCard(options: CallOptions = {}): Promise<AgentCard> {
    await adoptExtended(this.#session, this.#plan, options);
    return this.card;
  }

  /**
   * The handle of a task by its id. Makes no call; a task that the ledger does not know is pinned to the card of this
   * moment, which is checked for that.
   *
   * @throws the errors of {@link A2AClient.renegotiate} when the card of this moment can't be pinned.
   */
  async task(id: string, options: CallOptions = {}): Promise<TaskHandle> {
    const { entry } = await findEntry(this.#context, id, options);
    return entry.handle;
  }

  /**
   * Drives one task through its whole life to see how the agent really behaves, and writes down what it earned: with
   * every check passed it is lifecycle-trusted, until it breaks a rule.
   *
   * @throws as {@link A2AClient.sendMessage} does; TimeoutError when the task takes too long.
   */
  probe(options: ProbeOptions): Promise<ProbeReport> {
    return probeAgent(this.#session, this.#plan, options);
  }

  /** What the agent has earned, with the record of it; there is none before the first probe or broken rule. */
  get trust(): AgentTrust {
    return trustIn(this.#session, this.#plan.pin);
  }

  /**
   * Reads the live card in full and says how it differs from the plan. Adopts nothing and ends nothing.
   *
   * @throws LeaseUnverifiableError when the card can't be read.
   */
  revalidate(options: CallOptions = {}): Promise<CardVerdict> {
    return revalidatePlan(this.#session, this.#plan, options);
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
    const pin = await pinLiveCard(this.#session, "forced", requirements, options, this.pin.extended);
    this.#plan = this.#planOn(pin, requirements);
    return this;
  }

  /**
   * Checks the card every so often, for the plan and every handle that somebody holds, so that a drift ends their leases
   * between calls too. Nothing else runs between calls. Returns the way to stop; closing the client stops it as well.
   */
  watch(options: WatchOptions): () => void {
    return watchCard(this.#session, options, () => [this.#plan, ...this.#desk.holders()]);
  }

  /** Hears one kind of the client's events. Returns the way to stop listening. What a listener throws is dropped. */
  on<N extends ClientEventName>(name: N, listener: Listener<N>): () => void {
    return this.#session.observer.on(name, listener);
  }

  /** Ends everything that is under way at once; later calls reject. A ledger that was handed in stays open. */
  async close(): Promise<void> {
    this.#closing.abort(new DOMException("the client was closed", "AbortError"));
  }

  /** Closes the client: `await using client = …`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #planOn(pin: CardPin, requirements: CardRequirements): Holder {
    return createPlan(this.#session, pin, requirements, (options) => this.renegotiate(options));
  }

  #sender(input: MessageInput, options: CallOptions): Promise<Sender> {
    return findSender(this.#context, input, options);
  }
}
