import { createClient } from "a2a-lease";
import { createTestCard } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { type SeenRequest, serve } from "../wire/loopback.ts";
import { all, taskOf } from "./lifecycle-setup.ts";
import { report, useRealAgent } from "./real-agent.ts";

describe("the list of an agent of the official SDK", () => {
  const real = useRealAgent();

  test("is read page by page, filtered, and folded into the handles", async () => {
    const { agent } = real;
    const client = await real.connect();
    agent.hold();
    const held = taskOf(await client.sendMessage(report));
    agent.release();
    const sent = [held];
    for (let nth = 0; nth < 4; nth++) sent.push(taskOf(await client.sendMessage(report)));
    for (const task of sent) await task.result();
    await agent.idle();

    const found = await client.listTasks({ pageSize: 2 });

    expect(found.tasks).toHaveLength(2);
    expect(found).toMatchObject({ pageSize: 2, totalSize: 5, failures: [], deviations: [] });
    const every = await all(found);
    expect(new Set(every)).toEqual(new Set(sent));
    expect(every.map(({ state }) => state)).toEqual(sent.map(() => "TASK_STATE_COMPLETED"));
    // What the list left out is still there.
    expect(held.artifacts).toMatchObject([{ artifactId: "summarize" }]);
    const { tasks } = await client.listTasks({ contextId: held.contextId ?? "", includeArtifacts: true });
    expect(tasks).toEqual([held]);
    expect((await client.listTasks({ status: "TASK_STATE_WORKING" })).tasks).toEqual([]);
  });

  test("shows a stranger what was asked for: artifacts, and none of the history", async () => {
    const sender = await real.connect();
    const { id } = taskOf(await sender.sendMessage(report));
    await (await sender.task(id)).result();
    const bare = (await (await real.connect()).listTasks({ historyLength: 0 })).tasks;
    const whole = (await (await real.connect()).listTasks({ includeArtifacts: true })).tasks;

    expect(bare.map(({ task }) => [task?.id, task?.history, task?.artifacts])).toEqual([[id, undefined, []]]);
    expect(whole.map(({ artifacts }) => artifacts.length)).toEqual([1]);
    expect(whole[0]?.task?.history?.length).toBeGreaterThan(0);
  });
});

describe("the list of a server of few lines", () => {
  test("is one POST a page, and reads what a serializer makes of unset members", async () => {
    const state = { state: 3, timestamp: "2026-11-30T08:00:00Z" };
    const pages = [
      { tasks: [{ id: "t1", contextId: "", status: state, artifacts: [], history: [], metadata: null }] },
      { tasks: null, totalSize: "1" },
    ];
    const card = (url: string) =>
      createTestCard({ supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }] });
    let at = 0;
    const agent = await serve((response, { method, body }) => {
      response.setHeader("content-type", "application/json");
      if (method === "GET") return response.end(JSON.stringify(card(agent.url)));
      const { id } = JSON.parse(body);
      const result = { nextPageToken: at === 0 ? "p/2 ä" : "", pageSize: 1, ...pages[at++] };
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
    const client = await createClient(agent.url);

    const found = await all(await client.listTasks({ pageSize: 1 }));
    await client.close();

    expect(found.map(({ id, state: seen }) => [id, seen])).toEqual([["t1", "TASK_STATE_COMPLETED"]]);
    const posts = agent.seen.filter(({ method }: SeenRequest) => method === "POST");
    expect(posts.map(({ body }) => JSON.parse(body))).toMatchObject([
      { method: "ListTasks", params: { pageSize: 1 } },
      { method: "ListTasks", params: { pageSize: 1, pageToken: "p/2 ä" } },
    ]);
  });
});
