import { LedgerConflictError } from "../errors/ledger.ts";
import { LifecycleMismatchError } from "../errors/lifecycle.ts";
import { taskKey } from "../ledger/ledger.ts";
import { type ArtifactFold, createArtifactFold } from "../lifecycle/artifacts.ts";
import { isReplay, judgeObservation } from "../lifecycle/judge.ts";
import { rememberProgress } from "../lifecycle/memory.ts";
import { observe } from "../lifecycle/observe.ts";
import type { Artifact } from "../model/artifact.ts";
import { addDeviations, type Deviation } from "../model/deviation.ts";
import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from "../model/events.ts";
import type { LifecycleRule, Observation, ObservationSource, TaskMemory } from "../model/observation.ts";
import type { CardPin } from "../model/pin.ts";
import type { LedgerEntry, TaskRecord } from "../model/record.ts";
import type { CardRequirements } from "../model/requirements.ts";
import { isInterruptedState } from "../model/states.ts";
import type { Task } from "../model/task.ts";
import { isoTime } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import type { Judged, JudgeFacts, Omissions } from "./judged.ts";
import { asLedgerError } from "./ledger-error.ts";
import { claimsHistory } from "./pinned.ts";
import type { Session } from "./session.ts";

/** How often a write is tried again when somebody else was first. */
const maxConflicts = 5;

/** One task as this client sees it: the record in the ledger, and the artifacts that grow between two writes. */
export class TrackedTask {
  readonly #session: Session;
  readonly #artifacts: ArtifactFold;
  #entry: LedgerEntry<TaskRecord> | undefined;
  #record: TaskRecord;
  #answered: Observation | undefined;
  #foldedAtMs = Number.NEGATIVE_INFINITY;

  constructor(session: Session, record: TaskRecord, entry?: LedgerEntry<TaskRecord>) {
    this.#session = session;
    this.#record = record;
    this.#entry = entry;
    this.#artifacts = createArtifactFold(record.task?.artifacts);
  }

  /** The record, artifacts included, as it would be written now. */
  get record(): TaskRecord {
    const { task } = this.#record;
    const artifacts = this.#artifacts.list();
    if (!task || task.artifacts === artifacts || artifacts.length === 0) return this.#record;
    this.#record = Object.freeze({ ...this.#record, task: Object.freeze({ ...task, artifacts }) });
    return this.#record;
  }

  /** The artifacts so far. */
  get artifacts(): readonly Artifact[] {
    return this.#artifacts.list();
  }

  /** What was last folded in. */
  get last(): Observation | undefined {
    return this.#record.memory.observations.at(-1);
  }

  /** The last distinct things seen. */
  get observations(): readonly Observation[] {
    return this.#record.memory.observations;
  }

  /** How many repetitions and late things were dropped. */
  get dropped(): Pick<TaskMemory, "replayCount" | "lateCount"> {
    const { replayCount, lateCount } = this.#record.memory;
    return { replayCount, lateCount };
  }

  /**
   * Notes that the question which the task asks now is being answered: an agent may show it once more before it goes
   * on, and it is no question any longer.
   */
  answer(): void {
    const { last } = this;
    this.#answered = last && isInterruptedState(last.state) ? last : undefined;
    this.progress();
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
    const { askedAtMs } = facts;
    const verdict = judgeObservation(memory, seen, {
      taskId,
      ...defined({ contextId, beforeSend: facts.beforeSend }),
      ...trust.unlocks(pin),
      claimsHistory: claimsHistory(pin),
      maxIdleRounds: options.maxIdleRounds,
      isOvertaken: askedAtMs !== undefined && askedAtMs < this.#foldedAtMs,
    });
    this.note(verdict.deviations);
    if (verdict.outcome !== "broken") return { outcome: verdict.outcome, memory: verdict.memory };
    this.breakRule(verdict.rule, verdict.message, verdict.observations);
    const isForeign = verdict.rule === "identity" || verdict.rule === "answered";
    return { outcome: isForeign ? "late" : "advance", memory: verdict.memory };
  }

