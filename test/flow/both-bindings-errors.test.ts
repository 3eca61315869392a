import {
  type A2AClient,
  ContentTypeNotSupportedError,
  createClient,
  ExtendedAgentCardNotConfiguredError,
  ExtensionSupportRequiredError,
  InvalidAgentResponseError,
  PushNotificationNotSupportedError,
  SendOutcomeUnknownError,
  TaskForgottenError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from "a2a-lease";
import { answer, createScriptedAgent, frame, step } from "a2a-lease/testing";
import { afterEach, describe, expect, test } from "vitest";
import { caught } from "./caught.ts";
import { type BindingName, type Claims, type MeetOptions, type MetAgent, meet } from "./four-ways.ts";
import { taskOf } from "./lifecycle-setup.ts";
import { report } from "./real-agent.ts";

// The nine errors of A2A with their JSON-RPC code, their reason, their HTTP status and their class (5.4).
const nine = [
  [-32001, "TASK_NOT_FOUND", 404, TaskNotFoundError],
  [-32002, "TASK_NOT_CANCELABLE", 400, TaskNotCancelableError],
  [-32003, "PUSH_NOTIFICATION_NOT_SUPPORTED", 400, PushNotificationNotSupportedError],
  [-32004, "UNSUPPORTED_OPERATION", 400, UnsupportedOperationError],
  [-32005, "CONTENT_TYPE_NOT_SUPPORTED", 400, ContentTypeNotSupportedError],
  [-32006, "INVALID_AGENT_RESPONSE", 500, InvalidAgentResponseError],
  [-32007, "EXTENDED_AGENT_CARD_NOT_CONFIGURED", 400, ExtendedAgentCardNotConfiguredError],
  [-32008, "EXTENSION_SUPPORT_REQUIRED", 400, ExtensionSupportRequiredError],
  [-32009, "VERSION_NOT_SUPPORTED", 400, VersionNotSupportedError],
] as const;

const bindings: readonly BindingName[] = ["JSONRPC", "HTTP+JSON"];

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** What an error is told by over a binding. */
const evidence = (binding: BindingName, code: number, httpStatus: number) =>
  binding === "JSONRPC" ? { rpcCode: code } : { httpStatus };

/**
 * What came over the wire. Where the client knows more it says so, with that as the cause: of a task that it has seen,
 * and of a message whose agent may well have worked on it.
 */
function wireErrorOf(error: unknown, type: (typeof nine)[number][3]): unknown {
  const isOver =
    (type === TaskNotFoundError && error instanceof TaskForgottenError) ||
    (type === InvalidAgentResponseError && error instanceof SendOutcomeUnknownError);
  return isOver ? error.cause : error;
}

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
    const client = await createClient(listener.url);
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
        const error = wireErrorOf(await caught(call()), type);
        expect({ operation, error }).toEqual({ operation, error: expect.any(type) });
        expect(error).toMatchObject({ operation, ...told });
        expect(String(error)).toContain("no, and why");
      }
    });

    test("is its own class in the middle of a stream", async () => {
      const { agent, client } = await start();
      const task = { id: "t9", contextId: "c9", status: { state: "TASK_STATE_WORKING" } };
      const details = [
        { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "a2a-protocol.org" },
      ];
      agent.once("SendStreamingMessage", answer.stream([{ task }, frame.error(code, "no", details)]));
      const stream = await client.sendStreamingMessage(report);
      const seen: unknown[] = [];
      const ended = (async () => {
        for await (const event of stream) seen.push(event);
      })();
      const error = wireErrorOf(await caught(ended), type);
      expect(error).toBeInstanceOf(type);
      expect(error).toMatchObject({ reason });
      expect(seen).toHaveLength(1);
    });
  });
});

/** One error of the official server: what brings it about, and what has to be so beforehand. */
interface Cause {
  /** What the agent is. */
  readonly agent?: MeetOptions;
  /** What the client's card claims beside what the agent's own does. */
  readonly claims?: Partial<Claims>;
  readonly call: (client: A2AClient, agent: MetAgent) => Promise<unknown>;
  /** What the error says in the place of its code: what the client read after it. */
  readonly tells?: object;
}

const requiredExtension = { uri: "urn:example:signed", description: "", required: true, params: undefined };

/** A finished task, to a client that has not seen it. */
async function finished(client: A2AClient): Promise<string> {
  return taskOf(await client.sendMessage(report, { blocking: true })).id;
}

const causes: Readonly<Record<string, Cause>> = {
  TASK_NOT_FOUND: { call: (client) => client.getTask({ id: "never-seen" }) },
  TASK_NOT_CANCELABLE: {
    call: async (client, agent) => (await agent.connect()).cancelTask({ id: await finished(client) }),
    tells: { task: { status: { state: "TASK_STATE_COMPLETED" } } },
  },
  PUSH_NOTIFICATION_NOT_SUPPORTED: {
    claims: { pushNotifications: true },
    call: async (client) => client.listTaskPushNotificationConfigs({ taskId: await finished(client) }),
  },
  UNSUPPORTED_OPERATION: {
    call: async (client, agent) => (await agent.connect()).subscribeToTask({ id: await finished(client) }),
  },
  CONTENT_TYPE_NOT_SUPPORTED: {
    agent: { rewrite: (headers) => headers.set("content-type", "text/plain") },
    call: (client) => client.sendMessage(report),
  },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: {
    agent: { claims: { extendedAgentCard: true }, hasExtendedCard: false },
    call: (client) => client.getExtendedAgentCard(),
  },
  EXTENSION_SUPPORT_REQUIRED: {
    agent: { claims: { extensions: [requiredExtension] } },
    claims: { extensions: [] },
    call: (client) => client.sendMessage(report),
  },
  VERSION_NOT_SUPPORTED: {
    agent: { rewrite: (headers) => headers.set("a2a-version", "9.9") },
    call: (client) => client.sendMessage(report),
  },
};

describe.each(bindings)("over %s the official server's error", (binding) => {
  // It never says INVALID_AGENT_RESPONSE by itself; that one the scripted agent says in its place above.
  const given = nine.filter(([, reason]) => Object.hasOwn(causes, reason));

  test.each(given)("%i, %s, is its own class", async (code, reason, httpStatus, type) => {
    const { agent: options = {}, claims = {}, call, tells } = causes[reason] ?? expect.fail(reason);
    const agent = await meet("official server", binding, options);
    const client = await agent.connectClaiming(claims);
    const error = await caught(call(client, agent));
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject(tells ?? { reason, ...evidence(binding, code, httpStatus) });
  });

  test("is any of eight: it has no cause of its own to say that another agent answered wrongly", () => {
    const missing = nine.map(([, reason]) => reason).filter((reason) => !Object.hasOwn(causes, reason));
    expect(missing).toEqual(["INVALID_AGENT_RESPONSE"]);
  });
});
