import { type A2AClient, type Clock, createClient, type Part, type TaskUpdate } from "a2a-lease";
import {
  type AgentListener,
  createScriptedAgent,
  createTestClock,
  type ScriptedAgent,
  step,
  type TaskStep,
} from "a2a-lease/testing";
import { type Fault, type FaultProxy, startFaultProxy } from "./fault-proxy.ts";

const at = (second: number) => `2026-01-01T00:00:0${second}Z`;
const working = (second: number, content: string) =>
  step.status("TASK_STATE_WORKING", { content, timestamp: at(second) });

/** What happens to a task after its snapshot: nine events that bring all that a stream can. */
export const life: readonly TaskStep[] = [
  working(1, "reading – naïve"),
  step.artifact("a", "Über 𝄞 "),
  step.artifact("a", "日本\r\n", { append: true }),
  step.artifact("b", [{ data: [null, "é"] }, { text: "" }], { name: "B" }),
  step.message("half way 🚀"),
  working(6, "more"),
  step.artifact("a", "👩‍👩‍👧\u2028end", { append: true, lastChunk: true }),
  step.artifact("b", [{ raw: "AAEC" }], { append: true, lastChunk: true }),
  step.status("TASK_STATE_COMPLETED", { content: "done ✓", timestamp: at(9) }),
];

/** What a follower was told, put together from the updates alone. */
export interface Worth {
  /** Updates, by kind. */
  readonly kinds: string[];
  /** States in order, that of the snapshot first. */
  readonly states: string[];
  /** All that the agent said, each as often as it was told. */
  readonly said: string[];
  /** Parts of each artifact. */
  readonly parts: Map<string, Part[]>;
  /** Artifacts that were told anew. */
  readonly replaced: string[];
}

const saidIn = (message: { readonly parts: readonly Part[] } | undefined) =>
  (message?.parts ?? []).map((part) => ("text" in part ? part.text : ""));

/** Starts with nothing told. */
export function createWorth(): Worth & { take(update: TaskUpdate): void } {
  const worth: Worth = { kinds: [], states: [], said: [], parts: new Map(), replaced: [] };
  const { kinds, states, said, parts, replaced } = worth;
  return {
    ...worth,
    take(update) {
      kinds.push(update.kind);
      if (update.kind === "snapshot") {
        const { status, artifacts = [], history = [] } = update.task;
        states.push(status.state);
        for (const message of history) if (message.role === "ROLE_AGENT") said.push(...saidIn(message));
        said.push(...saidIn(status.message));
        for (const artifact of artifacts) parts.set(artifact.artifactId, [...artifact.parts]);
      } else if (update.kind === "status") {
        states.push(update.status.state);
        said.push(...saidIn(update.status.message));
      } else if (update.kind === "message") {
        said.push(...saidIn(update.message));
      } else if (update.kind === "artifact") {
        const { artifactId } = update.artifact;
        const before = update.append ? (parts.get(artifactId) ?? []) : [];
        if (!update.append && parts.has(artifactId)) replaced.push(artifactId);
        parts.set(artifactId, [...before, ...update.artifact.parts]);
      } else if (update.kind === "artifact-replaced") {
        replaced.push(update.artifact.artifactId);
        parts.set(update.artifact.artifactId, [...update.artifact.parts]);
      }
    },
  };
}

/** What one followed task came to. */
export interface Followed {
  readonly worth: Worth;
  /** The final task, as the client has it and as the agent has it. */
  readonly task: object | undefined;
  readonly truth: object | undefined;
  /** Streams that were opened for it. */
  readonly streams: number;
}

/** How far the agent is with the task while its streams are spoiled. */
export type Pace =
  /** All of it happens as soon as the first stream is open, so that a cut loses what came after it. */
  | "at-once"
  /** Each event happens when the one before it was told, so that a cut loses one event at most. */
  | "told"
  /** An event happens each time that a stream was opened or an update was told, in the middle of a recovery too. */
  | "between"
  /** Nothing happens until it is told to go on; then all of it does. */
  | "held";

