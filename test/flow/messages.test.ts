import {
  bytesOf,
  createClient,
  dataPart,
  filePart,
  type MessageFields,
  type SendOptions,
  textOf,
  textPart,
} from "a2a-lease";
import { createTestCard, step } from "a2a-lease/testing";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { setUp, taskOf } from "./lifecycle-setup.ts";

const anyMode = { defaultInputModes: ["*/*"], defaultOutputModes: ["*/*"] };
const geo = "https://example.com/extensions/geolocation/v1";
const cite = "https://standards.example/extensions/citations/v1";

describe("a message on the wire", () => {
  test("is what the caller made of it, member by member, and nothing else", async () => {
    const extensions = [{ uri: geo }, { uri: cite }];
    const card = createTestCard({ ...anyMode, capabilities: { streaming: true, extensions } });
    const { agent, connect } = setUp({ card });
    const client = await connect();
    const message: MessageFields = {
      messageId: "m-1",
      contextId: "c-1",
      parts: [
        textPart("Where?", { metadata: { lang: "en" } }),
        dataPart({ lat: 37.7, at: null }),
        filePart(Uint8Array.of(0, 1, 2), { filename: "x.bin", mediaType: "application/octet-stream" }),
        filePart("https://files.example/map.png", { mediaType: "image/png" }),
      ],
      metadata: { [geo]: { accuracy: 10 } },
      extensions: [geo, "urn:unknown"],
      referenceTaskIds: ["t-0"],
    };
    const options: SendOptions = {
      metadata: { trace: ["a", 1, null] },
      acceptedOutputModes: ["text/plain", "image/png"],
      historyLength: 0,
    };

    await client.sendMessage(message, options);
    for await (const _event of await client.sendStreamingMessage(message, options)) break;

    const configuration = { acceptedOutputModes: ["text/plain", "image/png"], historyLength: 0 };
    const sent = { message: { ...message, role: "ROLE_USER" }, metadata: { trace: ["a", 1, null] } };
    expect(agent.calls("SendMessage")[0]?.params).toEqual({
      ...sent,
      configuration: { ...configuration, returnImmediately: true },
    });
    expect(agent.calls("SendStreamingMessage")[0]?.params).toEqual({ ...sent, configuration });
    // 4.6.1: what the message uses is declared, as far as the card has it.
    const declared = agent.calls().map(({ headers }) => headers["a2a-extensions"]);
    expect(declared).toEqual([geo, geo]);
  });

  test("takes context and references from the options, where it does not name them itself", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    const options = { contextId: "c-option", referenceTaskIds: ["t-option"] };

    await client.sendMessage("text", options);
    await client.sendMessage({ parts: [textPart("a")], contextId: "c-own", referenceTaskIds: [] }, options);

    expect(agent.calls("SendMessage").map(({ params }) => params)).toMatchObject([
      { message: { contextId: "c-option", referenceTaskIds: ["t-option"] } },
      { message: { contextId: "c-own", referenceTaskIds: [] } },
    ]);
  });

  test("bytes come back as they went out, over real HTTP, whatever they are and however they are held", async () => {
    const { agent } = setUp({ card: createTestCard(anyMode) });
    const listener = await agent.listen();
    const client = await createClient(listener.url);
    onTestFinished(async () => {
      await client.close();
      await listener.close();
    });
    agent.plan(({ parts }) => [step.artifact("echo", parts), step.completed()]);

    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2_000 }), fc.boolean(), async (bytes, isBlob) => {
        const part = isBlob ? await filePart(new Blob([bytes])) : filePart(bytes);
        const task = taskOf(await client.sendMessage([part], { blocking: true }));
        const [back] = task.artifacts[0]?.parts ?? [];
        expect(back && bytesOf(back)).toEqual(bytes);
      }),
      { numRuns: 25 },
    );
  });

  test("what is no text in an answer is skipped by its text, and said to be", async () => {
    const { agent, connect } = setUp();
    agent.planNext([
      step.working(),
      step.artifact("a", [{ text: "see " }, { raw: "AAEC" }, { text: "there" }]),
      step.completed(),
    ]);
    const outcome = await (await connect()).delegate("text");
    if (outcome.status !== "completed") expect.fail(outcome.status);

    expect([outcome.text, outcome.skipped]).toEqual(["see there", [{ raw: "AAEC" }]]);
    expect(textOf(outcome.artifacts[0] ?? [])).toEqual({ text: "see there", skipped: [{ raw: "AAEC" }] });
  });
});

