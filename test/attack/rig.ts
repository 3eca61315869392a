import { createClient, createMemoryLedger, type Ledger, type SendReply, type TaskHandle } from "a2a-lease";
import { createScriptedAgent, createTestClock } from "a2a-lease/testing";
import { expect } from "vitest";

type ClientOptions = NonNullable<Parameters<typeof createClient>[1]>;

/** A scripted agent, its clock, and the way to make clients of it. */
export function setUp(options: Parameters<typeof createScriptedAgent>[0] = {}) {
  const clock = createTestClock();
  const agent = createScriptedAgent({ clock, ...options });
  const connect = (more: ClientOptions = {}) =>
    createClient(agent.url, { fetch: agent.fetch, clock, ...more });
  const rotate = (description = "another card") => agent.rotateCard((card) => ({ ...card, description }));
  return { clock, agent, connect, rotate };
}

/** The task that a message was answered with. */
export function taskOf(reply: SendReply): TaskHandle {
  return "task" in reply ? reply.task : expect.fail("wanted a task");
}

/** What became of a promise so far: nothing while it is pending. */
export function watch(promise: Promise<unknown>): {
  readonly outcome: string | undefined;
  readonly error: unknown;
} {
  const seen: { outcome: string | undefined; error: unknown } = { outcome: undefined, error: undefined };
  promise.then(
    () => {
      seen.outcome = "resolved";
    },
    (error: unknown) => {
      seen.outcome = error instanceof Error ? error.name : String(error);
      seen.error = error;
    },
  );
  return seen;
}

/** A memory ledger with a hand on each of its methods. */
export function createHandledLedger() {
  const inner = createMemoryLedger();
  const hand: { read?: Ledger["read"]; write?: Ledger["write"] } = {};
  const ledger: Ledger = {
    ...inner,
    read: (key) => (hand.read ?? inner.read)(key),
    write: (key, record, revision) => (hand.write ?? inner.write)(key, record, revision),
  };
  return { ledger, inner, hand };
}

/** A gate that is closed until it is opened. */
export function createGate(): { readonly wait: Promise<void>; open(): void } {
  let open = () => {};
  const wait = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { wait, open };
}

/** Keys as the ledger has them. */
export const keyOf = (kind: "task" | "intent", cardUrl: string, id: string) =>
  JSON.stringify([kind, cardUrl, "default", id]);
