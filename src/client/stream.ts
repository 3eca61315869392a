import { A2ALeaseError } from "../errors/base.ts";
import { SendOutcomeUnknownError } from "../errors/sending.ts";
import { StreamReplacedError } from "../errors/stream.ts";
import { ConnectionError } from "../errors/transport.ts";
import type { StreamResponse } from "../model/events.ts";
import { onAbort } from "../util/abort.ts";
import { iterableOnce } from "../util/iterate.ts";
import { aboutTask } from "./about-task.ts";
import { breakRule } from "./break-rule.ts";
import { forgotten } from "./forgotten.ts";
import { closeSoon } from "./guard.ts";
import type { HandleEntry, TaskHandle, TaskStream } from "./handle.ts";
import type { Feed } from "./outputs.ts";
import { type Received, receiveEvent, tellDeviations } from "./receive.ts";
import type { LeaseHolder } from "./session.ts";
import { isSettled, type SettleRule } from "./settle.ts";
import type { HeldStream } from "./shared-stream.ts";
import { createSilences, type Silences } from "./silence.ts";
import { answerOf, createNewsBound, cutError, identityOf, misplacedBy } from "./stream-end.ts";
import type { TaskStreamParts } from "./stream-parts.ts";
import { createStreamPlace, type StreamPlace } from "./stream-place.ts";
import { isUnknownOutcome } from "./surprise.ts";
import type { SkippedFrames } from "./task-options.ts";

/** A stream as its caller sees it, and as its handle holds it. */
export type HeldTaskStream = TaskStream & HeldStream;

/** Makes a {@link TaskStream} of a stream whose head was accepted; from then on it has its handle's connection. */
export function createTaskStream(parts: TaskStreamParts): HeldTaskStream {
  return new StreamReader(parts);
}

class StreamReader implements HeldTaskStream {
  readonly #parts: TaskStreamParts;
  readonly #sequence = this.#readOnce();
  #task: HandleEntry | undefined;
  #feed: Feed | undefined;
  readonly #place: StreamPlace;
  #eventCount = 0;
  #oddityCount = 0;
  #isAnswered = false;
  #isClosed = false;
  #isReplaced = false;
  readonly #silences: Silences;
  #broken: ConnectionError | undefined;
  #stopGrace: (() => void) | undefined;
  #stopGuard: (() => void) | undefined;
  #unwatch: () => void;

  constructor(parts: TaskStreamParts) {
    this.#parts = parts;
    this.#task = parts.task;
    this.#place = createStreamPlace(parts.mark);
    this.#unwatch = this.#watch(parts.task?.holder ?? parts.plan);
    this.#silences = createSilences(parts, () => (parts.sent && !this.#eventCount ? undefined : this.#task));
    parts.task?.slot.hold(this);
  }

  get task(): TaskHandle | undefined {
    return this.#task?.handle;
  }

  get skipped(): SkippedFrames {
    return this.#parts.opened.answer.skipped;
  }

  get retryMs() {
    return this.#parts.opened.answer.retryMs;
  }

  replace(): void {
    this.#isReplaced = true;
    this.close();
  }

  close(): void {
    const { opened } = this.#parts;
    this.#isClosed = true;
    this.#stopGrace?.();
    this.#stopGuard?.();
    this.#unwatch();
    this.#task?.slot.release(this);
    this.#feed?.close();
    opened.answer.close();
    // A check that the next event waits for ends too.
    opened.scope.abort(new DOMException("the stream was closed", "AbortError"));
    opened.scope.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  [Symbol.asyncIterator](): AsyncIterator<StreamResponse> {
    return this.#sequence[Symbol.asyncIterator]();
  }

  /** The events, for one reader. A reading that never began has nothing of its own to end. */
  #readOnce(): AsyncIterable<StreamResponse> {
    const run = this.#run();
    const leave = async () => {
      this.close();
      return run.return(undefined);
    };
    return iterableOnce("a TaskStream", { next: () => run.next(), return: leave });
  }

  /** A lease that ends by whatever call ends the streams under it. */
  #watch({ signal }: LeaseHolder): () => void {
    return onAbort(signal, () => this.#parts.opened.scope.abort(signal.reason));
  }

