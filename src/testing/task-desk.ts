import type { StreamResponse } from "../model/events.ts";
import type { Message } from "../model/message.ts";
import { isInterruptedState } from "../model/states.ts";
import type { Task, TaskStatus } from "../model/task.ts";
import { type Clock, isoTime } from "../util/clock.ts";
import { deepFreeze } from "../util/freeze.ts";
import { agentMessage, type Content } from "./events.ts";
import type { ResolvedSettings } from "./settings.ts";
import { echoPlan, echoSteps, type TaskPlan, type TaskStep } from "./steps.ts";
import { type TaskRecord, withArtifact, withMessage, withStatus } from "./task-record.ts";

/** The tasks of a scripted agent, for a test or a handler to look at and to change behind the client's back. */
export interface AgentTasks {
  /** The task as it is now. */
  get(id: string): Task | undefined;
  /** All tasks, oldest first. */
  list(): readonly Task[];
  /** Puts a task in place, new or in place of the one with its id; open streams are not told. */
  put(task: Task): void;
  /** Forgets a task, as an agent does that restarts or expires its tasks. */
  forget(id: string): void;
}

/** Keeps tasks and takes them through their plans. */
export interface TaskDesk {
  readonly tasks: AgentTasks;
  /** Finds a task. */
  find(id: string): TaskRecord | undefined;
  /** All tasks, oldest first. */
  all(): readonly TaskRecord[];
  /** Tells whoever is to know of every event about one that changed nothing. */
  tell(record: TaskRecord, event: StreamResponse): void;
  /** Makes a task from a message. Its plan does not run yet. */
  create(message: Message): TaskRecord;
  /** Adds a message to a task; an asking task goes back to work. Its plan does not go on yet. */
  receive(record: TaskRecord, message: Message): void;
  /** Goes on with the plan until it holds, waits, asks or ends. */
  run(record: TaskRecord): void;
  /** Carries out these steps at once, outside the plan. */
  apply(record: TaskRecord, steps: readonly TaskStep[]): void;
  /** Cancels the task and its plan. */
  cancel(record: TaskRecord): void;
  /** What every task goes through from now on; with `once` only the next new one. */
  plan(plan: TaskPlan, once: boolean): void;
  /** A fresh identifier: `message-1`, `message-2`. */
  nextId(kind: string): string;
  /** A number that is larger than all before it. */
  nextNumber(): number;
}

