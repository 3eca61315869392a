import { type A2AClient, type ClientOptions, createClient, type TaskHandle } from "a2a-lease";
import {
  type AgentListener,
  createScriptedAgent,
  createTestClock,
  type ScriptedAgent,
  step,
} from "a2a-lease/testing";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { taskOf } from "../flow/lifecycle-setup.ts";

/** The task that scripted streams speak of. */
export const place = { taskId: "t1", contextId: "c1" };

/** A scripted agent on a port of this machine, and clients of it; after each test nothing may be left open. */
export function useLoopback() {
  let clock = createTestClock();
  let agent: ScriptedAgent;
  let listener: AgentListener;
  const clients: A2AClient[] = [];

  beforeEach(async () => {
    clock = createTestClock();
    agent = createScriptedAgent({ clock });
    listener = await agent.listen();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    await vi.waitUntil(() => listener.openSocketCount === 0);
    expect(clock.pendingCount).toBe(0);
    await listener.close();
  });

  async function connect(options: ClientOptions = {}): Promise<A2AClient> {
    const client = await createClient(listener.url, { clock, random: () => 0.5, ...options });
    clients.push(client);
    return client;
  }

  /** Moves time on until something has settled. */
  async function inTime<T>(waiting: Promise<T>, stepMs = 500): Promise<T> {
    let isDone = false;
    const note = () => {
      isDone = true;
    };
    waiting.then(note, note);
    await vi.waitUntil(
      async () => {
        if (!isDone) await clock.advance(stepMs);
        return isDone;
      },
      { timeout: 8_000, interval: 1 },
    );
    return waiting;
  }

  /** Task `t1` as the agent has it, and a handle that has seen nothing of it yet. */
  async function known(state = "TASK_STATE_WORKING", options: ClientOptions = {}): Promise<TaskHandle> {
    agent.tasks.put({ id: "t1", contextId: "c1", status: { state } } as never);
    return (await connect(options)).task("t1");
  }

  /** A task that works until it is stepped on. */
  async function working(options: ClientOptions = {}): Promise<TaskHandle> {
    agent.planNext([
      step.working(),
      step.artifact("a", "1"),
      step.hold(),
      step.artifact("a", "2", { append: true }),
      step.completed(),
    ]);
    return taskOf(await (await connect(options)).sendMessage("hello"));
  }

  /** Waits until the agent sees this many open streams. */
  const streamCount = (count: number) => vi.waitUntil(() => agent.openStreamCount === count);

  return {
    get agent() {
      return agent;
    },
    get clock() {
      return clock;
    },
    connect,
    inTime,
    known,
    working,
    streamCount,
  };
}
