import type { A2ALeaseError } from "../errors/base.ts";
import { LedgerConflictError, LedgerUnavailableError } from "../errors/ledger.ts";
import { LifecycleMismatchError } from "../errors/lifecycle.ts";
import { taskKey } from "../ledger/ledger.ts";
import { type ArtifactFold, createArtifactFold } from "../lifecycle/artifacts.ts";
import { isReplay, judgeObservation } from "../lifecycle/judge.ts";
import { observe } from "../lifecycle/observe.ts";
import type { Artifact } from "../model/artifact.ts";
import { addDeviations, type Deviation } from "../model/deviation.ts";
import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from "../model/events.ts";
import type { Observation, ObservationSource } from "../model/observation.ts";
import type { CardPin } from "../model/pin.ts";
import type { LedgerEntry, TaskRecord } from "../model/record.ts";
import type { CardRequirements } from "../model/requirements.ts";
import { isInterruptedState } from "../model/states.ts";
import type { Task } from "../model/task.ts";
import { isoTime } from "../util/clock.ts";
import type { Session } from "./session.ts";

/** What an answer could leave out, so that its absence says nothing. */
export interface Omissions {
  readonly history?: boolean;
  readonly artifacts?: boolean;
}

/** How often a write is tried again when somebody else was first. */
const maxConflicts = 5;

/** One task as this client sees it: the record in the ledger, and the artifacts that grow between two writes. */
export class TrackedTask {
  readonly #session: Session;
  readonly #artifacts: ArtifactFold;
  #entry: LedgerEntry<TaskRecord> | undefined;
  #record: TaskRecord;
  #answered: Observation | undefined;

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

  /**
   * Notes that the question which the task asks now is being answered: an agent may show it once more before it goes
   * on, and it is no question any longer.
   */
  answer(): void {
    const { lastObservation } = this.#record;
    this.#answered =
      lastObservation && isInterruptedState(lastObservation.state) ? lastObservation : undefined;
  }

  /** Whether an observation only shows a question again that was answered. */
  isAnswered(seen: Observation): boolean {
    return this.#answered !== undefined && isReplay(this.#answered, seen);
  }

  /** The artifacts so far. */
  get artifacts(): readonly Artifact[] {
    return this.#artifacts.list();
  }

  /** What was last folded in. */
  get last(): Observation | undefined {
    return this.#record.lastObservation;
  }

  /** What a task or a status update shows, stamped with our time. */
  observe(seen: Task | TaskStatusUpdateEvent, source: ObservationSource): Observation {
    return observe(seen, { source, seenAt: isoTime(this.#session.clock.now()) });
  }

  /**
   * Judges an observation by the rules of a task's life.
   *
   * @returns whether it says something new.
   * @throws LifecycleMismatchError when it breaks a rule; nothing is folded in then.
   */
  judge(seen: Observation): boolean {
    const { taskId, contextId, lastObservation, pin } = this.#record;
    const verdict = judgeObservation(
      {
        taskId,
        ...(contextId === undefined ? {} : { contextId }),
        ...(lastObservation === undefined ? {} : { last: lastObservation }),
      },
      seen,
    );
    if (verdict.outcome !== "broken") return verdict.outcome === "advance";
    throw new LifecycleMismatchError(verdict.rule, {
      message: verdict.message,
      observations: lastObservation ? [lastObservation, seen] : [seen],
      card: { digest: pin.digest, version: pin.version },
    });
  }

  /** Folds in a whole task that was judged. */
  foldTask(task: Task, seen: Observation, omissions: Omissions = {}): void {
    const before = this.#record.task;
    if (task.artifacts || !omissions.artifacts) this.#artifacts.replace(task.artifacts ?? []);
    const history = task.history ?? (omissions.history ? before?.history : undefined);
    const folded = {
      ...task,
      artifacts: this.#artifacts.list(),
      ...(history === undefined ? {} : { history }),
    };
    this.#set({ task: Object.freeze(folded), lastObservation: seen });
  }

  /** Folds in a change of status that was judged. */
  foldStatus(update: TaskStatusUpdateEvent, seen: Observation): void {
    const before = this.#record.task ?? { id: update.taskId };
    const contextId = update.contextId ?? this.#record.contextId;
    const named = contextId === undefined ? {} : { contextId };
    this.#set({ task: Object.freeze({ ...before, ...named, status: update.status }), lastObservation: seen });
  }

  /** Folds in a piece of an artifact. */
  foldArtifact(update: TaskArtifactUpdateEvent): void {
    const oddity = this.#artifacts.add(update);
    if (oddity) this.note([oddity]);
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

  #set(members: Partial<TaskRecord>): void {
    const { lastObservation } = members;
    if (lastObservation && this.#answered && !isReplay(this.#answered, lastObservation))
      this.#answered = undefined;
    const { task = this.#record.task } = members;
    const contextId = this.#record.contextId ?? task?.contextId;
    this.#record = Object.freeze({
      ...this.#record,
      ...members,
      ...(contextId === undefined ? {} : { contextId }),
    });
  }
}

/** What a ledger throws, as one of the two ledger errors. */
export function asLedgerError(action: string, error: unknown): A2ALeaseError {
  const isOurs = error instanceof LedgerUnavailableError || error instanceof LedgerConflictError;
  return isOurs ? (error as A2ALeaseError) : new LedgerUnavailableError(action, error);
}