/** Makes an empty desk. `tell` is told of every event, after the listeners of its task. */
export function createTaskDesk(
  clock: Clock,
  settings: () => ResolvedSettings,
  tell: TaskDesk["tell"],
): TaskDesk {
  const records = new Map<string, TaskRecord>();
  const counters = new Map<string, number>();
  const nextPlans: TaskPlan[] = [];
  let everyPlan = echoPlan;
  let changes = 0;

  const nextId = (kind: string) => {
    const count = (counters.get(kind) ?? 0) + 1;
    counters.set(kind, count);
    return `${kind}-${count}`;
  };

  function change(record: TaskRecord, task: Task, event?: StreamResponse): void {
    changes += 1;
    record.changed = changes;
    record.task = task;
    if (!event) return;
    for (const listener of [...record.listeners]) listener(deepFreeze(event), task);
    tell(record, event);
  }

  /** The task with one message more in its history, as far as the agent keeps one. */
  function remember(task: Task, message: Message | undefined): Task {
    const { history } = settings();
    const isKept = history === "all" || (history === "caller" && message?.role === "ROLE_USER");
    return message && isKept ? withMessage(task, message) : task;
  }

  function placeOf({ task }: TaskRecord) {
    return { taskId: task.id, ...(task.contextId === undefined ? {} : { contextId: task.contextId }) };
  }

  function setStatus(record: TaskRecord, state: string, content?: Content, timestamp?: string | false): void {
    const place = placeOf(record);
    const time = timestamp ?? (settings().timestamps ? isoTime(clock.now()) : false);
    // A script may name a state that the spec does not have.
    const status = {
      state,
      ...(content === undefined ? {} : { message: agentMessage(nextId("agent-message"), content, place) }),
      ...(time === false ? {} : { timestamp: time }),
    } as TaskStatus;
    change(record, withStatus(remember(record.task, record.task.status.message), status), {
      statusUpdate: { ...place, status },
    });
  }

  function perform(record: TaskRecord, step: TaskStep): void {
    if (step.step === "status") setStatus(record, step.state, step.content, step.timestamp);
    else if (step.step === "artifact") {
      const { step: _step, ...update } = step;
      const task = withArtifact(record.task, step.artifact, step.append ?? false);
      change(record, task, { artifactUpdate: { ...placeOf(record), ...update } });
    } else if (step.step === "message") {
      const message = agentMessage(nextId("agent-message"), step.content, placeOf(record));
      change(record, remember(record.task, message), { message });
    }
  }

  function run(record: TaskRecord): void {
    record.stopWaiting();
    record.pause = undefined;
    for (let step = record.steps.shift(); step; step = record.steps.shift()) {
      if (step.step === "hold") {
        record.pause = "hold";
        return;
      }
      if (step.step === "wait") {
        record.pause = "wait";
        record.stopWaiting = clock.schedule(step.delayMs, () => run(record));
        return;
      }
      perform(record, step);
      if (isInterruptedState(record.task.status.state)) {
        record.pause = "question";
        return;
      }
    }
  }

  function drop(record: TaskRecord): void {
    record.stopWaiting();
    record.pause = undefined;
    record.steps = [];
  }

  function put(task: Task, steps: readonly TaskStep[]): TaskRecord {
    const old = records.get(task.id);
    if (old) drop(old);
    const record: TaskRecord = {
      task: deepFreeze(task),
      steps: [...steps],
      pause: undefined,
      stopWaiting: () => {},
      changed: ++changes,
      listeners: old?.listeners ?? new Set(),
      pushConfigs: old?.pushConfigs ?? new Map(),
    };
    records.set(task.id, record);
    return record;
  }

  return {
    tasks: Object.freeze({
      get: (id: string) => records.get(id)?.task,
      list: () => [...records.values()].map(({ task }) => task),
      put: (task: Task) => void put(structuredClone(task), []),
      forget(id: string) {
        const record = records.get(id);
        if (record) drop(record);
        record?.pushConfigs.clear();
        records.delete(id);
      },
    }),
    find: (id) => records.get(id),
    all: () => [...records.values()],
    tell,
    create(message) {
      const plan = nextPlans.shift() ?? everyPlan;
      const id = nextId("task");
      const contextId = message.contextId ?? nextId("context");
      const timestamp = settings().timestamps ? { timestamp: isoTime(clock.now()) } : {};
      const said: Message = { ...message, taskId: id, contextId };
      const status: TaskStatus = { state: "TASK_STATE_SUBMITTED", ...timestamp };
      const steps = typeof plan === "function" ? plan(said) : plan;
      return put(remember({ id, contextId, status }, said), steps);
    },
    receive(record, message) {
      const said: Message = { ...message, ...placeOf(record) };
      if (!isInterruptedState(record.task.status.state)) return change(record, remember(record.task, said));
      setStatus(record, "TASK_STATE_WORKING");
      change(record, remember(record.task, said));
      // A plan that ends with a question would leave the caller's answer without one.
      if (record.steps.length === 0) record.steps = [...echoSteps(said)];
      record.pause = undefined;
    },
    run,
    apply(record, steps) {
      for (const step of steps) {
        if (step.step === "hold" || step.step === "wait") {
          throw new TypeError(
            `steps: a ${step.step} belongs into a plan, not into a step that is done at once`,
          );
        }
        perform(record, step);
      }
    },
    cancel(record) {
      drop(record);
      setStatus(record, "TASK_STATE_CANCELED");
    },
    plan(plan, once) {
      if (once) nextPlans.push(plan);
      else everyPlan = plan;
    },
    nextId,
    nextNumber: () => ++changes,
  };
}
