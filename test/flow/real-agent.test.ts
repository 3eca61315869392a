import { createHash } from "node:crypto";
import { CardDriftError, type StreamResponse, type TaskStream } from "a2a-lease";
import { createTestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { skill } from "../../examples/support/real-agent.ts";
import { caught } from "./caught.ts";
import {
  callsOf,
  cardReadsOf,
  plan,
  report,
  rotateAsInTheIncident,
  summary,
  taskOf,
  useRealAgent,
} from "./real-agent.ts";

const fixture = useRealAgent();

/** What a stream brought, in short: `"WORKING"`, or the text of a piece. */
function inShort(event: StreamResponse): string {
  if ("task" in event) return event.task.status.state;
  if ("statusUpdate" in event) return event.statusUpdate.status.state;
  if ("message" in event) return "message";
  return event.artifactUpdate.artifact.parts.map((part) => ("text" in part ? part.text : "?")).join("");
}

async function collect(stream: TaskStream): Promise<readonly string[]> {
  const events: string[] = [];
  for await (const event of stream) events.push(inShort(event));
  return events;
}

const drifted = (call: Promise<unknown>) => caught(call, CardDriftError);

describe("with the card that was planned on", () => {
  test("a task is sent, subscribed to and completed", async () => {
    const { agent } = fixture;
    const client = await fixture.connect({ requires: plan });
    agent.hold();
    const task = taskOf(await client.sendMessage(report));
    expect(task.state).toBe("TASK_STATE_SUBMITTED");
    const stream = await task.subscribe();
    expect(stream.task).toBe(task);
    agent.release();
    expect(await collect(stream)).toEqual(["TASK_STATE_WORKING", "Nobody was hurt.", "TASK_STATE_COMPLETED"]);
    expect(task.artifacts).toEqual([{ artifactId: "summarize", name: "summarize", parts: summary }]);
    expect(task.deviations).toEqual([]);
    expect(callsOf(agent)).toEqual(["SendMessage", "SubscribeToTask"]);
  });

  test("a streaming send brings every event in order, and its handle with the first", async () => {
    const client = await fixture.connect({ requires: plan });
    const stream = await client.sendStreamingMessage(report);
    expect(stream.task).toBeUndefined();
    expect(await collect(stream)).toEqual([
      "TASK_STATE_SUBMITTED",
      "TASK_STATE_WORKING",
      "The river rose two metres. ",
      "Nobody was hurt.",
      "TASK_STATE_COMPLETED",
    ]);
    expect(stream.task?.state).toBe("TASK_STATE_COMPLETED");
    expect(stream.task?.artifacts.map(({ parts }) => parts)).toEqual([summary]);
  });

  test("a blocking send answers when the task is settled", async () => {
    const client = await fixture.connect({ requires: plan });
    const task = taskOf(await client.sendMessage(report, { blocking: true }));
    expect([task.state, task.artifacts.length]).toEqual(["TASK_STATE_COMPLETED", 1]);
  });

  test("a task is read with its history, and by its id is the same handle", async () => {
    const client = await fixture.connect({ requires: plan });
    const task = taskOf(await client.sendMessage(report, { blocking: true }));
    expect(await client.getTask({ id: task.id })).toBe(task);
    expect(task.task?.history?.map(({ role, parts }) => [role, parts])).toEqual([
      ["ROLE_USER", [{ text: report }]],
    ]);
  });

  test("a running task is cancelled, and its stream ends with that", async () => {
    const { agent } = fixture;
    const client = await fixture.connect({ requires: plan });
    agent.hold();
    const task = taskOf(await client.sendMessage(report));
    const events = collect(await task.subscribe());
    expect(await task.cancel()).toBe(task);
    expect(task.state).toBe("TASK_STATE_CANCELED");
    expect(await events).toEqual(["TASK_STATE_WORKING", "TASK_STATE_CANCELED"]);
  });

  test("a question is read, answered through the handle, and the task completes", async () => {
    const { agent } = fixture;
    const client = await fixture.connect({ requires: plan });
    agent.ask("Which part?");
    const task = taskOf(await client.sendMessage(report, { blocking: true }));
    expect(task.state).toBe("TASK_STATE_INPUT_REQUIRED");
    expect(task.task?.status.message?.parts).toEqual([{ text: "Which part?", mediaType: "text/plain" }]);
    expect(taskOf(await task.sendMessage("All of it.", { blocking: true }))).toBe(task);
    expect(task.state).toBe("TASK_STATE_COMPLETED");
    expect(task.artifacts[0]?.parts).toEqual([summary[0], { text: "All of it.", mediaType: "text/plain" }]);
    expect(task.deviations).toEqual([]);
  });

  test("an unknown task is TaskNotFoundError, however it is asked for", async () => {
    const client = await fixture.connect({ requires: plan });
    const id = "nobody-has-seen-it";
    const notFound = { name: "TaskNotFoundError", retry: "never", reason: "TASK_NOT_FOUND", rpcCode: -32001 };
    await expect(client.getTask({ id })).rejects.toMatchObject(notFound);
    await expect(client.subscribeToTask({ id })).rejects.toMatchObject(notFound);
    await expect(client.cancelTask({ id })).rejects.toMatchObject(notFound);
  });

  test("a finished task takes no message, no subscription and no cancellation, and its context goes on", async () => {
    const { agent } = fixture;
    const client = await fixture.connect({ requires: plan });
    const task = taskOf(await client.sendMessage(report, { blocking: true }));
    await expect(task.sendMessage("More.")).rejects.toMatchObject({ name: "TaskTerminalError" });
    await expect(task.subscribe()).rejects.toMatchObject({ name: "UnsupportedOperationError" });
    await expect(task.cancel()).rejects.toMatchObject({ name: "TaskNotCancelableError" });
    const next = taskOf(await task.continueInContext(report, { blocking: true }));
    expect([next.contextId, next.id === task.id]).toEqual([task.contextId, false]);
    expect(callsOf(agent).filter((what) => what === "SendMessage")).toHaveLength(2);
  });
});

describe("with an agent that repeats its question before it goes on from the answer", () => {
  const repeating = useRealAgent({ repeatsTask: true });

  test("a blocking answer waits for the end, and one that does not block is read to the end", async () => {
    const { agent } = repeating;
    const client = await repeating.connect({ requires: plan });
    for (const blocking of [true, false]) {
      agent.ask("Which part?");
      const task = taskOf(await client.sendMessage(report, { blocking: true }));
      expect(task.state).toBe("TASK_STATE_INPUT_REQUIRED");
      expect(taskOf(await task.sendMessage("All of it.", { blocking }))).toBe(task);
      await task.get();
      expect([task.state, task.artifacts.length]).toEqual(["TASK_STATE_COMPLETED", 1]);
    }
  });
});

describe("the official server's validators", () => {
  test("are a weak ETag made of the card's content, and an hour of max-age", async () => {
    const { agent } = fixture;
    const url = `${agent.url}/.well-known/agent-card.json`;
    const first = await fetch(url);
    const body = await first.text();
    const etag = first.headers.get("etag") ?? "";
    const sha256 = createHash("sha256").update(body).digest("hex");
    expect(etag).toBe(`W/"${sha256.slice(0, 16)}"`);
    expect(first.headers.get("cache-control")).toBe("public, max-age=3600");
    const ask = () => fetch(url, { headers: { "if-none-match": etag }, cache: "no-cache" });
    expect((await ask()).status).toBe(304);
    agent.rotateCard((card) => ({ ...card, description: "Summarizes text." }));
    const rotated = await ask();
    expect([rotated.status, rotated.headers.get("etag") === etag]).toEqual([200, false]);
    await rotated.text();
  });

  test("renew the lease by 304, and a rotation is seen at the next call that depends on the card", async () => {
    const { agent } = fixture;
    const client = await fixture.connect({ requires: plan });
    const task = taskOf(await client.sendMessage(report, { blocking: true }));
    await task.get();
    expect(cardReadsOf(agent)).toEqual([200, 304, 304]);
    agent.rotateCard((card) => ({ ...card, description: "Summarizes text." }));
    const { reason, drift } = await drifted(client.sendMessage(report));
    expect(reason).toBe("content-changed");
    expect(drift.changes).toEqual([
      {
        pointer: "/description",
        kind: "text-changed",
        before: "Summarizes texts. Keeps nothing.",
        after: "Summarizes text.",
        impact: "cosmetic",
      },
    ]);
    expect(cardReadsOf(agent)).toEqual([200, 304, 304, 200]);
    expect(callsOf(agent)).toEqual(["SendMessage", "GetTask"]);
  });
});

describe("after the rotation of the incident", () => {
  test("a streaming send is drift before anything is sent, and stays so without a request until renegotiated", async () => {
    const { agent } = fixture;
    const clock = createTestClock();
    const client = await fixture.connect({ requires: plan, clock });
    agent.rotateCard(rotateAsInTheIncident);
    const error = await drifted(client.sendStreamingMessage(report));
    expect([error.reason, error.retry, error.nextStep]).toEqual([
      "security-changed",
      "after-renegotiation",
      "renegotiate",
    ]);
    expect(error.drift.changes.map(({ kind, impact }) => `${impact} ${kind}`)).toEqual(
      expect.arrayContaining([
        "security security-changed",
        "breaking capability-lost",
        "additive skill-added",
      ]),
    );
    expect(error.drift.breaks).toEqual([{ requirement: "streaming", wanted: true, offered: false }]);
    expect(callsOf(agent)).toEqual([]);

    const seenBefore = agent.seen.length;
    expect(await drifted(client.sendStreamingMessage(report))).toBe(error);
    expect(await drifted(client.sendMessage(report))).toBe(error);
    expect(agent.seen.length).toBe(seenBefore);

    await expect(error.renegotiate()).rejects.toMatchObject({ name: "RequirementUnmetError" });
    await client.renegotiate({ requires: { skills: ["summarize"] } });
    const task = taskOf(await client.sendMessage(report, { blocking: true }));
    expect([task.state, task.pin.version]).toEqual(["TASK_STATE_COMPLETED", "1.1.0"]);
    expect(clock.pendingCount).toBe(0);
  });

  test("a subscription to a task from before is drift, at once, and leaves nothing open", async () => {
    const { agent } = fixture;
    const clock = createTestClock();
    const client = await fixture.connect({ requires: plan, clock });
    agent.hold();
    const task = taskOf(await client.sendMessage(report));
    agent.rotateCard(rotateAsInTheIncident);
    const error = await drifted(task.subscribe());
    expect([error.taskId, error.drift.phase]).toEqual([
      task.id,
      { operation: "SubscribeToTask", check: "alongside" },
    ]);
    expect(task.signal.reason).toBe(error);
    await agent.idle();
    expect([agent.openRequestCount, clock.pendingCount]).toEqual([0, 0]);
  });

  test("a question never reaches the planner as if it were planned for", async () => {
    const { agent } = fixture;
    const client = await fixture.connect({ requires: plan });
    agent.hold();
    agent.ask("Translate it into which language?");
    const task = taskOf(await client.sendMessage(report));
    agent.rotateCard(rotateAsInTheIncident);
    agent.release();
    await agent.idle();
    const error = await drifted(task.get());
    expect([task.state, task.task?.status.message]).toEqual(["TASK_STATE_SUBMITTED", undefined]);
    expect(JSON.stringify([error, task])).not.toContain("language?");
  });

  test("a question in an open stream is drift in its place, after the events that came before", async () => {
    const { agent } = fixture;
    const client = await fixture.connect({ requires: plan });
    agent.hold();
    agent.ask("Translate it into which language?");
    const stream = await client.sendStreamingMessage(report);
    const events: string[] = [];
    const read = async () => {
      for await (const event of stream) {
        if (events.push(inShort(event)) < 2) continue;
        agent.rotateCard(rotateAsInTheIncident);
        agent.release();
      }
    };
    const { drift } = await drifted(read());
    expect(drift.phase).toEqual({ operation: "SendStreamingMessage", check: "forced" });
    expect(events).toEqual(["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"]);
    expect(stream.task?.state).toBe("TASK_STATE_WORKING");
  });

  test("the renegotiated handle refuses to stream by itself, since the card no longer does", async () => {
    const { agent } = fixture;
    const client = await fixture.connect();
    agent.hold();
    const task = taskOf(await client.sendMessage(report));
    agent.rotateCard(rotateAsInTheIncident);
    const renewed = await task.renegotiate();
    expect(renewed).not.toBe(task);
    await expect(renewed.subscribe()).rejects.toMatchObject({
      name: "CapabilityMissingError",
      capability: "streaming",
    });
    expect(callsOf(agent)).toEqual(["SendMessage"]);
  });
});

describe("a task whose lease is over", () => {
  test("that completed unseen is read again by the renegotiated handle, artifacts and all", async () => {
    const { agent } = fixture;
    const client = await fixture.connect({ requires: plan });
    agent.hold();
    const task = taskOf(await client.sendMessage(report));
    agent.rotateCard((card) => ({ ...card, description: "Summarizes text." }));
    agent.release();
    const error = await drifted(task.get());
    expect([task.state, task.artifacts]).toEqual(["TASK_STATE_SUBMITTED", []]);
    const renewed = await task.renegotiate();
    await renewed.get();
    expect([renewed.state, renewed.artifacts[0]?.parts]).toEqual(["TASK_STATE_COMPLETED", summary]);
    expect([renewed.pin.digest === task.pin.digest, renewed.signal.aborted]).toEqual([false, false]);
    expect(await drifted(task.get())).toBe(error);
  });

  test("is cancelled all the same", async () => {
    const { agent } = fixture;
    const client = await fixture.connect({ requires: plan });
    agent.hold();
    const task = taskOf(await client.sendMessage(report));
    agent.rotateCard(rotateAsInTheIncident);
    await drifted(task.get());
    const readsBefore = cardReadsOf(agent).length;
    await task.cancel();
    expect(task.state).toBe("TASK_STATE_CANCELED");
    expect(cardReadsOf(agent)).toHaveLength(readsBefore);
  });

  test("is salvaged once and raw, and the handle does not take it over", async () => {
    const { agent } = fixture;
    const client = await fixture.connect({ requires: plan });
    agent.hold();
    const task = taskOf(await client.sendMessage(report));
    agent.rotateCard((card) => ({
      ...card,
      skills: [skill("translate", "Puts a text into another language")],
    }));
    agent.release();
    expect((await drifted(task.get())).reason).toBe("skill-withdrawn");
    const salvaged = await task.salvage();
    expect(salvaged.unleased).toBe(true);
    expect([salvaged.task.status.state, salvaged.task.artifacts?.[0]?.parts]).toEqual([
      "TASK_STATE_COMPLETED",
      summary,
    ]);
    expect(task.state).toBe("TASK_STATE_SUBMITTED");
  });
});
