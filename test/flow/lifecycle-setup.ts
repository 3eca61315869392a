import { type A2AClient, type ClientOptions, createClient, type SendReply, type TaskHandle } from "a2a-lease";
import { createScriptedAgent, createTestClock, type ScriptedAgentOptions } from "a2a-lease/testing";
import { expect } from "vitest";

/** A scripted agent on a test clock, and the ways to reach it. */
export function setUp(options: ScriptedAgentOptions = {}) {
  const clock = createTestClock();
  const agent = createScriptedAgent({ clock, ...options });
  const connect = (more: ClientOptions = {}): Promise<A2AClient> =>
    createClient(agent.url, { fetch: agent.fetch, clock, random: () => 0.5, ...more });

  /** Waits for something while the clock moves on. */
  async function inTime<T>(waiting: Promise<T>): Promise<T> {
    let isDone = false;
    const note = () => {
      isDone = true;
    };
    waiting.then(note, note);
    for (let round = 0; round < 400 && !isDone; round++) await clock.advance(500);
    return waiting;
  }

  async function expectQuiet(): Promise<void> {
    await clock.advance(0);
    expect({ timers: clock.pendingCount, requests: agent.openRequestCount }).toEqual({
      timers: 0,
      requests: 0,
    });
  }

  return { clock, agent, connect, inTime, expectQuiet };
}

/** The task of a reply that has one. */
export function taskOf(reply: SendReply): TaskHandle {
  if (!("task" in reply)) throw new TypeError("found a message, wanted a task");
  return reply.task;
}

/** The kinds of a handle's deviations. */
export function kindsOf(handle: TaskHandle | undefined): readonly string[] {
  return (handle?.deviations ?? []).map(({ kind }) => kind);
}

/** Everything that can be iterated, as a list. */
export async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
