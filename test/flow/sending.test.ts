import {
  AuthenticationError,
  CardDriftError,
  createClient,
  createMemoryLedger,
  type Ledger,
  LedgerUnavailableError,
  SendOutcomeUnknownError,
  type TaskHandle,
} from "a2a-lease";
import {
  answer,
  createTestCard,
  createTestClock,
  event,
  type ScriptedAgentOptions,
  step,
} from "a2a-lease/testing";
import { describe, expect, test, vi } from "vitest";
import { caught } from "./caught.ts";
import { driven } from "./driven.ts";
import { agentOver, bothBindings } from "./over.ts";

const bearer = {
  securitySchemes: { agentAuth: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
  securityRequirements: [{ schemes: { agentAuth: { list: [] } } }],
};

describe.each(bothBindings)("over %s,", (binding) => {
  function setUp(options: ScriptedAgentOptions = {}) {
    const clock = createTestClock();
    const agent = agentOver(binding, { clock, ...options });
    const connect = (more = {}) =>
      createClient(agent.url, { fetch: agent.fetch, clock, retries: { firstMs: 0 }, ...more });
    const expectQuiet = () => {
      expect(clock.pendingCount).toBe(0);
      expect(agent.openRequestCount).toBe(0);
    };
    return { clock, agent, connect, expectQuiet };
  }

  describe("a message that is sent", () => {
    test("asks the agent to answer at once unless blocking is asked for", async () => {
      const { agent, connect } = setUp();
      const client = await connect();

      await client.sendMessage("one");
      await client.sendMessage("two", {
        blocking: true,
        historyLength: 0,
        acceptedOutputModes: ["text/plain"],
      });

      expect(
        agent.calls("SendMessage").map(({ params }) => (params as { configuration?: unknown }).configuration),
      ).toEqual([
        { returnImmediately: true },
        { returnImmediately: false, historyLength: 0, acceptedOutputModes: ["text/plain"] },
      ]);
    });

    test("is answered with a message where the agent needs no task", async () => {
      const { agent, connect } = setUp();
      agent.once("SendMessage", answer.message("just so"));
      const client = await connect();

      const reply = await client.sendMessage("hello");

      expect(reply).toMatchObject({ message: { role: "ROLE_AGENT", parts: [{ text: "just so" }] } });
    });

    test("goes on with the task of its handle, in the same context", async () => {
      const { agent, connect } = setUp();
      agent.planNext([step.inputRequired("Which region?"), step.completed()]);
      const client = await connect();
      const reply = await client.sendMessage("Summarise");
      if (!("task" in reply)) expect.fail("no task");
      const { task } = reply;
      await task.get();

      const next = await task.sendMessage("EU");

      expect(next).toEqual({ task });
      expect("task" in next && next.task).toBe(task);
      const [, second] = agent.calls("SendMessage");
      expect(second?.params).toMatchObject({ message: { taskId: task.id, contextId: task.contextId } });
    });

    test("is refused locally for a finished task, which a new task in its context continues", async () => {
      const { agent, connect } = setUp();
      const client = await connect();
      const reply = await client.sendMessage("Summarise");
      if (!("task" in reply)) expect.fail("no task");
      await reply.task.get();

      const error = await caught(reply.task.sendMessage("more"));
      const continued = await reply.task.continueInContext("more");

      expect(error).toMatchObject({ name: "TaskTerminalError", state: "TASK_STATE_COMPLETED" });
      expect(agent.acceptedMessageIds).toHaveLength(2);
      if (!("task" in continued)) expect.fail("no task");
      expect(continued.task.id).not.toBe(reply.task.id);
      expect(continued.task.contextId).toBe(reply.task.contextId);
    });

    test.each([
      ["a dropped connection", answer.acceptThenReset()],
      ["HTTP 500", answer.acceptThen(answer.http(500, "oops"))],
      ["HTTP 408", answer.acceptThen(answer.http(408))],
      ["HTTP 503", answer.acceptThen(answer.http(503, "", { "retry-after": "30" }))],
      ["HTTP 504", answer.acceptThen(answer.http(504))],
      ["an internal error", answer.acceptThen(answer.error(-32603, "boom"))],
      [
        "truncated JSON",
        answer.acceptThen(answer.http(200, '{"jsonrpc":"2.0"', { "content-type": "application/json" })),
      ],
      ["a page", answer.acceptThen(answer.http(200, "<html></html>", { "content-type": "text/html" }))],
      [
        "the answer to something else",
        answer.acceptThen(answer.json({ jsonrpc: "2.0", id: "other", result: {} })),
      ],
      ["a gateway's code", answer.acceptThen(answer.error(502, "bad gateway"))],
    ])("is never sent twice by itself when %s leaves its outcome unknown", async (_name, reply) => {
      const { agent, connect, expectQuiet } = setUp();
      agent.once("SendMessage", reply);
      agent.on("ListTasks", answer.error(-32601, "no such method"));
      const client = await connect();

      const error = await caught(client.sendMessage("hello", { contextId: "c-7" }), SendOutcomeUnknownError);

      expect(error).toMatchObject({
        name: "SendOutcomeUnknownError",
        retry: "unknown-outcome",
        nextStep: "recover",
        contextId: "c-7",
      });
      expect(agent.calls("SendMessage")).toHaveLength(1);
      expect(agent.acceptedMessageIds).toEqual([error.messageId]);
      expectQuiet();
    });

    test("has an unknown outcome when its budget runs out, and the request is let go of", async () => {
      const { agent, clock, connect, expectQuiet } = setUp();
      agent.once("SendMessage", answer.acceptThen(answer.silence()));
      agent.on("ListTasks", answer.error(-32601, "no such method"));
      const client = await connect();
      const sending = caught(client.sendMessage("hello", { timeoutMs: 120_000 }), SendOutcomeUnknownError);
      await clock.advance(119_999);
      expect(agent.openRequestCount).toBe(1);

      await clock.advance(1);

      const error = await sending;
      expect(error).toMatchObject({ name: "SendOutcomeUnknownError" });
      expect(error.cause).toMatchObject({ name: "TimeoutError", budgetMs: 120_000 });
      expectQuiet();
    });

    test.each([
      ["a refused connection", answer.refuse(), "ConnectionError", "safe"],
      ["429", answer.http(429, "", { "retry-after": "7" }), "HttpStatusError", "safe"],
      [
        "400 without an envelope",
        answer.json({ error: "Invalid request body" }, { status: 400 }),
        "HttpStatusError",
        "never",
      ],
      ["a redirect", answer.redirect("https://evil.example/"), "RedirectRefusedError", "never"],
      ["invalid parameters", answer.error(-32602, "no"), "InvalidParamsError", "never"],
      // Only JSON-RPC has codes that the spec does not name; the like of HTTP+JSON is a status.
      binding === "JSONRPC"
        ? (["an unknown error", answer.error(-32050, "odd"), "UnknownProtocolError", "never"] as const)
        : (["an unknown status", answer.http(418, "odd"), "HttpStatusError", "never"] as const),
    ])(
      "that the agent definitely did not take, by %s, fails as what it is",
      async (_name, reply, name, retry) => {
        const { agent, clock, connect, expectQuiet } = setUp();
        agent.on("SendMessage", reply);
        const client = await connect();

        const error = await driven(clock, caught(client.sendMessage("hello")), 0);

        expect(error).toMatchObject({ name, retry });
        // A refused connection may be tried again, and none of its attempts came to the agent.
        expect(agent.calls("SendMessage").length).toBeLessThanOrEqual(name === "ConnectionError" ? 3 : 1);
        expect(agent.acceptedMessageIds).toEqual([]);
        expect(agent.transcript.filter(({ kind }) => kind === "foreign")).toEqual([]);
        expectQuiet();
      },
    );

    test("is not lost when its answer turns out to come from another card", async () => {
      const { agent, connect } = setUp();
      agent.planNext([step.inputRequired("Translate into which language?"), step.completed()]);
      agent.on("SendMessage", ({ params }) => (params ? answer.acceptThen(answer.honest()) : undefined));
      const client = await connect();
      agent.once("SendMessage", ({ tasks, params }) => {
        void params;
        tasks.put({ id: "t9", contextId: "c9", status: { state: "TASK_STATE_INPUT_REQUIRED" } });
        return answer.result({ task: tasks.get("t9") });
      });
      agent.rotateCard((card) => ({ ...card, description: "another" }), { before: "card", nth: 2 });

      const error = await caught(client.sendMessage("hello"), CardDriftError);
      expect(error).toMatchObject({ name: "CardDriftError", taskId: "t9" });

      const { handle } = (await error.renegotiate()) as { handle: TaskHandle };
      await handle.get();
      expect(handle).toMatchObject({ id: "t9", state: "TASK_STATE_INPUT_REQUIRED" });
    });
  });

  describe("the intent to send", () => {
    test("is in the ledger before the message leaves, and says what became of it", async () => {
      const ledger = createMemoryLedger();
      const { agent, connect } = setUp();
      const states: unknown[] = [];
      const client = await connect({ ledger });
      const keyOf = (messageId: string) =>
        JSON.stringify(["intent", `${agent.url}/.well-known/agent-card.json`, "default", messageId]);
      const stateOf = async (messageId: string) => (await ledger.read(keyOf(messageId)))?.record;
      agent.on("SendMessage", async ({ params }) => {
        states.push(await stateOf(params.message.messageId));
        return undefined;
      });

      await client.sendMessage({ messageId: "m-1", parts: [{ text: "hello" }] });

      expect(states).toMatchObject([{ state: "open", messageId: "m-1", pin: { digest: client.pin.digest } }]);
      expect(await stateOf("m-1")).toMatchObject({ state: "answered" });
      expect(JSON.stringify(await stateOf("m-1"))).not.toContain("hello");
    });

    test("that can't be written keeps the message here", async () => {
      const broken: Ledger = {
        ...createMemoryLedger(),
        write: async () => {
          throw new RangeError("disk full");
        },
      };
      const { agent, connect } = setUp();
      const client = await connect({ ledger: broken });

      expect(await caught(client.sendMessage("hello"))).toBeInstanceOf(LedgerUnavailableError);
      expect(agent.calls()).toEqual([]);
    });
  });

  describe("credentials", () => {
    test("are sent with calls, and to the card only when it asks", async () => {
      const { agent, connect } = setUp({ card: createTestCard(bearer), bearer: "t0ken" });
      const client = await connect({ credentials: { bearer: "t0ken" } });

      await client.sendMessage("hello");

      const sent = agent.transcript.map(({ kind, headers }) => `${kind} ${headers.authorization}`);
      expect(sent).toEqual(["card undefined", "card undefined", "call Bearer t0ken"]);
    });

    test("for a card that asks for them are remembered for every later check of it", async () => {
      const { agent, connect } = setUp({ cardBearer: "t0ken" });
      const client = await connect({ credentials: { bearer: "t0ken" } });

      await client.sendMessage("hello");

      expect(agent.cardReads().map(({ status, headers }) => `${status} ${headers.authorization}`)).toEqual([
        "401 undefined",
        "200 Bearer t0ken",
        "304 Bearer t0ken",
      ]);
    });

    test("never leave the card's origin, and a call that needs them there fails here", async () => {
      const card = createTestCard({
        ...bearer,
        supportedInterfaces: [
          { url: "https://evil.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        ],
      });
      const { agent, connect } = setUp({ card });
      const client = await connect({ credentials: { bearer: "t0ken" }, headers: { "x-api-key": "k3y" } });

      const error = await caught(client.sendMessage("hello"));

      expect(error).toMatchObject({
        name: "CredentialOriginError",
        origin: "https://evil.example",
        allowed: ["https://agent.example"],
      });
      expect(agent.transcript.filter(({ kind }) => kind !== "card")).toEqual([]);
    });

    test("and headers stay behind where a card without demands points elsewhere", async () => {
      const card = createTestCard({
        supportedInterfaces: [
          { url: "https://elsewhere.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        ],
      });
      const { agent, connect } = setUp({ card });
      const client = await connect({
        credentials: { bearer: "t0ken" },
        headers: { "x-api-key": "k3y" },
        retries: false,
      });

      await caught(client.sendMessage("hello", { headers: { authorization: "Bearer own" } }));

      const [call] = agent.transcript.filter(({ kind }) => kind === "foreign");
      expect(call?.headers).not.toHaveProperty("authorization");
      expect(call?.headers).not.toHaveProperty("x-api-key");
      expect(client.lease.sameOrigin).toBe(false);
    });

    test("are asked for once more after a 401 under an unchanged card, for the same message", async () => {
      const { agent, connect } = setUp({ card: createTestCard(bearer), bearer: "new" });
      const credentials = vi.fn(async ({ challenge }: { challenge?: string }) => ({
        headers: { authorization: `Bearer ${challenge === undefined ? "old" : "new"}` },
      }));
      const client = await connect({ credentials });
      agent.clearTranscript();

      await expect(client.sendMessage("hello")).resolves.toHaveProperty("task");

      const [first, second] = agent.calls("SendMessage");
      expect(agent.calls()).toHaveLength(2);
      expect(first?.params).toEqual(second?.params);
      expect(credentials).toHaveBeenLastCalledWith(
        expect.objectContaining({
          origin: agent.url,
          purpose: "call",
          challenge: expect.stringContaining("Bearer"),
        }),
      );
      expect(agent.cardReads().filter(({ forced }) => forced)).toHaveLength(1);
    });

    test("that are refused for good end in a typed error without the secret", async () => {
      const { agent, connect } = setUp({ card: createTestCard(bearer), bearer: "right" });
      const client = await connect({ credentials: { bearer: "wr0ng-secret" } });

      const error = await caught(client.sendMessage("hello"), AuthenticationError);

      expect(error).toMatchObject({ name: "AuthenticationError", nextStep: "authenticate" });
      expect(JSON.stringify(error) + error.stack).not.toContain("wr0ng-secret");
      expect(agent.calls()).toHaveLength(1);
    });
  });

  describe("a caller who gives up", () => {
    test("gets the very reason that it gave, and nothing is left open", async () => {
      const { agent, clock, connect, expectQuiet } = setUp();
      const client = await connect();
      const reason = { mine: true };
      for (const operation of ["SendMessage", "GetTask", "CancelTask", "SubscribeToTask"] as const) {
        agent.on(operation, answer.silence());
      }
      const { task } = { task: await client.task("t1") };
      const calls: ((signal: AbortSignal) => Promise<unknown>)[] = [
        (signal) => client.sendMessage("hello", { signal }),
        (signal) => task.get({ signal }),
        (signal) => task.cancel({ signal }),
        (signal) => task.subscribe({ signal }),
      ];
      for (const call of calls) {
        const controller = new AbortController();
        const outcome = caught(call(controller.signal));
        await clock.advance(0);
        controller.abort(reason);
        expect(await outcome).toBe(reason);
      }
      await clock.advance(0);
      expectQuiet();
    });

    test("by closing the client ends what is under way", async () => {
      const { agent, clock, connect, expectQuiet } = setUp();
      const client = await connect();
      agent.once("SendMessage", answer.silence());
      const outcome = caught(client.sendMessage("hello"));
      await clock.advance(0);

      await client.close();

      expect(await outcome).toMatchObject({ name: "AbortError" });
      expect(await caught(client.sendMessage("again"))).toMatchObject({ name: "AbortError" });
      await clock.advance(0);
      expectQuiet();
    });
  });

  describe("handles", () => {
    test("there is one for each task and pin", async () => {
      const { connect } = setUp();
      const client = await connect();
      const reply = await client.sendMessage("hello");
      if (!("task" in reply)) expect.fail("no task");

      expect(await client.getTask({ id: reply.task.id })).toBe(reply.task);
      expect(await client.task(reply.task.id)).toBe(reply.task);
      expect(await reply.task.get()).toBe(reply.task);
    });

    test("of a task that nobody has seen is pinned to the card of this moment", async () => {
      const { agent, connect } = setUp();
      agent.tasks.put({ id: "t1", contextId: "c1", status: { state: "TASK_STATE_WORKING" } });
      const client = await connect();
      agent.rotateCard((card) => ({ ...card, description: "another" }));

      const handle = await client.getTask({ id: "t1" });

      expect(handle.state).toBe("TASK_STATE_WORKING");
      expect(handle.pin.digest).not.toBe(client.pin.digest);
      await expect(handle.get()).resolves.toBe(handle);
    });

    test("tell a task that was never known from one that was forgotten", async () => {
      const { agent, connect } = setUp();
      const client = await connect();
      const reply = await client.sendMessage("hello");
      if (!("task" in reply)) expect.fail("no task");
      agent.tasks.forget(reply.task.id);

      expect(await caught(client.getTask({ id: "nope" }))).toMatchObject({ name: "TaskNotFoundError" });
      expect(await caught(reply.task.get())).toMatchObject({
        name: "TaskForgottenError",
        taskId: reply.task.id,
        cause: { name: "TaskNotFoundError" },
      });
    });

    test("refuse an operation that the pinned card does not declare, without a request", async () => {
      const { agent, connect } = setUp({ card: createTestCard({ capabilities: {} }) });
      const client = await connect();
      const reply = await client.sendMessage("hello");
      if (!("task" in reply)) expect.fail("no task");
      agent.clearTranscript();

      expect(await caught(reply.task.subscribe())).toMatchObject({
        name: "CapabilityMissingError",
        capability: "streaming",
        operation: "SubscribeToTask",
      });
      expect(await caught(client.sendStreamingMessage("hello"))).toMatchObject({
        name: "CapabilityMissingError",
        capability: "streaming",
        operation: "SendStreamingMessage",
      });
      expect(agent.transcript).toEqual([]);
    });

    test("a subscription to a finished task is refused by the agent without suspicion of the card", async () => {
      const { agent, connect } = setUp();
      const client = await connect();
      const reply = await client.sendMessage("hello");
      if (!("task" in reply)) expect.fail("no task");
      agent.clearTranscript();

      expect(await caught(reply.task.subscribe())).toMatchObject({ name: "UnsupportedOperationError" });
      expect(agent.cardReads().filter(({ forced }) => forced)).toEqual([]);
    });

    test("do not take over an answer that speaks of another task", async () => {
      const { agent, connect } = setUp();
      const client = await connect();
      const reply = await client.sendMessage("hello");
      if (!("task" in reply)) expect.fail("no task");
      agent.once(
        "GetTask",
        answer.result({ id: "other", contextId: "c1", status: { state: "TASK_STATE_WORKING" } }),
      );

      expect(await caught(reply.task.get())).toMatchObject({
        name: "LifecycleMismatchError",
        rule: "identity",
      });
      expect(reply.task.state).toBe("TASK_STATE_SUBMITTED");
    });
  });

  describe("cancelling", () => {
    test("is confirmed by looking again where the agent only says yes", async () => {
      const { agent, clock, connect, expectQuiet } = setUp();
      agent.planNext([step.working(), step.hold()]);
      const client = await connect();
      const reply = await client.sendMessage("hello");
      if (!("task" in reply)) expect.fail("no task");
      const { task } = reply;
      agent.once("CancelTask", ({ params, tasks }) => answer.result(tasks.get(params.id)));
      const cancelling = task.cancel();
      await clock.advance(250);
      agent.step(task.id, step.canceled());

      await clock.advance(500);

      await expect(cancelling).resolves.toBe(task);
      expect(task.state).toBe("TASK_STATE_CANCELED");
      await task.cancel();
      expect(agent.calls("CancelTask")).toHaveLength(1);
      expectQuiet();
    });

    test("is not confirmed by a yes that changes nothing", async () => {
      const { agent, clock, connect, expectQuiet } = setUp();
      agent.planNext([step.working(), step.hold()]);
      const client = await connect({ cancelConfirmMs: 5_000 });
      const reply = await client.sendMessage("hello");
      if (!("task" in reply)) expect.fail("no task");
      agent.on("CancelTask", ({ params, tasks }) => answer.result(tasks.get(params.id)));
      const cancelling = caught(reply.task.cancel());

      await clock.advance(5_000);

      expect(await cancelling).toMatchObject({
        name: "CancelNotConfirmedError",
        state: "TASK_STATE_WORKING",
      });
      expectQuiet();
    });

    test("a task that ended otherwise says how it ended", async () => {
      const { connect } = setUp();
      const client = await connect();
      const reply = await client.sendMessage("hello");
      if (!("task" in reply)) expect.fail("no task");

      expect(await caught(reply.task.cancel())).toMatchObject({
        name: "TaskNotCancelableError",
        task: { status: { state: "TASK_STATE_COMPLETED" } },
      });
      expect(reply.task.state).toBe("TASK_STATE_COMPLETED");
    });
  });

  describe("a stream of a task", () => {
    test("is cut, and not finished, when it ends before the task is settled", async () => {
      const { agent, connect, expectQuiet } = setUp();
      agent.once(
        "SendStreamingMessage",
        answer.stream([event.task("TASK_STATE_WORKING"), event.artifact("a", "half")], { end: "close" }),
      );
      const client = await connect();
      const stream = await client.sendStreamingMessage("hello");
      const seen: unknown[] = [];

      const error = await caught(
        (async () => {
          for await (const item of stream) seen.push(Object.keys(item)[0]);
        })(),
      );

      expect(seen).toEqual(["task", "artifactUpdate"]);
      expect(error).toMatchObject({
        name: "StreamInterruptedError",
        taskId: "t1",
        lastState: "TASK_STATE_WORKING",
        eventCount: 2,
      });
      expect(stream.task?.artifacts).toMatchObject([{ artifactId: "a", parts: [{ text: "half" }] }]);
      expectQuiet();
    });

    test("that is cut before its first event leaves the outcome of the send unknown", async () => {
      const { agent, connect } = setUp();
      agent.once("SendStreamingMessage", answer.stream([], { end: "close" }));
      const client = await connect();
      const stream = await client.sendStreamingMessage("hello");

      const error = await caught(
        (async () => {
          for await (const _ of stream) expect.fail("there was no event");
        })(),
      );

      expect(error).toMatchObject({ name: "SendOutcomeUnknownError", nextStep: "recover" });
      expect(agent.calls()).toHaveLength(1);
    });

    test("ends at a question, and lets go of the connection that the agent keeps open", async () => {
      const { agent, clock, connect, expectQuiet } = setUp();
      agent.planNext([step.working(), step.inputRequired("Which region?")]);
      const client = await connect();
      const seen: unknown[] = [];

      for await (const item of await client.sendStreamingMessage("hello")) seen.push(Object.keys(item)[0]);

      expect(seen).toEqual(["task", "statusUpdate", "statusUpdate"]);
      await clock.advance(0);
      expectQuiet();
    });

    test("keeps a question to itself when the card changed in the middle of it", async () => {
      const { agent, clock, connect, expectQuiet } = setUp();
      agent.planNext([step.working(), step.hold(), step.inputRequired("Translate into which language?")]);
      const client = await connect();
      const stream = await client.sendStreamingMessage("hello");
      const seen: unknown[] = [];
      const reading = caught(
        (async () => {
          for await (const item of stream) seen.push(item);
        })(),
      );
      await clock.advance(0);
      agent.rotateCard((card) => ({ ...card, description: "another" }));
      agent.step("task-1");

      const error = await reading;

      expect(error).toMatchObject({ name: "CardDriftError", drift: { phase: { check: "forced" } } });
      expect(JSON.stringify(seen)).not.toContain("which language");
      expect(stream.task?.state).toBe("TASK_STATE_WORKING");
      await clock.advance(0);
      expectQuiet();
    });

    test("throws what an error frame says, as the same type that a plain call throws", async () => {
      const { agent, connect } = setUp();
      const client = await connect();
      agent.tasks.put({ id: "t1", contextId: "c1", status: { state: "TASK_STATE_WORKING" } });
      const task = await client.getTask({ id: "t1" });
      agent.tasks.forget("t1");

      expect(await caught(task.subscribe())).toMatchObject({ name: "TaskForgottenError" });
    });

    test("leaving it closes the connection and not the task", async () => {
      const { agent, clock, connect, expectQuiet } = setUp();
      agent.planNext([step.working(), step.hold(), step.completed()]);
      const client = await connect();

      for await (const _ of await client.sendStreamingMessage("hello")) break;

      await clock.advance(0);
      expectQuiet();
      expect(agent.calls("CancelTask")).toEqual([]);
      expect(agent.tasks.get("task-1")?.status.state).toBe("TASK_STATE_WORKING");
    });

    test("answered by JSON is a stream of one event, after a look at the card", async () => {
      const { agent, connect } = setUp();
      agent.once(
        "SendStreamingMessage",
        answer.result({ task: { id: "t1", contextId: "c1", status: { state: "TASK_STATE_COMPLETED" } } }),
      );
      const client = await connect();
      agent.clearTranscript();
      const stream = await client.sendStreamingMessage("hello");
      const seen: unknown[] = [];
      for await (const item of stream) seen.push(Object.keys(item)[0]);

      expect(seen).toEqual(["task"]);
      expect(stream.task?.deviations.map(({ kind }) => kind)).toContain("json-instead-of-stream");
      expect(agent.cardReads().filter(({ forced }) => forced)).toHaveLength(1);
    });
  });

  describe("a question that was answered", () => {
    test("does not settle the next stream when the agent shows it once more", async () => {
      const { agent, connect } = setUp();
      agent.planNext([step.inputRequired("Which region?"), step.working(), step.completed()]);
      const client = await connect();
      const reply = await client.sendMessage("Summarise");
      if (!("task" in reply)) expect.fail("no task");
      const { task } = reply;
      await task.get();
      const asked = task.task;
      agent.once("SendStreamingMessage", ({ tasks }) => {
        void tasks;
        return answer.stream([
          { task: asked },
          event.status("TASK_STATE_COMPLETED", { taskId: task.id, contextId: "context-1" }),
        ]);
      });
      const seen: string[] = [];

      const stream = await client.sendStreamingMessage({ taskId: task.id, parts: [{ text: "EU" }] });
      for await (const item of stream) seen.push(Object.keys(item)[0] ?? "");

      expect(seen).toEqual(["task", "statusUpdate"]);
      expect(task.state).toBe("TASK_STATE_COMPLETED");
    });

    test("may be asked again in other words, and that settles the stream", async () => {
      const { agent, clock, connect, expectQuiet } = setUp();
      agent.planNext([
        step.inputRequired("Which region?"),
        step.inputRequired("Which year?"),
        step.completed(),
      ]);
      const client = await connect();
      const reply = await client.sendMessage("Summarise");
      if (!("task" in reply)) expect.fail("no task");
      await reply.task.get();
      await clock.advance(10);

      for await (const _ of await client.sendStreamingMessage({
        taskId: reply.task.id,
        parts: [{ text: "EU" }],
      }));

      expect(reply.task.task?.status.message?.parts).toEqual([{ text: "Which year?" }]);
      await clock.advance(0);
      expectQuiet();
    });
  });

  test("a drift that is found after a message left says first that the message may be under way", async () => {
    const { agent, connect } = setUp();
    agent.once("SendMessage", () => {
      agent.rotateCard((card) => ({ ...card, description: "another" }));
      return answer.error(-32006, "odd");
    });
    const client = await connect();

    expect(await caught(client.sendMessage("hello"))).toMatchObject({
      name: "CardDriftError",
      retry: "unknown-outcome",
      nextStep: "recover",
      cause: { name: "SendOutcomeUnknownError" },
    });
  });

  test("a message whose lease ends while its credentials are fetched does not leave", async () => {
    const { agent, connect } = setUp();
    let release = () => {};
    const client = await connect({
      credentials: () =>
        new Promise((resolve) => {
          release = () => resolve({ headers: { authorization: "Bearer late" } });
        }),
    });
    const first = caught(client.sendMessage("waits for its credentials"), CardDriftError);
    await new Promise((resolve) => setImmediate(resolve));
    const releaseFirst = release;
    agent.rotateCard((card) => ({ ...card, description: "another" }));
    const second = await caught(client.sendMessage("sees the drift"));
    releaseFirst();

    expect(await first).toBe(second);
    expect(agent.calls()).toEqual([]);
  });

  test("a message to a task that the agent forgot ends in a drift where the card changed", async () => {
    const { agent, connect } = setUp();
    agent.planNext([step.working()]);
    const { task } = (await (await connect()).sendMessage("begin")) as { task: TaskHandle };
    agent.once("SendMessage", () => {
      agent.rotateCard((card) => ({ ...card, description: "another" }));
      return answer.error(-32001, "no such task");
    });

    const error = await caught(task.sendMessage("go on"));

    expect(error).toMatchObject({ name: "CardDriftError", cause: { name: "TaskNotFoundError" } });
    expect(agent.calls("SendMessage")).toHaveLength(2);
  });

  test("a message whose time is over before its credentials came has no unknown outcome", async () => {
    const { agent, clock, connect } = setUp();
    const client = await connect({ credentials: () => new Promise(() => {}) });
    const failing = caught(client.sendMessage("never leaves", { timeoutMs: 1_000 }));
    await clock.advance(1_000);

    expect(await failing).toMatchObject({ name: "TimeoutError", retry: "safe" });
    expect(agent.calls()).toEqual([]);
  });

  test("a stream whose connection breaks is cut as one that ends too early is", async () => {
    const { agent, connect, expectQuiet } = setUp();
    agent.planNext([step.working(), step.hold()]);
    const cuts = vi.fn();
    const client = await connect();
    client.on("stream-cut", cuts);
    const stream = await client.sendStreamingMessage("begin");
    const read = caught(
      (async () => {
        for await (const _ of stream) agent.endStreams("cut");
      })(),
    );

    const error = await read;

    expect(error).toMatchObject({
      name: "StreamInterruptedError",
      taskId: stream.task?.id,
      lastState: "TASK_STATE_WORKING",
      cause: { name: "ConnectionError" },
    });
    expect(cuts).toHaveBeenCalledOnce();
    await expectQuiet();
  });

  test("a lost message is told as lost also when there is no time left for the card", async () => {
    const { agent, clock, connect, expectQuiet } = setUp();
    const client = await connect();
    const [reply, name] =
      binding === "JSONRPC"
        ? [answer.error(401, "a gateway's own"), "GatewayError"]
        : [answer.http(200, "<html>a gateway's own", { "content-type": "text/html" }), "HttpStatusError"];
    agent.once("SendMessage", () => {
      agent.once("card", answer.silence());
      return reply;
    });
    const failing = caught(client.sendMessage("hello", { timeoutMs: 1_000 }));
    await clock.advance(1_000);

    expect(await failing).toMatchObject({
      name: "LeaseUnverifiableError",
      retry: "unknown-outcome",
      cause: { name: "SendOutcomeUnknownError", cause: { name } },
      checkFailure: { name: "TimeoutError" },
    });
    await expectQuiet();
  });

  /** What a promise came to without any time passing, `"pending"` where nothing did. */
  async function stateOf(promise: Promise<unknown>, clock: { advance(ms: number): Promise<void> }) {
    let found: unknown = "pending";
    promise.then(
      (value) => {
        found = value;
      },
      (error) => {
        found = error;
      },
    );
    await clock.advance(0);
    return found;
  }

  describe("a stream that a send opened", () => {
    test("ends with its checks when it is closed in the middle of one", async () => {
      const { clock, agent, connect, expectQuiet } = setUp();
      agent.planNext([step.working(), step.hold()]);
      const client = await connect();
      const stream = await client.sendStreamingMessage("begin");
      const events = stream[Symbol.asyncIterator]();
      await events.next();
      await events.next();
      agent.once("card", answer.silence());
      agent.step(stream.task?.id ?? "", step.inputRequired("Which region?"));
      const next = events.next();
      expect(await stateOf(next, clock)).toBe("pending");

      stream.close();

      expect(await stateOf(next, clock)).toMatchObject({ done: true });
      await expectQuiet();
    });

    test("asks for the card when nothing comes, before the message is called lost", async () => {
      const { clock, agent, connect } = setUp();
      const client = await connect({ fullCheckEveryMs: Number.POSITIVE_INFINITY });
      agent.once("SendStreamingMessage", answer.stream([], { end: "silence" }));
      const stream = await client.sendStreamingMessage("begin");
      const next = caught(stream[Symbol.asyncIterator]().next());
      await clock.advance(0);
      agent.rotateCard((card) => ({ ...card, description: "another" }));
      await clock.advance(300_000);

      expect(await next).toMatchObject({
        name: "CardDriftError",
        retry: "unknown-outcome",
        cause: { name: "SendOutcomeUnknownError" },
      });
    });
  });

  describe("a message in reply to a known task", () => {
    const begin = async () => {
      const all = setUp();
      all.agent.planNext([step.working(), step.hold()]);
      const { task } = (await (await all.connect()).sendMessage("begin")) as { task: TaskHandle };
      all.agent.once("SendMessage", answer.message("just so"));
      return { ...all, task };
    };

    test("is followed by a read that goes with the caller's headers and signal", async () => {
      const { clock, agent, task } = await begin();
      agent.once("GetTask", answer.silence());
      const abort = new AbortController();
      const sending = task.sendMessage("more", { signal: abort.signal, headers: { "x-trace": "1" } });
      expect(await stateOf(sending, clock)).toBe("pending");

      abort.abort("enough");

      expect(agent.calls("GetTask")[0]?.headers["x-trace"]).toBe("1");
      expect(await stateOf(sending, clock)).toBe("enough");
    });

    test("is not lost when that read fails", async () => {
      const { agent, task, clock } = await begin();
      agent.once("GetTask", ...answer.repeat(3, answer.http(503)));

      await expect(driven(clock, task.sendMessage("more"), 0)).resolves.toMatchObject({
        message: { parts: [{ text: "just so" }] },
      });
    });
  });

  test("a message that was taken is not called safe to send again when its answer can't be checked", async () => {
    const { agent, clock, connect } = setUp();
    agent.planNext([step.inputRequired("Which region?")]);
    const client = await connect();
    agent.once("card", answer.honest(), ...answer.repeat(3, answer.http(503)));

    const sending = caught(client.sendMessage("begin", { blocking: true }));
    expect(await driven(clock, sending, 0)).toMatchObject({
      name: "LeaseUnverifiableError",
      retry: "unknown-outcome",
      taskId: "task-1",
    });
    expect(agent.acceptedMessageIds).toHaveLength(1);
  });
});
