import * as errors from "a2a-lease";
import { answer, createScriptedAgent, createTestCard, step } from "a2a-lease/testing";
import { afterEach, describe, expect, test } from "vitest";
import { caught } from "./caught.ts";
import { type BindingName, type Claims, type MetAgent, meet } from "./four-ways.ts";
import { all, taskOf } from "./lifecycle-setup.ts";
import { report } from "./real-agent.ts";

// The nine errors of A2A with their JSON-RPC code, their reason, their HTTP status and their class (5.4).
const nine = [
  [-32001, "TASK_NOT_FOUND", 404, errors.TaskNotFoundError],
  [-32002, "TASK_NOT_CANCELABLE", 400, errors.TaskNotCancelableError],
  [-32003, "PUSH_NOTIFICATION_NOT_SUPPORTED", 400, errors.PushNotificationNotSupportedError],
  [-32004, "UNSUPPORTED_OPERATION", 400, errors.UnsupportedOperationError],
  [-32005, "CONTENT_TYPE_NOT_SUPPORTED", 400, errors.ContentTypeNotSupportedError],
  [-32006, "INVALID_AGENT_RESPONSE", 500, errors.InvalidAgentResponseError],
  [-32007, "EXTENDED_AGENT_CARD_NOT_CONFIGURED", 400, errors.ExtendedAgentCardNotConfiguredError],
  [-32008, "EXTENSION_SUPPORT_REQUIRED", 400, errors.ExtensionSupportRequiredError],
  [-32009, "VERSION_NOT_SUPPORTED", 400, errors.VersionNotSupportedError],
] as const;

const bindings: readonly BindingName[] = ["JSONRPC", "HTTP+JSON"];

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** What an error is told by over a binding. */
const evidence = (binding: BindingName, code: number, httpStatus: number) =>
  binding === "JSONRPC" ? { rpcCode: code } : { httpStatus };

describe.each(bindings)("over %s the scripted agent's error", (binding) => {
  /** An agent with a task that goes on for ever, and a client of it. */
  async function start() {
    const agent = createScriptedAgent({
      bindings: [binding],
      card: (card) => ({
        ...card,
        capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
      }),
      plan: [step.working(), step.hold()],
    });
    const listener = await agent.listen();
    const client = await errors.createClient(listener.url);
    closers.push(
      () => listener.close(),
      () => client.close(),
    );
    const task = taskOf(await client.sendMessage(report));
    return { agent, client, task };
  }

  describe.each(nine)("%i, %s,", (code, reason, httpStatus, type) => {
    const refusal = answer.error(code, "no, and why");
    const told = { reason, ...evidence(binding, code, httpStatus) };

    test("is its own class, whichever operation it answers", async () => {
      const { agent, client, task } = await start();
      const stranger = { id: "never-seen" };
      for (const [operation, call] of [
        ["GetTask", () => client.getTask(stranger)],
        ["ListTasks", () => client.listTasks()],
        ["SendMessage", () => client.sendMessage(report)],
        ["SendStreamingMessage", () => client.sendStreamingMessage(report)],
        ["SubscribeToTask", () => client.subscribeToTask(stranger)],
        ["GetTaskPushNotificationConfig", () => task.pushConfigs.get("p")],
        ["ListTaskPushNotificationConfigs", () => task.pushConfigs.list()],
        ["GetExtendedAgentCard", () => client.getExtendedAgentCard()],
      ] as const) {
        agent.once(operation, refusal);
        const error = await caught(call());
        expect({ operation, error }).toEqual({ operation, error: expect.any(type) });
        expect(error).toMatchObject({ operation, ...told });
        expect(String(error)).toContain("no, and why");
      }
    });

    test("is its own class in the middle of a stream", async () => {
      const { agent, client } = await start();
      const events = [{ task: { id: "t9", contextId: "c9", status: { state: "TASK_STATE_WORKING" } } }];
      const failure = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "a2a-protocol.org" }];
      const wire =
        binding === "JSONRPC"
          ? { jsonrpc: "2.0", id: null, error: { code, message: "no", data: failure } }
          : { error: { code: httpStatus, message: "no", details: failure } };
      agent.once("SendStreamingMessage", answer.stream([...events, `data: ${JSON.stringify(wire)}\n\n`]));
      const stream = await client.sendStreamingMessage(report);
      const seen: unknown[] = [];
      const ended = (async () => {
        for await (const event of stream) seen.push(event);
      })();
      expect(await caught(ended)).toMatchObject({ name: type.name.replace(/^_/, ""), reason });
      expect(seen).toHaveLength(1);
    });
  });
});

/** How the official server is brought to give an error; a card that claims too much is the client's own. */
const causes: readonly (readonly [
  code: number,
  claims: { readonly real?: Partial<Claims>; readonly claimed?: Partial<Claims>; readonly header?: [string, string] },
  call: (client: errors.A2AClient, agent: MetAgent) => Promise<unknown>,
])[] = [
  [-32001, {}, (client) => client.getTask({ id: "never-seen" })],
  [
    -32002,
    {},
    async (client) => (await client.connected(client)),
  ],
];

test("the official server gives eight of the nine", () => {
  expect(causes.length).toBe(8);
});
void all;
void createTestCard;
