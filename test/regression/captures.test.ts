import { readdirSync } from "node:fs";
import { type A2AClient, createClient, isA2ALeaseError } from "a2a-lease";
import { createTestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { type Capture, readCapture, readExchange, readRecording, readSection } from "../binding/captures.ts";
import { caught } from "../flow/caught.ts";

type Call = (client: A2AClient) => Promise<unknown>;

const jsonRpcBody = (body: string): Capture => ({
  method: "",
  status: 200,
  headers: new Headers({ "content-type": "application/json" }),
  body,
});

/** An agent that serves a recorded card, and answers every call by the next of some recorded answers. */
function replayAgent(card: string, answers: readonly Capture[], claims: object = {}) {
  const recorded = readCapture(`${card}`);
  const { origin } = new URL(/http:\/\/127\.0\.0\.1:\d+/.exec(recorded.body)?.[0] ?? "");
  const served = { ...JSON.parse(recorded.body) };
  if (served.capabilities) Object.assign(served.capabilities, claims);
  const clock = createTestClock();
  let at = 0;
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    if (new URL(url).pathname.endsWith("agent-card.json")) {
      return new Response(JSON.stringify(served), { headers: { "content-type": "application/json" } });
    }
    const next = answers[Math.min(at++, answers.length - 1)];
    if (!next) throw new TypeError("nothing was recorded");
    const { id } = typeof init.body === "string" ? JSON.parse(init.body) : { id: undefined };
    const body = next.body.replaceAll(/"id":(?:"req-[^"]+"|\d+)(?=,"(?:result|error)")/g, `"id":${id}`);
    return new Response(body, { status: next.status, headers: next.headers });
  };
  const connect = (binding = "JSONRPC") =>
    createClient(origin, { fetch, clock, random: () => 0.5, preferredBindings: [binding] });
  return { connect, clock };
}

/** What a call came to: what it was answered, or the name of the error, in a word or two. */
async function outcomeOf(call: Promise<unknown>, clock: ReturnType<typeof createTestClock>): Promise<string> {
  let told: string | undefined;
  call.then(
    (value) => {
      told = String(value);
    },
    (error) => {
      told = isA2ALeaseError(error) ? error.name : `untyped ${error}`;
    },
  );
  for (let round = 0; round < 400 && told === undefined; round++) await clock.advance(1_000);
  return told ?? "nothing";
}

const shortened = (state: string | undefined) => state?.replace("TASK_STATE_", "");

const send: Call = async (client) => {
  const reply = await client.sendMessage("hello");
  return "task" in reply ? `${shortened(reply.task.state)} ${reply.task.artifacts.length}` : "message";
};
const stream: Call = async (client) => {
  const seen: (string | undefined)[] = [];
  for await (const event of await client.sendStreamingMessage("hello")) seen.push(Object.keys(event)[0]);
  return seen.join(" ");
};
const list: Call = async (client) => {
  const { tasks, totalSize } = await client.listTasks();
  return `${tasks.map(({ state }) => shortened(state)).join(" ")} of ${totalSize}`;
};
const get: Call = async (client) => shortened((await client.getTask({ id: "nope" })).state);
const subscribe =
  (id: string): Call =>
  async (client) => {
    const seen: (string | undefined)[] = [];
    for await (const event of await client.subscribeToTask({ id })) seen.push(Object.keys(event)[0]);
    return seen.join(" ");
  };
const cancel =
  (id: string): Call =>
  async (client) =>
    shortened((await client.cancelTask({ id })).state);
const extended: Call = async (client) => (await client.getExtendedAgentCard()).name;
const configs: Call = async (client) => {
  const [config] = (await client.listTaskPushNotificationConfigs({ taskId: slow })).configs;
  return `${config?.id} ${config?.authentication?.scheme}`;
};
/** The task of the recording of a task's life. */
const slow = "ddd583ab-a5b4-4346-bb37-6a3e615193ea";

const fourEvents = "task statusUpdate artifactUpdate statusUpdate";
const twoChunks = "task artifactUpdate artifactUpdate statusUpdate";
const both: readonly (readonly [name: string, call: Call, expected: string])[] = [
  ["SendMessage", send, "COMPLETED 1"],
  ["ListTasks", list, "COMPLETED COMPLETED of 2"],
  ["GetTask-missing", get, "TaskNotFoundError"],
  ["BadVersion", send, "VersionNotSupportedError"],
];

const speaking10 = [
  ...both.map(([name, ...rest]) => ["a2ajs-1.3.0", name, ...rest] as const),
  ["a2ajs-1.3.0", "SendStreamingMessage", stream, fourEvents],
  ["a2ajs-1.3.0", "Subscribe-missing", subscribe("nope"), "TaskNotFoundError"],
  ["a2ajs-1.3.0", "BadParams", send, "InvalidParamsError"],
  ["a2ajs-1.3.0", "UnknownMethod", list, "MethodNotFoundError"],
  ["a2ajs-1.3.0", "GetExtendedAgentCard", extended, "UnsupportedOperationError"],
  ...both.map(([name, ...rest]) => ["mastra-server-1.69.0-v1", name, ...rest] as const),
  ["mastra-server-1.69.0-v1", "SendStreamingMessage", stream, twoChunks],
  ["mastra-server-1.69.0-v1", "Subscribe-missing", subscribe("nope"), "StreamInterruptedError"],
  ["mastra-server-1.69.0-v1", "BadParams", list, "HttpStatusError"],
  ["mastra-server-1.69.0-v1", "UnknownMethod", list, "HttpStatusError"],
  ["mastra-server-1.69.0-v1", "GetExtendedAgentCard", extended, "ExtendedAgentCardNotConfiguredError"],
] as const;

describe("what an agent of A2A 1.0 was recorded to say reads right through the client:", () => {
  test.each(speaking10)("%s, %s", async (server, name, call, expected) => {
    const answers = [readCapture(`${server}-${name}`)];
    const { connect, clock } = replayAgent(`${server}-card-headers`, answers, { extendedAgentCard: true });
    const client = await connect();
    expect(await outcomeOf(call(client), clock)).toBe(expected);
  });

  const lifecycle = (heading: string) => readSection("a2ajs-1.3.0-lifecycle", heading);
  const lines = (heading: string) => lifecycle(heading).trim().split(/\n+/).map(jsonRpcBody);

  test.each([
    ["returnImmediately", lines("returnImmediately"), send, "SUBMITTED 0"],
    [
      "SubscribeToTask running",
      [readExchange(lifecycle("SubscribeToTask running"))],
      subscribe(slow),
      "task artifactUpdate statusUpdate",
    ],
    [
      "SubscribeToTask terminal",
      [readExchange(lifecycle("SubscribeToTask terminal"))],
      subscribe(slow),
      "UnsupportedOperationError",
    ],
    ["CancelTask terminal", lines("CancelTask terminal"), cancel(slow), "TaskNotCancelableError"],
    ["no A2A-Version", lines("no A2A-Version"), send, "VersionNotSupportedError"],
    ["push config", lines("push config").slice(1), configs, "c1 Bearer"],
  ] as const)("a2ajs-1.3.0, %s", async (_heading, answers, call, expected) => {
    const { connect, clock } = replayAgent("a2ajs-1.3.0-card-headers", answers);
    expect(await outcomeOf(call(await connect()), clock)).toBe(expected);
  });

  test.each([
    ["REST POST /message:send (application/a2a+json)", send, "COMPLETED 1"],
    ["REST POST /message:send (application/json)", send, "message"],
    ["REST GET /tasks/nope", get, "TaskNotFoundError"],
    ["REST stream", stream, fourEvents],
    ["REST no version header", send, "VersionNotSupportedError"],
  ] as const)("a2ajs-1.3.0, %s", async (heading, call, expected) => {
    const answers = [readExchange(readSection("a2ajs-1.3.0-REST", heading))];
    const { connect, clock } = replayAgent("a2ajs-1.3.0-card-headers", answers);
    expect(await outcomeOf(call(await connect("HTTP+JSON")), clock)).toBe(expected);
  });

  test("a card of both protocols leads to its interface of 1.0", async () => {
    const client = await replayAgent("a2ajs-1.3.0-compat-card-noversion", []).connect();
    expect(client.lease.interface).toMatchObject({ protocolVersion: "1.0", protocolBinding: "JSONRPC" });
    const other = await replayAgent("mastra-server-1.69.0-v1-card-headers", []).connect();
    expect(other.lease.interface).toMatchObject({ protocolVersion: "1.0" });
  });

  test("a server that goes by the header of a request answers a request of 1.0 in 1.0, whatever its card", async () => {
    const answers = [readCapture("mastra-server-1.69.0-v03-v1-SendMessage")];
    const { connect, clock } = replayAgent("mastra-server-1.69.0-v1-card-headers", answers);
    expect(await outcomeOf(send(await connect()), clock)).toBe("COMPLETED 1");
  });
});

const older = ["a2ajs-0.3.14", "google-adk-2.0.0", "mastra-server-1.69.0-v03"];

describe("what an agent of A2A 0.3 was recorded to say is never half understood (I6):", () => {
  test.each(older)("the card of %s is of another protocol, and nothing is called", async (server) => {
    const { connect } = replayAgent(`${server}-card-headers`, []);
    expect(await caught(connect())).toMatchObject({
      name: "ProtocolVersionError",
      offered: ["0.3.0"],
      implemented: ["1.0"],
    });
  });

  const recordings = readdirSync(new URL("../binding/captures", import.meta.url))
    .map((file) => file.replace(/\.txt$/, ""))
    .filter((name) => older.some((server) => name.startsWith(server)) || name.endsWith("compat-message-send"))
    // Recorded of a request of 1.0, and read above; and the cards.
    .filter((name) => !/mastra.*v03-v1-SendMessage|card-headers/.test(name));

  test.each(recordings)(
    "%s behind a card that says 1.0 is a typed error, whatever was called",
    async (name) => {
      const answer = name.includes("compat") ? jsonRpcBody(readRecording(name)) : readCapture(name);
      for (const binding of ["JSONRPC", "HTTP+JSON"]) {
        for (const call of [send, stream, list, get, subscribe("nope"), cancel("nope"), configs, extended]) {
          const { connect, clock } = replayAgent("a2ajs-1.3.0-card-headers", [answer], {
            extendedAgentCard: true,
          });
          const outcome = await outcomeOf(call(await connect(binding)), clock);
          expect(outcome).toMatch(/^[A-Za-z]+Error$/);
        }
      }
    },
  );
});

// But for the two answers to a repeated message, whose recordings break off in the middle of their JSON.
test("every recording is replayed", () => {
  const read = new Set<string>([
    ...speaking10.map(([server, name]) => `${server}-${name}`),
    ...["lifecycle", "REST", "compat-message-send"].map((name) => `a2ajs-1.3.0-${name}`),
  ]);
  const left = readdirSync(new URL("../binding/captures", import.meta.url))
    .map((file) => file.replace(/\.txt$/, ""))
    .filter((name) => !read.has(name) && !older.some((server) => name.startsWith(server)))
    .filter((name) => !/-card-/.test(name));
  expect(left).toEqual([]);
});
