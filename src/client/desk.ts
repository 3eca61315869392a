import { taskKey } from "../ledger/ledger.ts";
import { noMemory } from "../lifecycle/memory.ts";
import type { CardPin } from "../model/pin.ts";
import type { LeasedTask } from "../model/posture.ts";
import type { LedgerEntry, TaskRecord } from "../model/record.ts";
import { isoTime } from "../util/clock.ts";
import { type HandleActions, type HandleEntry, TaskHandle } from "./handle.ts";
import { createHolder, type Holder } from "./holder.ts";
import type { Mark } from "./judged.ts";
import type { LeasePlan, LeasePolicy, Session } from "./session.ts";
import { createStreamSlot } from "./stream-slot.ts";
import { TrackedTask } from "./track.ts";

/**
 * Knows every task and handle of one client that somebody still holds: one tracked task for each id, one handle for
 * each id and pin. What nobody holds any more is let go of; the ledger remembers.
 */
export class TaskDesk {
  readonly #session: Session;
  readonly #actions: HandleActions;
  readonly #tracked = createWeakMap<TrackedTask>();
  readonly #entries = createWeakMap<TaskHandle>();
  readonly #parts = new WeakMap<TaskHandle, HandleEntry>();

  constructor(session: Session, actions: HandleActions) {
    this.#session = session;
    this.#actions = actions;
  }

