import {
  ConnectionError,
  HttpStatusError,
  MalformedResponseError,
  SendOutcomeUnknownError,
  StreamInterruptedError,
  type TaskHandle,
  TaskNotFoundError,
  type TaskStream,
  UnsupportedOperationError,
} from "a2a-lease";
import { answer, event, frame } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { all, kindsOf } from "../flow/lifecycle-setup.ts";
import { useLoopback } from "./streams-setup.ts";

const at = useLoopback();
const working = event.task("TASK_STATE_WORKING");
const completed = event.status("TASK_STATE_COMPLETED");
const kinds = (items: readonly object[]) => items.map((item) => Object.keys(item)[0]);

/** Both ways to a stream. */
const ways: readonly (readonly [string, () => Promise<TaskStream>])[] = [
  ["SendStreamingMessage", async () => (await at.connect()).sendStreamingMessage("hello")],
  ["SubscribeToTask", async () => (await at.known()).subscribe()],
];

describe("D1: a stream that ends while the task works is cut, and not finished", () => {
  describe.each(ways)("%s", (operation, open) => {
    test.each([
      ["by a clean end", { end: "close" }],
      ["by a broken connection", { end: "cut" }],
    ] as const)("%s", async (_how, { end }) => {
      at.agent.on(
        operation as "SubscribeToTask",
        answer.stream([working, event.artifact("a", "half")], { end }),
      );
      const stream = await open();
      const seen: object[] = [];
      const error = await caught(
        (async () => {
          for await (const item of stream) seen.push(item);
        })(),
        StreamInterruptedError,
      );

      expect(kinds(seen)).toEqual(["task", "artifactUpdate"]);
      expect(error).toMatchObject({ taskId: "t1", lastState: "TASK_STATE_WORKING", eventCount: 2 });
      expect(error.cause instanceof ConnectionError).toBe(end === "cut");
      expect(stream.task?.artifacts).toEqual([{ artifactId: "a", parts: [{ text: "half" }] }]);
      expect(at.agent.calls("SendStreamingMessage").length).toBeLessThanOrEqual(1);
    });

    test.each(["COMPLETED", "FAILED", "CANCELED", "REJECTED", "INPUT_REQUIRED", "AUTH_REQUIRED"])(
      "which ends in %s is settled, however the connection ends",
      async (state) => {
        for (const end of ["close", "cut", "silence"] as const) {
          const items = [working, event.status(`TASK_STATE_${state}`)];
          at.agent.once(operation as "SubscribeToTask", answer.stream(items, { end }));
          expect(kinds(await all(await open()))).toEqual(["task", "statusUpdate"]);
        }
        await at.streamCount(0);
      },
    );
  });
});

describe("a stream that shows nothing at all", () => {
  const empty = { "content-type": "text/event-stream", "content-length": "0" };
  test.each([
    ["D3: no byte", answer.http(200, "", empty)],
    ["a comment alone", answer.stream([frame.comment("hello")])],
    ["a connection that breaks after its head", answer.stream([], { end: "cut" })],
    ["half an event", answer.stream([frame.raw('data: {"jsonrpc":"2.0"')])],
  ])("%s leaves the outcome of a send unknown, and nothing is sent again", async (_what, reply) => {
    at.agent.on("SendStreamingMessage", answer.acceptThen(reply));
    at.agent.on("ListTasks", answer.error(-32601, "no such method"));
    const client = await at.connect();
    const error = await caught(
      (async () => all(await client.sendStreamingMessage("hello")))(),
      SendOutcomeUnknownError,
    );
    expect(error.cause).toMatchObject({ name: "StreamInterruptedError", eventCount: 0 });

    const delegated = await caught(at.inTime(client.delegate("hello again")), SendOutcomeUnknownError);
    expect(at.agent.acceptedMessageIds).toEqual([error.messageId, delegated.messageId]);
  });

  test("is a cut of a subscription", async () => {
    at.agent.on("SubscribeToTask", answer.http(200, "", empty));
    const error = await caught(all(await (await at.known()).subscribe()), StreamInterruptedError);
    expect(error).toMatchObject({ eventCount: 0, taskId: "t1" });
  });
});

describe("frames of no use", () => {
  test("D4: a stream of nothing else is an error with the first of them", async () => {
    at.agent.on("SubscribeToTask", answer.stream([frame.raw("data: {}\n\ndata: {bad\n\n")]));
    const stream = await (await at.known()).subscribe();
    const error = await caught(all(stream), MalformedResponseError);

    expect(stream.skipped).toMatchObject({ count: 2, first: { snippet: "{}" } });
    expect(error.message).toContain("none of use");
  });

  test.each([
    ["D6: a ping", frame.event("ping", "ping")],
    ["broken JSON", frame.raw("data: {bad\n\n")],
    ["an empty object", frame.raw("data: {}\n\n")],
    ["an event of a kind that nobody knows", { somethingNew: {} }],
    ["an answer to somebody else", frame.raw('data: {"jsonrpc":"2.0","id":99,"result":{"task":{}}}\n\n')],
  ])("%s is skipped and counted", async (_what, item) => {
    at.agent.on("SubscribeToTask", answer.stream([item, working, item, completed]));
    const stream = await (await at.known()).subscribe();

    expect(kinds(await all(stream))).toEqual(["task", "statusUpdate"]);
    expect(stream.skipped.count).toBe(2);
    expect(stream.skipped.first?.reason).toEqual(expect.any(String));
  });
});