  async *#run(): AsyncGenerator<StreamResponse> {
    const { opened, plan, guard } = this.#parts;
    if (!this.#isClosed) this.#stopGuard = guard(() => this.#task?.holder ?? plan);
    try {
      if (yield* this.#deliver()) return;
    } catch (error) {
      if (!this.#isClosed) throw this.#task ? aboutTask(error, this.#task.handle.id, opened.callers) : error;
    } finally {
      this.#noteOddities();
      this.close();
    }
    if (this.#isReplaced && this.#task) throw new StreamReplacedError(this.#task.handle.id, this.#eventCount);
  }

  /** The events, to the end; says whether that is a good one. */
  async *#deliver(): AsyncGenerator<StreamResponse, boolean> {
    const { sent } = this.#parts;
    const noteNews = createNewsBound();
    for await (const event of this.#events()) {
      const isNew = noteNews(await this.#receive(event));
      this.#isAnswered = this.#eventCount === 0 && sent !== undefined && "message" in event;
      this.#eventCount += 1;
      if (isNew) yield event;
      if (this.#shows(this.#parts.settle)) return true;
    }
    if (this.#isClosed) return false;
    const found = this.#silences.foundSettled ? this.#task?.handle.task : undefined;
    if (found) {
      yield { task: found };
      return true;
    }
    const isSettledElsewhere = this.#task && isSettled(this.#task.tracked, this.#parts.settle);
    // A message as the whole answer says nothing of the task it was sent to; reading it again does.
    if (this.#isAnswered) await sent?.delivery.lookAgain();
    else if (!this.#stopGrace && !isSettledElsewhere) {
      throw await cutError(this.#parts, this.#task, { eventCount: this.#eventCount, cause: this.#broken });
    }
    return true;
  }

  /** The binding's events, with what goes wrong on the way judged by the card first. */
  async *#events(): AsyncGenerator<StreamResponse> {
    const { opened, plan, sent } = this.#parts;
    try {
      yield* opened.answer.events;
    } catch (error) {
      // A caller who gave up knows nothing of the message: its intent stays open.
      if (opened.scope.signal.aborted && !(error instanceof A2ALeaseError)) throw opened.scope.signal.reason;
      // A message in place of a task was the whole answer, however the stream went on.
      if (this.#stopGrace && !this.#task) return;
      // The look that a silence led to has asked the card itself.
      if (error === this.#silences.failure) throw error;
      if (error instanceof ConnectionError) {
        // A connection that breaks ends the stream as one that closes too early does.
        this.#broken = error;
        return;
      }
      const unseen = this.#eventCount === 0 ? sent : undefined;
      const isLost = unseen && isUnknownOutcome(error);
      const told = unseen ? error : forgotten(this.#task?.handle.task, error);
      const outcome = isLost ? new SendOutcomeUnknownError(unseen.message, error) : told;
      // A lease that ends while the first event is waited for refuses nothing.
      const isOpen = isLost || opened.scope.signal.aborted;
      if (this.#eventCount === 0) await opened.intent?.close(isOpen ? "unknown" : "refused");
      const meaning = await unseen?.delivery.failed(outcome);
      if (meaning !== undefined && meaning !== outcome) throw meaning;
      const knowsTask = this.#task?.tracked.last !== undefined;
      await opened.fail(error, { holder: this.#task?.holder ?? plan, knowsTask, outcome });
    }
  }

  /** Takes an event; says whether it is for whoever reads this stream. */
  async #receive(event: StreamResponse): Promise<boolean> {
    const { opened, sent } = this.#parts;
    const isFirst = this.#eventCount === 0;
    const isAdopted = !this.#task && !("message" in event);
    if (isAdopted) {
      const { taskId, contextId } = identityOf(event);
      this.#task = await this.#parts.adopt(taskId, contextId);
      this.#unwatch();
      this.#unwatch = this.#watch(this.#task.holder);
      if (!this.#isClosed) this.#task.slot.hold(this);
    }
    if (isFirst) await opened.intent?.close("answered", answerOf(this.#task));
    if (isFirst) sent?.delivery.taken("message" in event);
    this.#judgeShape(event);
    if (!this.#task) return true;
    const { tracked, holder, slot } = this.#task;
    this.#feed ??= tracked.outputs.open();
    const beforeSend = sent && isAdopted ? tracked.terminal : undefined;
    const bringsMore = "task" in event && !tracked.outputs.holds(event.task.artifacts ?? [], this.#feed);
    const isWanted = "task" in event && (isFirst || bringsMore);
    const seen = { source: "stream", omissions: { history: true }, ...this.#place.facts } as const;
    const reception = { tracked, holder, forceCheck: opened.forceCheck, beforeSend, ...seen };
    let isTold = false;
    const onFolded = (received: Received): void => {
      this.#noteOddities();
      isTold = this.#place.take(received, tracked, isWanted);
      if (isTold) slot.announce({ event, isFirst, shows: (rule) => this.#shows(rule) });
    };
    await receiveEvent(event, { ...reception, onFolded }, this.#feed);
    return isTold;
  }

  /** Keeps what was odd about the stream so far; an answer without a task is only told of. */
  #noteOddities(): void {
    const { session, opened } = this.#parts;
    const { deviations } = opened.answer;
    if (deviations.length === this.#oddityCount) return;
    if (this.#task) this.#task.tracked.note(deviations);
    else tellDeviations(session, deviations.slice(this.#oddityCount));
    this.#oddityCount = deviations.length;
  }

  /** 3.1.2, 3.1.6: the first event is the task, or a message in its place with nothing after it. */
  #judgeShape(event: StreamResponse): void {
    const { session, plan, opened } = this.#parts;
    const isFirst = this.#eventCount === 0;
    const isMisplaced = isFirst && !("task" in event) && !("message" in event);
    if (isMisplaced || this.#stopGrace) {
      const message = misplacedBy(event, isMisplaced);
      this.#stopGrace?.();
      this.#stopGrace = undefined;
      const { tracked } = this.#task ?? {};
      if (tracked) tracked.breakRule("stream-shape", message, tracked.observations);
      else breakRule(session, plan.pin, { rule: "stream-shape", message, observations: [] });
    }
    if (!this.#task) this.#stopGrace = closeSoon(session.clock, opened.scope, () => opened.answer.close());
  }

  /** Whether the task is settled, and this stream has come so far. */
  #shows(rule: SettleRule): boolean {
    if (!this.#task) return false;
    const { tracked } = this.#task;
    return isSettled(tracked, rule) && isSettled(tracked, rule, this.#place.seen ?? tracked.last);
  }
}