  /** The handle of a task that is known here or to the ledger. */
  async find(taskId: string): Promise<HandleEntry | undefined> {
    const tracked = await this.#track(taskId);
    if (!tracked) return undefined;
    const { pin, requirements } = tracked.record;
    return this.entry(tracked, { pin, requirements, policy: policyOf(this.#session) });
  }

  /** The handle of a task that somebody here holds; asks no ledger. */
  held(taskId: string): HandleEntry | undefined {
    const tracked = this.#tracked.get(taskId);
    if (!tracked) return undefined;
    const { pin, requirements } = tracked.record;
    return this.entry(tracked, { pin, requirements, policy: policyOf(this.#session) });
  }

  /** The handle of a task under a plan; a task that is not known yet is written down. */
  async adopt(taskId: string, contextId: string | undefined, plan: LeasePlan): Promise<HandleEntry> {
    const known = await this.#track(taskId);
    const tracked = known ?? this.#begin(taskId, contextId, plan);
    if (known && known.record.pin.digest !== plan.pin.digest) known.repin(plan.pin, plan.requirements);
    await tracked.commit();
    return this.entry(tracked, plan);
  }

  /** The handle of a task that is about to be seen for the first time, under a plan. Nothing is written down yet. */
  begin(taskId: string, contextId: string | undefined, plan: LeasePlan): HandleEntry {
    return this.entry(this.#tracked.get(taskId) ?? this.#begin(taskId, contextId, plan), plan);
  }

  /** How far every task that somebody holds has come; a task that is not there yet has come nowhere. */
  marks(): ReadonlyMap<TrackedTask, Mark> {
    return new Map(this.#tracked.values().map((tracked) => [tracked, tracked.mark]));
  }

  /** The handle of a task by the record of it; where it is known here or to the ledger, only the pin is the record's. */
  async restore(record: TaskRecord): Promise<HandleEntry> {
    const known = await this.#track(record.taskId);
    const tracked = known ?? new TrackedTask(this.#session, record);
    if (!known) {
      this.#tracked.set(record.taskId, tracked);
      await tracked.commit();
    }
    const { pin, requirements } = record;
    return this.entry(tracked, { pin, requirements, policy: policyOf(this.#session) });
  }

  /** What a handle of this desk is made of. */
  entryOf(handle: TaskHandle): HandleEntry {
    const entry = this.#parts.get(handle);
    if (!entry) throw new TypeError(`the handle of task ${handle.id} belongs to another client`);
    return entry;
  }

  /** The holders of all handles that somebody still holds. */
  holders(): readonly Holder[] {
    return this.#entries.values().flatMap((handle) => this.#parts.get(handle)?.holder ?? []);
  }

  /** The one handle of a task and a pin; a handle whose lease is over makes way for a new one. */
  entry(tracked: TrackedTask, plan: LeasePlan): HandleEntry {
    const { taskId } = tracked.record;
    const held = this.#entries.get(keyOf(taskId, plan.pin));
    const known = held && this.#parts.get(held);
    if (known && !known.holder.ended && known.holder.pin.digest === plan.pin.digest) return known;
    const holder: Holder = createHolder({
      ...plan,
      observer: this.#session.observer,
      task: leasedTask(tracked, () => holder.pin),
      renegotiate: async (options) => ({
        handle: await this.#actions.renegotiate(parts, options),
      }),
      onRepin: async (pin) => {
        tracked.repin(pin, plan.requirements);
        await tracked.commit();
        this.#entries.set(keyOf(taskId, pin), handle);
      },
    });
    const parts = { tracked, holder, slot: createStreamSlot() };
    const handle = new TaskHandle(this.#actions, parts);
    const entry = { ...parts, handle };
    this.#parts.set(handle, entry);
    this.#entries.set(keyOf(taskId, plan.pin), handle);
    return entry;
  }

  async #track(taskId: string): Promise<TrackedTask | undefined> {
    const held = this.#tracked.get(taskId);
    if (held) return held;
    const { ledger, options, cardKey } = this.#session;
    const entry = await ledger.read(taskKey(cardKey, options.principal, taskId));
    const { record } = entry ?? {};
    if (!entry || record?.kind !== "task") return undefined;
    const again = this.#tracked.get(taskId);
    if (again) return again;
    const tracked = new TrackedTask(this.#session, record, entry as LedgerEntry<TaskRecord>);
    this.#tracked.set(taskId, tracked);
    return tracked;
  }

  #begin(taskId: string, contextId: string | undefined, plan: LeasePlan): TrackedTask {
    const { options, cardKey, clock } = this.#session;
    const tracked = new TrackedTask(
      this.#session,
      Object.freeze({
        kind: "task",
        schema: 1,
        cardUrl: cardKey,
        principal: options.principal,
        taskId,
        ...(contextId === undefined ? {} : { contextId }),
        pin: plan.pin,
        formerPins: Object.freeze([]),
        requirements: plan.requirements,
        memory: noMemory,
        deviations: Object.freeze([]),
        updatedAt: isoTime(clock.now()),
      }),
    );
    this.#tracked.set(taskId, tracked);
    return tracked;
  }
}

/** What the client does about a drift where nothing else was said. */
export function policyOf({ options: { posture, compare } }: Session): LeasePolicy {
  return { posture, compare };
}

function keyOf(taskId: string, pin: CardPin): string {
  return JSON.stringify([taskId, pin.digest]);
}

/** A task as a posture function sees it: by its present record. */
function leasedTask(tracked: TrackedTask, pin: () => CardPin): LeasedTask {
  return {
    get id() {
      return tracked.record.taskId;
    },
    get contextId() {
      return tracked.record.contextId;
    },
    get pin() {
      return pin();
    },
  };
}

interface WeakValues<T extends object> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
  values(): T[];
}

/** A map that does not keep its values alive, and drops the keys of those that are gone. */
function createWeakMap<T extends object>(): WeakValues<T> {
  const refs = new Map<string, WeakRef<T>>();
  const registry = new FinalizationRegistry<string>((key) => {
    if (refs.get(key)?.deref() === undefined) refs.delete(key);
  });
  return {
    get: (key) => refs.get(key)?.deref(),
    set(key, value) {
      refs.set(key, new WeakRef(value));
      registry.register(value, key);
    },
    values: () => [...new Set([...refs.values()].flatMap((ref) => ref.deref() ?? []))],
  };
}
