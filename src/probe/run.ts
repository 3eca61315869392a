import type { BindingStream } from "../binding/binding.ts";
import { A2ALeaseError } from "../errors/base.ts";
import { TaskNotFoundError } from "../errors/protocol.ts";
import { createArtifactFold } from "../lifecycle/artifacts.ts";
import { isReplay } from "../lifecycle/memory.ts";
import { observe } from "../lifecycle/observe.ts";
import type { SendMessageResponse, StreamResponse, TaskStatusUpdateEvent } from "../model/events.ts";
import type { Observation, ObservationSource } from "../model/observation.ts";
import type { ProbeCheck, ProbeProgress } from "../model/probe.ts";
import { isInterruptedState, isTerminalState } from "../model/states.ts";
import type { Task } from "../model/task.ts";
import { sleep } from "../util/abort.ts";
import { type Clock, isoTime } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import { check } from "./verdict.ts";

/** The agent as a probe reaches it: below handles and folds, so that nothing is smoothed over. */
export interface ProbeAgent {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Sends the message and streams what comes of it. */
  readonly stream: () => Promise<BindingStream>;
  /** Sends the message. */
  readonly send: () => Promise<SendMessageResponse>;
  /** Reads a task with all of its history. */
  readonly get: (id: string) => Promise<Task>;
  /** An id that no task has. */
  readonly unknownId: string;
}

/** What a run of a probe saw. */
export interface ProbeRun {
  readonly transitions: readonly Observation[];
  readonly checks: readonly ProbeCheck[];
}

/** What a run is told. */
export interface ProbeRunOptions {
  /** Whether the card claims to stream, and it is to be shown. */
  readonly streams: boolean;
  /** Whether the card claims a history that grows, so that it is looked at while the task works. */
  readonly claimsHistory: boolean;
  readonly onProgress?: (progress: ProbeProgress) => void;
}

/** After the end of the task a stream may still say something; it is listened to for this long, in milliseconds. */
const graceMs = 2_000;
const firstPollMs = 500;
const longestPollMs = 5_000;

/** Drives one task from its beginning to its end, and looks at everything that comes by. */
export async function runProbe(agent: ProbeAgent, options: ProbeRunOptions): Promise<ProbeRun> {
  const { clock, signal } = agent;
  const transitions: Observation[] = [];
  const checks: ProbeCheck[] = [];
  const tell = (progress: ProbeProgress) => options.onProgress?.(progress);

  function note(observation: Observation): void {
    transitions.push(observation);
    tell({ step: observation.source === "stream" ? "stream" : "poll", observation });
  }

  function see(shown: Task | TaskStatusUpdateEvent, source: ObservationSource): void {
    const isFullHistory = source === "get";
    note(observe(shown, { source, isFullHistory, seenAt: isoTime(clock.now()) }));
  }

  tell({ step: "send" });
  const { claimsHistory } = options;
  const witness = { seen: transitions, see, note, claimsHistory };
  if (options.streams) checks.push(...(await watchStream(agent, witness)));
  else {
    checks.push(check("streaming-emits", "not-run", "streaming was not probed"));
    const reply = await agent.send();
    if ("task" in reply) see(reply.task, "send");
  }
  const taskId = transitions[0]?.taskId;
  if (taskId !== undefined) {
    for (let waitMs = firstPollMs; ; waitMs = Math.min(waitMs * 2, longestPollMs)) {
      see(await agent.get(taskId), "get");
      const last = transitions.at(-1);
      // An agent that goes back behind an end that was seen would be looked at for ever.
      if (transitions.some(({ state }) => isTerminalState(state))) break;
      if (last && isInterruptedState(last.state)) break;
      await sleep(clock, waitMs, signal);
    }
    // Once more, since an end that does not last is no end.
    see(await agent.get(taskId), "get");
  }
  tell({ step: "unknown-task" });
  checks.push(await checkUnknownTask(agent));
  tell({ step: "judge" });
  return { transitions, checks };
}

/** What a run writes down as it goes. */
interface Witness {
  readonly seen: readonly Observation[];
  readonly see: (shown: Task | TaskStatusUpdateEvent, source: ObservationSource) => void;
  readonly note: (observation: Observation) => void;
  readonly claimsHistory: boolean;
}

