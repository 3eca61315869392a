import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type A2AClient, createClient, createMemoryLedger, type Ledger, type TaskHandle } from "a2a-lease";
import { createScriptedAgent, createTestCard, type ScriptedAgentOptions, step } from "a2a-lease/testing";
import {
  createWebhookReceiver,
  type PushUpdate,
  toNodeListener,
  type WebhookOptions,
} from "a2a-lease/webhook";
import { afterEach } from "vitest";

/** A card that claims push notifications and no streams. */
export const pushCard = createTestCard({ capabilities: { streaming: false, pushNotifications: true } });

/** The URL that configurations are registered with where nothing is to be called. */
export const publicUrl = "https://caller.example.com/a2a";

/** What the agent in these tests does with a push configuration: it keeps it, and the test pushes in its place. */
export interface Rig {
  readonly ledger: Ledger;
  readonly client: A2AClient;
  readonly handle: TaskHandle;
  /** The secret of the handle's configuration. */
  readonly secret: string;
  readonly updates: PushUpdate[];
  readonly errors: unknown[];
  /** The receiver, as a web handler. */
  readonly receive: (request: Request) => Promise<Response>;
}

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Starts an agent with one task under way and one configuration for it, and the receiver over the same ledger. */
export async function startRig(
  options: Partial<WebhookOptions> & {
    readonly agent?: ScriptedAgentOptions;
    readonly trust?: "required";
  } = {},
): Promise<Rig> {
  const { agent: agentOptions, trust = "advisory", ...webhook } = options;
  const ledger = options.ledger ?? createMemoryLedger();
  const agent = createScriptedAgent({
    card: pushCard,
    pushes: { copies: 0 },
    plan: [step.working("On it."), step.wait(3_600_000), step.completed()],
    ...agentOptions,
  });
  const client = await createClient(agent.url, { fetch: agent.fetch, ledger, trust });
  closers.push(() => client.close());
  if (trust === "required") await client.probe({ message: "A small one." });
  const reply = await client.sendMessage("A task that takes long.");
  if (!("task" in reply)) throw new TypeError("found a message, wanted a task");
  const updates: PushUpdate[] = [];
  const errors: unknown[] = [];
  const receive = createWebhookReceiver({
    onUpdate: (update) => void updates.push(update),
    onError: (error) => void errors.push(error),
    ...webhook,
    ledger,
  });
  const { token = "" } = await reply.task.pushConfigs.create({ url: publicUrl });
  return { ledger, client, handle: reply.task, secret: token, updates, errors, receive };
}

/** Puts a receiver behind a port of this machine. */
export async function listen(
  receive: (request: Request) => Promise<Response>,
  options?: Parameters<typeof toNodeListener>[1],
): Promise<string> {
  const server = createServer(toNodeListener(receive, options));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A status update as an agent pushes it. */
export function status(
  taskId: string,
  state: string,
  timestamp?: string,
  more: Readonly<Record<string, unknown>> = {},
) {
  const dated = timestamp === undefined ? {} : { timestamp };
  return { statusUpdate: { taskId, status: { state: `TASK_STATE_${state}`, ...dated }, ...more } };
}

/** A time of the task's life, by its minute. */
export const minute = (count: number) => `2030-01-01T00:${String(count).padStart(2, "0")}:00Z`;

/** The request of a notification. */
export function pushOf(
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  url = publicUrl,
): Request {
  return new Request(url, {
    method: "POST",
    headers: { "content-type": "application/a2a+json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** The header that most agents send a secret in. */
export const token = (secret: string) => ({ "x-a2a-notification-token": secret });
