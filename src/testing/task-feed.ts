import type { StreamResponse } from "../model/events.ts";
import { isInterruptedState, isTerminalState } from "../model/states.ts";
import type { Task } from "../model/task.ts";
import { isSettled, type TaskRecord } from "./task-record.ts";

/** The events of one task from one moment on, kept until a stream takes them. */
export interface TaskFeed {
  /** Hands over what was kept, and then each event as it comes; `end` is called after the last one. */
  attach(push: (event: StreamResponse) => void, end: () => void): void;
  /** Stops following the task. */
  stop(): void;
}

/** Follows a task from now on; the first event is the task as it is now (3.1.2, 3.1.6). */
export function followTask(record: TaskRecord, endsOnQuestion: () => boolean): TaskFeed {
  const kept: StreamResponse[] = [{ task: record.task }];
  let push = (event: StreamResponse): void => void kept.push(event);
  let end = () => {};
  let hasEnded = false;

  const listener = (event: StreamResponse) => {
    push(event);
    if (!("statusUpdate" in event)) return;
    const { state } = event.statusUpdate.status;
    if (!isTerminalState(state) && !(isInterruptedState(state) && endsOnQuestion())) return;
    hasEnded = true;
    record.listeners.delete(listener);
    end();
  };
  record.listeners.add(listener);

  return {
    attach(onEvent, onEnd) {
      for (const event of kept.splice(0)) onEvent(event);
      push = onEvent;
      end = onEnd;
      if (hasEnded) onEnd();
    },
    stop() {
      record.listeners.delete(listener);
    },
  };
}

/** The task as it is the next time that it is over or asks; rejects with the signal's reason when aborted first. */
export function nextSettled(record: TaskRecord, signal: AbortSignal): Promise<Task> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      record.listeners.delete(listener);
      reject(signal.reason);
    };
    const listener = (_event: StreamResponse, task: Task) => {
      if (!isSettled(task.status.state)) return;
      record.listeners.delete(listener);
      signal.removeEventListener("abort", stop);
      resolve(task);
    };
    record.listeners.add(listener);
    signal.addEventListener("abort", stop, { once: true });
  });
}