async function watchStream(agent: ProbeAgent, witness: Witness): Promise<ProbeCheck[]> {
  const { seen, see, note } = witness;
  const stream = await agent.stream();
  const artifacts = createArtifactFold();
  const kinds: string[] = [];
  let order = check("artifact-order", "passed", "kept");
  let cancelGrace = () => {};
  let failure: unknown;
  try {
    for await (const event of stream.events) {
      kinds.push(kindOf(event));
      if ("task" in event) {
        artifacts.replace(event.task.artifacts ?? []);
        see(event.task, "stream");
        if (witness.claimsHistory && kinds.length === 1) await lookAtHistory(agent, witness, event.task.id);
      } else if ("statusUpdate" in event) {
        see(event.statusUpdate, "stream");
      } else {
        // Neither carries a state; whose it is can be judged all the same.
        const { taskId, contextId } = "message" in event ? event.message : event.artifactUpdate;
        const last = seen.at(-1);
        if (last) note({ ...last, ...defined({ taskId, contextId }) });
      }
      if ("artifactUpdate" in event) {
        const oddity = artifacts.oddityOf(event.artifactUpdate);
        artifacts.add(event.artifactUpdate);
        if (oddity?.kind === "append-after-last-chunk")
          order = check("artifact-order", "failed", oddity.message, seen);
      }
      if (!hasEnded(event) && !("message" in event && kinds.length === 1)) continue;
      cancelGrace();
      cancelGrace = agent.clock.schedule(graceMs, () => stream.close());
    }
  } catch (error) {
    if (agent.signal.aborted) throw agent.signal.reason;
    failure = error;
  } finally {
    cancelGrace();
    stream.close();
  }
  return [emitsCheck(kinds, failure), shapeCheck(kinds, seen), order];
}

/** Reads the task while its stream goes on. What the read is ahead of the stream by is left to the stream. */
async function lookAtHistory(agent: ProbeAgent, { seen, note }: Witness, taskId: string): Promise<void> {
  const seenAt = isoTime(agent.clock.now());
  const shown = observe(await agent.get(taskId), { source: "get", isFullHistory: true, seenAt });
  const last = seen.at(-1);
  if (last && isReplay(last, shown)) note(shown);
}

function emitsCheck(kinds: readonly string[], failure: unknown): ProbeCheck {
  const found = `${kinds.length} events`;
  if (failure !== undefined) {
    const why = failure instanceof A2ALeaseError ? failure.message : String(failure);
    return check(
      "streaming-emits",
      "failed",
      `found ${found}, then ${why}; wanted events to the end of the task`,
    );
  }
  return kinds.length > 1 || kinds[0] === "message"
    ? check("streaming-emits", "passed", found)
    : check("streaming-emits", "failed", `found ${found}, wanted a task and its updates`);
}

function shapeCheck(kinds: readonly string[], seen: readonly Observation[]): ProbeCheck {
  const [first] = kinds;
  if (first === undefined) return check("stream-shape", "not-run", "there was no event");
  if (first !== "task" && first !== "message") {
    const found = `found ${first} first, wanted a task or a message (3.1.2)`;
    return check("stream-shape", "failed", found, seen.slice(0, 1));
  }
  if (first === "task" || kinds.length === 1) return check("stream-shape", "passed", `${first} first`);
  const found = `found ${kinds.length - 1} events after a lone message, wanted none (3.1.2)`;
  return check("stream-shape", "failed", found, seen.slice(0, 1));
}

async function checkUnknownTask(agent: ProbeAgent): Promise<ProbeCheck> {
  try {
    const task = await agent.get(agent.unknownId);
    return check("unknown-task", "failed", `found task ${task.id}, wanted TaskNotFoundError`);
  } catch (error) {
    if (agent.signal.aborted) throw agent.signal.reason;
    if (error instanceof TaskNotFoundError) return check("unknown-task", "passed", "TaskNotFoundError");
    const found = error instanceof A2ALeaseError ? error.name : String(error);
    return check("unknown-task", "failed", `found ${found}, wanted TaskNotFoundError (3.1.3)`);
  }
}

function kindOf(event: StreamResponse): string {
  return Object.keys(event).find((name) => name !== "metadata") ?? "nothing";
}

function hasEnded(event: StreamResponse): boolean {
  if ("message" in event) return false;
  const status =
    "task" in event ? event.task.status : "statusUpdate" in event ? event.statusUpdate.status : undefined;
  return status !== undefined && (isTerminalState(status.state) || isInterruptedState(status.state));
}