describe("how much history is asked for", () => {
  test("is sent as it is, nothing at all where nothing was said", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    const task = taskOf(await client.sendMessage("text"));
    await client.sendMessage("text", { historyLength: 0 });
    await client.sendMessage("text", { historyLength: 3 });
    for (const historyLength of [undefined, 0, 3]) {
      const options = historyLength === undefined ? {} : { historyLength };
      await task.get(options);
      await client.getTask({ id: task.id, ...options });
    }

    const asked = agent.calls().map(({ params }) => {
      const { configuration, ...rest } = params as { configuration?: object };
      return Object.entries({ ...rest, ...configuration }).filter(([name]) => name === "historyLength");
    });
    const [none, zero, three] = [[], [["historyLength", 0]], [["historyLength", 3]]];
    expect(asked).toEqual([none, zero, three, none, none, zero, zero, three, three]);
  });

  test.each([-1, 1.5, Number.NaN, "1"])("%o is refused before anything leaves", async (historyLength) => {
    const { agent, connect } = setUp();
    const client = await connect();
    const task = taskOf(await client.sendMessage("text"));
    agent.clearTranscript();
    const options = { historyLength: historyLength as number };

    await expect(client.sendMessage("text", options)).rejects.toThrow(TypeError);
    await expect(client.sendStreamingMessage("text", options)).rejects.toThrow("historyLength");
    await expect(task.get(options)).rejects.toThrow("historyLength");
    expect(agent.transcript).toEqual([]);
  });

  test("makes what is known no shorter: what an answer may leave out is unknown, and not gone", async () => {
    const { agent, connect } = setUp();
    agent.plan([step.working(), step.hold(), step.message("two"), step.message("three"), step.hold()]);
    const client = await connect();
    const task = taskOf(await client.sendMessage("one"));
    const texts = () => task.task?.history?.map(({ parts }) => textOf(parts).text);
    await task.get();
    expect(texts()).toEqual(["one"]);

    agent.step(task.id);
    await task.get({ historyLength: 0 });
    expect(texts()).toEqual(["one"]);
    // A gap would be a history that never was.
    await task.get({ historyLength: 1 });
    expect(texts()).toEqual(["three"]);
    await task.get();
    expect(texts()).toEqual(["one", "two", "three"]);
    await task.get({ historyLength: 2 });
    expect(texts()).toEqual(["one", "two", "three"]);
  });
});

describe("the caller's trace", () => {
  const trace = {
    traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    tracestate: "vendor=opaque",
  };

  test("goes with every request of a call, streams and reads included, and with no check of the card", async () => {
    const { agent, connect } = setUp();
    agent.plan([step.working(), step.artifact("a", "text"), step.completed()]);
    const client = await connect();
    agent.clearTranscript();

    await client.delegate("text", { headers: trace });
    await client.listTasks({}, { headers: trace });

    const seen = agent
      .calls()
      .map(({ operation, headers }) => [operation, headers.traceparent, headers.tracestate]);
    const { traceparent, tracestate } = trace;
    expect(seen).toEqual(
      ["SendStreamingMessage", "GetTask", "ListTasks"].map((name) => [name, traceparent, tracestate]),
    );
    expect(agent.cardReads().filter(({ headers }) => "traceparent" in headers)).toEqual([]);
  });

  test("of one call is not that of the next, nor of the next page unless it is given again", async () => {
    const { agent, connect } = setUp();
    const client = await connect();
    await client.sendMessage("one", { headers: trace });
    await client.sendMessage("two");
    const first = await client.listTasks({ pageSize: 1 }, { headers: trace });
    const next = { ...trace, traceparent: trace.traceparent.replace("00f067aa0ba902b7", "00f067aa0ba902b8") };
    await first.next({ headers: next });
    await first.next();

    const seen = agent.calls().map(({ headers }) => headers.traceparent?.slice(36, 52));
    expect(seen).toEqual([
      "00f067aa0ba902b7",
      undefined,
      "00f067aa0ba902b7",
      "00f067aa0ba902b8",
      "00f067aa0ba902b7",
    ]);
  });
});