  /**
   * Reports a broken rule.
   *
   * @throws LifecycleMismatchError unless rules are only observed.
   */
  breakRule(rule: LifecycleRule, message: string, observations: readonly Observation[]): void {
    const { pin, taskId } = this.#record;
    const card = { digest: pin.digest, version: pin.version };
    const error = new LifecycleMismatchError(rule, { message, observations, card, taskId });
    this.#session.trust.demote(pin, error);
    if (this.#session.options.lifecycle === "enforce") throw error;
    this.note([{ kind: rule, message }]);
  }

  /** Takes what a judgement said is known, where the task itself says nothing new. */
  keep({ memory }: Judged): void {
    this.#set({ memory });
  }

  /** Folds in a whole task that was judged. */
  foldTask(task: Task, { memory }: Judged, omissions: Omissions = {}): void {
    const before = this.#record.task;
    if (task.artifacts || !omissions.artifacts) this.#artifacts.replace(task.artifacts ?? []);
    const history = task.history ?? (omissions.history ? before?.history : undefined);
    const folded = {
      ...task,
      artifacts: this.#artifacts.list(),
      ...(history === undefined ? {} : { history }),
    };
    this.#fold({ task: Object.freeze(folded), memory });
  }

  /** Folds in a change of status that was judged. */
  foldStatus(update: TaskStatusUpdateEvent, { memory }: Judged): void {
    const before = this.#record.task ?? { id: update.taskId };
    const contextId = update.contextId ?? this.#record.contextId;
    const named = contextId === undefined ? {} : { contextId };
    this.#fold({ task: Object.freeze({ ...before, ...named, status: update.status }), memory });
  }

  /**
   * Folds in a piece of an artifact.
   *
   * @throws LifecycleMismatchError for a piece that comes after the last one.
   */
  foldArtifact(update: TaskArtifactUpdateEvent): void {
    const oddity = this.#artifacts.add(update);
    this.progress();
    if (!oddity) return;
    if (oddity.kind === "append-after-last-chunk") {
      this.breakRule("artifact-order", oddity.message, this.#record.memory.observations);
    }
    this.note([oddity]);
  }

  /** Keeps what broke the spec. */
  note(found: readonly Deviation[]): void {
    const deviations = addDeviations(this.#record.deviations, found);
    if (deviations === this.#record.deviations) return;
    const { taskId } = this.#record;
    for (const deviation of deviations.slice(this.#record.deviations.length)) {
      this.#session.observer.emit("deviation", { taskId, deviation });
    }
    this.#set({ deviations });
  }

  /** Moves the pin; the former one stays in the record's history. */
  repin(pin: CardPin, requirements: CardRequirements): void {
    const former = { digest: this.#record.pin.digest, until: isoTime(this.#session.clock.now()) };
    this.#set({
      pin,
      requirements,
      formerPins: Object.freeze([...this.#record.formerPins, former].slice(-20)),
    });
  }

  /**
   * Writes the record. When somebody else was first, theirs is read, and ours is written over it.
   *
   * @throws LedgerConflictError when that goes on; LedgerUnavailableError when the ledger fails.
   */
  async commit(): Promise<void> {
    const { ledger, clock } = this.#session;
    const { cardUrl, principal, taskId } = this.#record;
    const key = taskKey(cardUrl, principal, taskId);
    for (let attempt = 0; ; attempt++) {
      const record = { ...this.record, updatedAt: isoTime(clock.now()) };
      try {
        this.#entry = (await ledger.write(
          key,
          record,
          this.#entry?.revision ?? 0,
        )) as LedgerEntry<TaskRecord>;
        return;
      } catch (error) {
        if (!(error instanceof LedgerConflictError)) throw asLedgerError("write", error);
        if (attempt >= maxConflicts) throw error;
        this.#entry = (await ledger.read(key)) as LedgerEntry<TaskRecord> | undefined;
      }
    }
  }

  #fold(members: Pick<TaskRecord, "memory"> & { readonly task: Task }): void {
    this.#foldedAtMs = this.#session.clock.monotonicMs();
    this.#set(members);
    const { last } = this;
    if (last && this.#answered && !isReplay(this.#answered, last)) this.#answered = undefined;
  }

  #set(members: Partial<TaskRecord>): void {
    const { task = this.#record.task } = members;
    const contextId = this.#record.contextId ?? task?.contextId;
    this.#record = Object.freeze({
      ...this.#record,
      ...members,
      ...(contextId === undefined ? {} : { contextId }),
    });
  }
}
