import {
  type Binding,
  CardInvalidError,
  MalformedResponseError,
  SendOutcomeUnknownError,
  TimeoutError,
} from "a2a-lease";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { driven } from "../flow/driven.ts";
import { at, createTwoBindings } from "../flow/two-bindings.ts";

const uri = "urn:mine";
const task = { id: "t1", contextId: "c1", status: { state: "TASK_STATE_WORKING" } };
const never = () => new Promise<never>(() => {});

async function* listOf(...items: unknown[]) {
  yield* items;
}

/** A client whose one interface is of a binding of the caller's own, with the given methods. */
async function connect(methods: { readonly call?: unknown; readonly open?: unknown }) {
  const agent = createTwoBindings([at("https://agent.example/mine", uri)]);
  const binding = { name: uri, call: never, open: never, ...methods } as Binding;
  return { client: await agent.connect({ bindings: [binding] }), clock: agent.clock };
}

async function readAll(events: AsyncIterable<unknown>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const event of events) found.push(event);
  return found;
}

const settle = async () => {
  for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe("a binding that misbehaves", () => {
  test.each<[string, () => unknown]>([
    ["nothing", async () => undefined],
    ["a text", async () => "x"],
    ["an empty object", async () => ({})],
    ["null as the value", async () => ({ value: null, deviations: [] })],
    ["a task without an id", async () => ({ value: { task: { status: {} } }, deviations: [] })],
    ["a task without a status", async () => ({ value: { task: { id: "t1" } }, deviations: [] })],
  ])("by answering with %s gives a typed error, and a send of unknown outcome", async (_what, call) => {
    const { client } = await connect({ call });
    await caught(client.getTask({ id: "t1" }), MalformedResponseError);
    const { cause } = await caught(client.sendMessage("hi"), SendOutcomeUnknownError);
    expect(cause).toBeInstanceOf(MalformedResponseError);
  });

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["a text", "x"],
    ["no events", { close() {} }],
    ["an array of events", { events: [task], close() {} }],
    ["an event that is none", { events: listOf({ task: { id: 7 } }), deviations: [], close() {} }],
    ["nothing as an event", { events: listOf(undefined), deviations: [], close() {} }],
  ])("by opening %s gives a typed error, and a send of unknown outcome", async (_what, stream) => {
    const { client, clock } = await connect({ open: async () => stream });
    const sending = async () => readAll(await client.sendStreamingMessage("hi"));
    // What became of the message is looked for, and nobody answers that either.
    const { cause } = await driven(clock, caught(sending(), SendOutcomeUnknownError));
    expect(cause).toBeInstanceOf(MalformedResponseError);
  });

  test("by leaving out all but the events, and failing to close, is read all the same", async () => {
    const close = () => {
      throw new TypeError("can't close");
    };
    const done = { ...task, status: { state: "TASK_STATE_COMPLETED" } };
    const { client } = await connect({ open: async () => ({ events: listOf({ task: done }), close }) });
    const stream = await client.sendStreamingMessage("hi");
    expect(await readAll(stream)).toMatchObject([{ task: { id: "t1" } }]);
    expect(stream.skipped).toEqual({ count: 0 });
  });

  test("by answering with what it goes on to change changes nothing that was taken", async () => {
    const answer = { value: { task: structuredClone(task) }, deviations: "none" };
    const { client } = await connect({ call: async () => answer });
    const reply = await client.sendMessage("hi");
    answer.value.task.status.state = "TASK_STATE_COMPLETED";
    if (!("task" in reply)) throw new TypeError("found a message");
    expect(reply.task.state).toBe("TASK_STATE_WORKING");
    expect(Object.isFrozen(reply.task.task?.status)).toBe(true);
  });

  test("by never answering is given up when the time of the call is over", async () => {
    const { client, clock } = await connect({});
    const calls = [
      client.sendMessage("hi", { timeoutMs: 1_000 }),
      client.getTask({ id: "t1" }, { timeoutMs: 1_000 }),
      client.sendStreamingMessage("hi", { timeoutMs: 1_000 }),
    ].map((call) =>
      call.then(
        () => "answered",
        (error: unknown) => error,
      ),
    );
    await settle();
    await clock.advance(1_001);
    const errors = await driven(clock, Promise.all(calls));
    const causes = errors.map((error) => (error instanceof SendOutcomeUnknownError ? error.cause : error));
    for (const cause of causes) expect(cause).toBeInstanceOf(TimeoutError);
  });

  test("by opening late is closed, and by never going on ends with its reader's signal", async () => {
    let open: (stream: unknown) => void = () => {};
    const pending = new Promise((resolve) => {
      open = resolve;
    });
    let closedCount = 0;
    const close = () => {
      closedCount += 1;
    };
    const late = { events: listOf(), deviations: [], close };
    const { client } = await connect({ open: () => pending });
    const stop = new AbortController();
    const opening = client
      .sendStreamingMessage("hi", { signal: stop.signal })
      .catch((error: unknown) => error);
    await settle();
    stop.abort(new A2ATestStop());
    expect(await opening).toBeInstanceOf(A2ATestStop);
    open(late);
    await settle();
    expect(closedCount).toBe(1);

    const events = { [Symbol.asyncIterator]: () => ({ next: never }) };
    const silent = await connect({ open: async () => ({ events, deviations: [], close() {} }) });
    const again = new AbortController();
    const stream = await silent.client.sendStreamingMessage("hi", { signal: again.signal });
    const reading = readAll(stream).catch((error: unknown) => error);
    await settle();
    again.abort(new A2ATestStop());
    expect(await reading).toBeInstanceOf(A2ATestStop);
  });
});

class A2ATestStop extends TypeError {}

describe("an interface whose tenant no path can hold", () => {
  test.each([".", ".."])("%s is not used over HTTP+JSON, and is over JSON-RPC", async (tenant) => {
    const rest = at("https://agent.example/rest", "HTTP+JSON", { tenant });
    await caught(createTwoBindings([rest]).connect(), CardInvalidError);
    const rpc = at("https://agent.example/rpc", "JSONRPC", { tenant });
    const agent = createTwoBindings([rest, rpc]);
    const client = await agent.connect();
    await client.sendMessage("hi");
    expect(agent.urls()).toEqual([rpc.url]);
  });
});