/** A client of a scripted agent on a real port, with a proxy between the two. */
export interface FollowRig {
  readonly agent: ScriptedAgent;
  readonly proxy: FaultProxy;
  readonly client: A2AClient;
  /** Follows a new task; the n-th stream of it has the n-th fault. */
  follow(faults: readonly Fault[], pace: Pace): Promise<Followed>;
  /** Lets happen what is held back. */
  goOn(): void;
  /** Closes all, after the last socket is gone. */
  close(): Promise<void>;
}

/** The longest wait that an eager clock skips, in milliseconds: pauses are shorter, and deadlines are longer. */
const skippedMs = 20_000;

/** A clock on which every pause is over at once and no deadline ever comes. */
function createEagerClock(): Clock {
  const { now, monotonicMs } = createTestClock();
  return {
    now,
    monotonicMs,
    schedule(delayMs, run) {
      if (delayMs > skippedMs) return () => {};
      const waiting = setImmediate(run);
      return () => clearImmediate(waiting);
    },
  };
}

/** Sets a rig up. The lease is checked once: what is shown here is what becomes of the streams. */
export async function setUpFollow(clock: Clock = createEagerClock()): Promise<FollowRig> {
  const agent = createScriptedAgent({ clock });
  const listener: AgentListener = await agent.listen();
  const faultsOf = new Map<string, Fault[]>();
  const held: (() => void)[] = [];
  const onOpen = new Map<string, () => void>();
  const proxy = await startFaultProxy({
    target: listener.url,
    clock,
    fault(request) {
      const id = /"id":"(t\d+)"/.exec(request)?.[1] ?? "";
      onOpen.get(id)?.();
      return faultsOf.get(id)?.shift();
    },
  });
  const client = await createClient(listener.url, {
    ...{ fetch: proxy.fetch, clock, random: () => 0 },
    ...{ leaseTermMs: 3_600_000, fullCheckEveryMs: 86_400_000 },
  });
  let count = 0;

  async function follow(faults: readonly Fault[], pace: Pace): Promise<Followed> {
    count += 1;
    const id = `t${count + 10_000}`;
    agent.tasks.put({ id, status: { state: "TASK_STATE_SUBMITTED", timestamp: at(0) } });
    faultsOf.set(id, [...faults]);
    const left = [...life];
    let streams = 0;
    const worth = createWorth();

    function next(): void {
      const steps = left.splice(0, pace === "at-once" || pace === "held" ? left.length : 1);
      if (steps.length > 0) agent.step(id, ...steps);
    }
    /** Whether all that happened so far was told. */
    function isEven(): boolean {
      const task = agent.tasks.get(id);
      const happened = life.length - left.length;
      const told = [...worth.parts.values()].reduce((sum, parts) => sum + parts.length, 0);
      const parts = (task?.artifacts ?? []).reduce((sum, artifact) => sum + artifact.parts.length, 0);
      const said = life.slice(0, happened).filter((item) => "content" in item).length;
      return worth.kinds.length > 0 && told === parts && worth.said.length === said;
    }
    if (pace === "held") held.push(next);
    onOpen.set(id, () => {
      streams += 1;
      if (pace === "between" || (pace === "at-once" && streams === 1)) setImmediate(next);
    });
    const handle = await client.getTask({ id });
    for await (const update of handle.follow()) {
      worth.take(update);
      if (pace === "between" || (pace === "told" && isEven())) next();
    }
    faultsOf.delete(id);
    onOpen.delete(id);
    const truth = agent.tasks.get(id);
    agent.tasks.forget(id);
    return { worth, task: handle.task, truth, streams };
  }

  return {
    ...{ agent, proxy, client, follow },
    goOn() {
      for (const next of held.splice(0)) next();
    },
    async close() {
      await client.close();
      await proxy.close();
      await listener.close();
    },
  };
}
