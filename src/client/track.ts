import { keepHistory } from "../lifecycle/history.ts";
import { judgeObservation } from "../lifecycle/judge.ts";
import { isReplay, rememberProgress } from "../lifecycle/memory.ts";
import { observe } from "../lifecycle/observe.ts";
import { findForeign } from "../lifecycle/rules.ts";
import type { Artifact } from "../model/artifact.ts";
import { addDeviations, type Deviation } from "../model/deviation.ts";
import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from "../model/events.ts";
import type { LifecycleRule, Observation, ObservationSource } from "../model/observation.ts";
import type { CardPin } from "../model/pin.ts";
import type { LedgerEntry, TaskRecord } from "../model/record.ts";
import type { CardRequirements } from "../model/requirements.ts";
import { isInterruptedState, isTerminalState } from "../model/states.ts";
import type { Task } from "../model/task.ts";
import { isoTime } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import { breakRule } from "./break-rule.ts";
import { type Judged, type JudgeFacts, type Mark, type Omissions, placeOf } from "./judged.ts";
import { createOutputs, type Feed, type Outputs } from "./outputs.ts";
import { claimsHistory } from "./pinned.ts";
import type { Session } from "./session.ts";
import { takenFrom, writeTask } from "./write-record.ts";

/** One task as this client sees it: the record in the ledger, and the artifacts that grow between two writes. */
export class TrackedTask {
  /** Its artifacts, as they grow. */
  readonly outputs: Outputs;
  readonly #session: Session;
  #entry: LedgerEntry<TaskRecord> | undefined;
  #record: TaskRecord;
  #answered: Observation | undefined;
  #statusCount = 0;
  #writing: Promise<void> = Promise.resolve();
  #queued: Promise<void> | undefined;

  constructor(session: Session, record: TaskRecord, entry?: LedgerEntry<TaskRecord>) {
    this.#session = session;
    this.#record = record;
    this.#entry = entry;
    this.outputs = createOutputs(record.task?.artifacts, session.options.limits.responseBytes);
  }

  /** The record, artifacts included, as it would be written now. */
  get record(): TaskRecord {
    const { task } = this.#record;
    const artifacts = this.outputs.list();
    if (!task || task.artifacts === artifacts || artifacts.length === 0) return this.#record;
    this.#record = Object.freeze({ ...this.#record, task: Object.freeze({ ...task, artifacts }) });
    return this.#record;
  }

  /** The artifacts so far. */
  get artifacts(): readonly Artifact[] {
    return this.outputs.list();
  }

  /** What was last folded in. */
  get last(): Observation | undefined {
    return this.#record.memory.observations.at(-1);
  }

  /** The last distinct things seen. */
  get observations(): readonly Observation[] {
    return this.#record.memory.observations;
  }

  /** How the task ended, once it has. */
  get terminal(): Observation | undefined {
    return this.#record.memory.terminal;
  }

