import { expect, test } from "vitest";
import { answer, createScriptedAgent, createTestClock } from "../../src/testing.ts";
import { post, rpc, text } from "./rpc.ts";

const path = "/.well-known/agent-card.json";

test("every request is noted in order, with its time and what came of it", async () => {
  const clock = createTestClock({ startMs: 1000 });
  const agent = createScriptedAgent({ clock });
  await agent.fetch(agent.url + path, { headers: { "X-Mine": "1" } });
  await clock.advance(500);
  await rpc(agent, "GetTask", { id: "x" });
  const [read, call] = agent.transcript;
  expect(read).toEqual({
    step: 1,
    at: 1000,
    kind: "card",
    method: "GET",
    url: agent.url + path,
    path,
    headers: { "x-mine": "1" },
    fullRead: true,
    forced: false,
    status: 200,
    outcome: "answered",
  });
  expect(call).toMatchObject({
    step: 2,
    at: 1500,
    kind: "call",
    operation: "GetTask",
    params: { id: "x" },
    status: 200,
  });
});

test("card reads say whether they were full, and whether they were forced", async () => {
  const agent = createScriptedAgent();
  const read = (headers: Record<string, string>) =>
    agent.fetch(agent.url + path, { headers, cache: "no-cache" });
  await read({});
  await read({ "if-none-match": '"x"' });
  await read({ "cache-control": "no-cache" });
  expect(agent.cardReads().map(({ fullRead, forced }) => [fullRead, forced])).toEqual([
    [true, false],
    [false, false],
    [true, true],
  ]);
});

test("calls can be picked by operation, and a message that was taken twice is there twice", async () => {
  const agent = createScriptedAgent();
  agent.once("SendMessage", answer.error(-32602, "no"), answer.result({ task: {} }));
  for (let at = 0; at < 3; at++) await post(agent, "SendMessage", text("a"));
  await rpc(agent, "GetTask", { id: "x" });
  expect([agent.calls().length, agent.calls("SendMessage").length, agent.acceptedMessageIds]).toEqual([
    4,
    3,
    ["m1", "m1"],
  ]);
});

test("clearing forgets the entries and keeps the count of steps", async () => {
  const agent = createScriptedAgent();
  await post(agent, "SendMessage", text("a"));
  agent.clearTranscript();
  await post(agent, "SendMessage", text("a", { messageId: "m2" }));
  expect([agent.transcript.map(({ step }) => step), agent.acceptedMessageIds]).toEqual([[2], ["m2"]]);
});

test("a request for another origin is noted and reaches nobody", async () => {
  const agent = createScriptedAgent();
  await expect(agent.fetch("https://evil.example/rpc", { method: "POST", body: "{}" })).rejects.toMatchObject(
    {
      cause: { code: "ENOTFOUND" },
    },
  );
  expect(agent.transcript).toMatchObject([
    { kind: "foreign", url: "https://evil.example/rpc", outcome: "refused" },
  ]);
});

test("a followed redirect to another origin leaves the credentials behind, and a call becomes a GET", async () => {
  const agent = createScriptedAgent();
  agent.once("SendMessage", answer.redirect("https://evil.example/"));
  await expect(
    post(agent, "SendMessage", text("a"), { headers: { authorization: "Bearer x" } }),
  ).rejects.toThrow("fetch failed");
  expect(agent.transcript.map(({ kind, method, headers }) => [kind, method, headers.authorization])).toEqual([
    ["call", "POST", "Bearer x"],
    ["foreign", "GET", undefined],
  ]);
});

test("fetch adds its cache headers to a conditional read unless it is told not to", async () => {
  const agent = createScriptedAgent();
  const headers = { "if-none-match": '"x"' };
  await agent.fetch(agent.url + path, { headers });
  await agent.fetch(agent.url + path, { headers, cache: "no-cache" });
  expect(agent.cardReads().map((entry) => entry.headers["cache-control"])).toEqual(["no-cache", "max-age=0"]);
});