describe("what an agent answers in place of a stream", () => {
  test.each(ways)(
    "D7: a result as JSON is a stream of one event, and a deviation (%s)",
    async (operation, open) => {
      at.agent.on(operation as "SubscribeToTask", answer.result(event.task("TASK_STATE_COMPLETED")));
      const stream = await open();

      expect(kinds(await all(stream))).toEqual(["task"]);
      expect(kindsOf(stream.task)).toContain("json-instead-of-stream");
    },
  );

  test("such a result that is read after the time of the call is no lost message", async () => {
    at.agent.on("SendStreamingMessage", answer.result(event.task("TASK_STATE_COMPLETED")));
    const stream = await (await at.connect()).sendStreamingMessage("hello", { timeoutMs: 1_000 });
    await at.clock.advance(2_000);

    expect(kinds(await all(stream))).toEqual(["task"]);
  });

  test.each(ways)("D8: a status of HTTP keeps what it said (%s)", async (operation, open) => {
    const page = answer.http(503, "<h1>later</h1>", { "content-type": "text/html", "retry-after": "50" });
    at.agent.on(operation as "SubscribeToTask", page);
    const found = (await caught(open())) as { cause?: unknown };
    const error = found instanceof SendOutcomeUnknownError ? found.cause : found;

    expect(error).toBeInstanceOf(HttpStatusError);
    expect(error).toMatchObject({
      status: 503,
      contentType: "text/html",
      body: "<h1>later</h1>",
      retryAfterMs: 50_000,
    });
  });

  test.each([
    [401, "AuthenticationError"],
    [403, "AuthorizationError"],
    [404, "HttpStatusError"],
  ])("D8: so does %i", async (status, name) => {
    at.agent.on("SubscribeToTask", answer.http(status, "no", { "www-authenticate": 'Bearer realm="a"' }));
    const error = await caught((await at.known()).subscribe());
    expect(error).toMatchObject(status === 401 ? { name, challenge: 'Bearer realm="a"' } : { name });
  });
});

describe("an error frame", () => {
  test.each([
    [-32001, "TaskForgottenError"],
    [-32003, "PushNotificationNotSupportedError"],
    [-32004, "UnsupportedOperationError"],
    [-32603, "InternalError"],
    [-31999, "UnknownProtocolError"],
  ])("D10: %i is the error that a plain answer gives, after an event and before", async (code, name) => {
    const task = await at.known();
    await task.get();
    for (const items of [[], [working]]) {
      at.agent.once("SubscribeToTask", answer.stream([...items, frame.error(code, "gone")]));
      const error = await caught(all(await task.subscribe()));
      at.agent.once("GetTask", answer.error(code, "gone"));
      const plain = await caught(task.get());
      expect([plain, error]).toMatchObject([{ name }, { name }]);
    }
  });

  test("D10: of a task that nobody has seen is of the same class too", async () => {
    at.agent.on("SendStreamingMessage", answer.stream([frame.error(-32001, "gone")]));
    await caught(
      (async () => all(await (await at.connect()).sendStreamingMessage("x")))(),
      TaskNotFoundError,
    );
  });

  test.each([
    ["in place of a stream", answer.error(-32004, "it is over")],
    ["inside of one", answer.stream([frame.error(-32004, "it is over")])],
  ])(
    "that a finished task can't be subscribed to, %s, leads to the task and not to the card",
    async (_how, reply) => {
      const task = await at.known("TASK_STATE_COMPLETED");
      at.agent.on("SubscribeToTask", reply);
      const reads = at.agent.cardReads().length;
      await caught((async () => all(await task.subscribe()))(), UnsupportedOperationError);
      const updates = await at.inTime(all(task.follow()));

      expect(updates.at(-1)?.task.status.state).toBe("TASK_STATE_COMPLETED");
      expect(at.agent.calls("SubscribeToTask")).toHaveLength(2);
      // The checks that go along, and none that a suspicion forces.
      expect(at.agent.cardReads().length - reads).toBeLessThanOrEqual(3);
    },
  );
});

describe("D17: a stream at a question", () => {
  const asking = [working, event.status("TASK_STATE_INPUT_REQUIRED", { text: "Which region?" })];
  const ends: Readonly<Record<string, (task: TaskHandle) => Promise<unknown>>> = {
    "a raw stream": async (task) => all(await task.subscribe()),
    "a sequence of updates": (task) => all(task.follow()),
    "a wait for the outcome": (task) => task.result(),
  };
  describe.each(Object.entries(ends))("%s", (_what, go) => {
    test.each(["close", "silence"] as const)("is settled, and the socket let go of (%s)", async (end) => {
      at.agent.on("SubscribeToTask", answer.stream(asking, { end }));
      const task = await at.known();
      await at.inTime(go(task), 0);

      expect(task.state).toBe("TASK_STATE_INPUT_REQUIRED");
      await at.streamCount(0);
      expect(at.agent.calls("SubscribeToTask")).toHaveLength(1);
    });
  });
});