  /** How far the task has come; taken when a request leaves, it tells an answer that was overtaken on its way. */
  get mark(): Mark {
    return Object.freeze({ statusCount: this.#statusCount, pieceCount: this.outputs.pieceCount });
  }

  /**
   * Notes that the question which the task asks now is being answered: an agent may show it once more before it goes
   * on, and it is no question any longer. The returned function takes it back, for an answer that was refused.
   */
  answer(): () => void {
    const { last } = this;
    const before = this.#answered;
    this.#answered = last && isInterruptedState(last.state) ? last : undefined;
    this.progress();
    return () => {
      this.#answered = before;
    };
  }

  /** Whether an observation only shows a question again that was answered. */
  isAnswered(seen: Observation): boolean {
    return this.#answered !== undefined && isReplay(this.#answered, seen);
  }

  /** Notes progress that is no change of status. */
  progress(): void {
    this.#set({ memory: rememberProgress(this.#record.memory) });
  }

  /** What a task or a status update shows, stamped with our time. */
  observe(seen: Task | TaskStatusUpdateEvent, source: ObservationSource, isFullHistory = false): Observation {
    return observe(seen, { source, isFullHistory, seenAt: isoTime(this.#session.clock.now()) });
  }

  /**
   * Judges an observation by the rules of a task's life. What it breaks is kept, reported, and under `enforce` thrown.
   *
   * @returns what to do with it, and what is known after it.
   * @throws LifecycleMismatchError when it breaks a rule that is enforced; nothing is folded in then.
   */
  judge(seen: Observation, facts: JudgeFacts = {}): Judged {
    const { taskId, contextId, memory, pin } = this.#record;
    const { trust, options } = this.#session;
    const { position, ...place } = placeOf(seen, facts, { memory, statusCount: this.#statusCount });
    const verdict = judgeObservation(memory, seen, {
      taskId,
      ...defined({ contextId, beforeSend: facts.beforeSend }),
      ...trust.unlocks(pin),
      claimsHistory: claimsHistory(pin),
      maxIdleRounds: options.maxIdleRounds,
      ...place,
    });
    this.note(verdict.deviations);
    const { outcome } = verdict;
    if (outcome !== "broken") return { outcome, memory: verdict.memory, position, ...place };
    this.breakRule(verdict.rule, verdict.message, verdict.observations);
    return { outcome: verdict.memory === memory ? "dropped" : "advance", memory: verdict.memory };
  }

  /**
   * Whether something that names a task is of this one.
   *
   * @throws LifecycleMismatchError when it is not, unless rules are only observed.
   */
  owns({ taskId, contextId }: { readonly taskId?: string; readonly contextId?: string }): boolean {
    const named = defined({ taskId, contextId });
    const message = findForeign(named, this.#record);
    if (message === undefined) return true;
    const evidence = this.last ? [{ ...this.last, ...named }] : [];
    this.breakRule("identity", message, Object.freeze([...this.observations, ...evidence]));
    return false;
  }

  /**
   * Reports a broken rule.
   *
   * @throws LifecycleMismatchError unless rules are only observed.
   */
  breakRule(rule: LifecycleRule, message: string, observations: readonly Observation[]): void {
    const { pin, taskId } = this.#record;
    this.note([breakRule(this.#session, pin, { rule, message, observations, taskId })]);
  }

  /** Takes what a judgement said is known, where the task itself says nothing new. */
  keep({ memory }: Judged): void {
    this.#set({ memory });
  }

  /** Folds in a whole task that was judged. */
  foldTask(task: Task, { outcome, memory }: Judged, facts: Omissions & JudgeFacts & { feed?: Feed }): void {
    this.outputs.take(task.artifacts, {
      mayOmit: facts.artifacts === true,
      feed: facts.feed,
      isReplay: outcome === "replay",
      isOver: isTerminalState(task.status.state),
      pieceCount: facts.mark?.pieceCount,
    });
    const whole = { ...task, artifacts: this.artifacts };
    this.#fold({ task: keepHistory(this.#record.task, whole, facts.history), memory });
  }

  /** Folds in a change of status that was judged. */
  foldStatus(update: TaskStatusUpdateEvent, { memory }: Judged): void {
    const before = this.#record.task ?? { id: update.taskId };
    const named = defined({ contextId: update.contextId ?? this.#record.contextId });
    this.#fold({ task: Object.freeze({ ...before, ...named, status: update.status }), memory });
  }

  /**
   * Folds in a piece of an artifact.
   *
   * @throws LifecycleMismatchError for a piece that comes after the last one; it is not folded in then.
   */
  foldArtifact(update: TaskArtifactUpdateEvent, feed: Feed): void {
    this.progress();
    // A task that was seen whole at its end has all of its outputs; what a slower stream still brings is in them.
    if (this.terminal && this.last?.isSnapshot) return;
    const oddity = this.outputs.oddityOf(update, feed);
    if (oddity?.kind === "append-after-last-chunk") {
      this.breakRule("artifact-order", oddity.message, this.observations);
    }
    if (oddity) this.note([oddity]);
    this.outputs.add(update, feed);
  }

  /** Keeps what broke the spec. */
  note(found: readonly Deviation[]): void {
    const { taskId, deviations: before } = this.#record;
    const deviations = addDeviations(before, found);
    if (deviations === before) return;
    for (const deviation of deviations.slice(before.length)) {
      this.#session.observer.emit("deviation", { taskId, deviation });
    }
    this.#set({ deviations });
  }

  /** Moves the pin; the former one stays in the record's history. */
  repin(pin: CardPin, requirements: CardRequirements): void {
    const former = { digest: this.#record.pin.digest, until: isoTime(this.#session.clock.now()) };
    const formerPins = Object.freeze([...this.#record.formerPins, former].slice(-20));
    this.#set({ pin, requirements, formerPins });
  }

  /** Writes the record; who asks while a write waits for its turn shares it. Throws as {@link writeTask} does. */
  commit(): Promise<void> {
    if (this.#queued) return this.#queued;
    const write = async () => {
      this.#queued = undefined;
      const parts = { current: () => this.record, merge: (theirs: TaskRecord) => this.#merge(theirs) };
      this.#entry = await writeTask(this.#session, this.#entry, parts);
    };
    const queued = this.#writing.then(write);
    this.#queued = queued;
    this.#writing = queued.catch(() => {});
    return queued;
  }

  /** Takes in what another holder of the task wrote. */
  #merge(theirs: TaskRecord): void {
    const taken = takenFrom(theirs, this.#record);
    const isOver = taken.memory?.terminal !== undefined;
    if (taken.task) this.outputs.take(taken.task.artifacts, { mayOmit: !isOver, isReplay: false, isOver });
    if (taken.memory) this.#statusCount += 1;
    this.#set(taken);
  }

  #fold(members: Pick<TaskRecord, "memory"> & { readonly task: Task }): void {
    // A repetition is no step: it leaves the memory's list of them as it was.
    if (members.memory.observations !== this.#record.memory.observations) this.#statusCount += 1;
    this.#set(members);
    if (this.last && !this.isAnswered(this.last)) this.#answered = undefined;
  }

  #set(members: Partial<TaskRecord>): void {
    const { task = this.#record.task } = members;
    const contextId = this.#record.contextId ?? task?.contextId;
    this.#record = Object.freeze({ ...this.#record, ...members, ...defined({ contextId }) });
  }
}
