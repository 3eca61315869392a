import { expect, test } from "vitest";
import { answer, createScriptedAgent, createTestCard, createTestClock } from "../../src/testing.ts";
import { post, rpc, text } from "./rpc.ts";

const path = "/.well-known/agent-card.json";
const newAgent = (options: Parameters<typeof createScriptedAgent>[0] = {}) =>
  createScriptedAgent({ clock: createTestClock({ startMs: 1_767_225_600_000 }), ...options });
type Agent = ReturnType<typeof newAgent>;
const read = (agent: Agent, headers: Record<string, string> = {}, at = path) =>
  agent.fetch(agent.url + at, { headers, cache: "no-cache" });
const withDescription = (description: string) => (card: object) => ({ ...card, description });

test("the default card is served at the well-known path and nowhere else", async () => {
  const agent = newAgent();
  const response = await read(agent);
  expect([response.status, response.headers.get("content-type"), await response.json()]).toEqual([
    200,
    "application/json",
    createTestCard(),
  ]);
  expect((await read(agent, {}, "/.well-known/agent.json")).status).toBe(404);
});

test("the card can be at other paths, query included", async () => {
  const agent = newAgent({ cardPath: ["/v1/card?assistant=9", "/foo/card"] });
  const statuses = ["/v1/card?assistant=9", "/foo/card", "/v1/card", "/foo/card/"].map(
    async (at) => (await read(agent, {}, at)).status,
  );
  expect(await Promise.all(statuses)).toEqual([200, 200, 404, 404]);
});

test("a strong ETag follows the content and answers 304 only while it holds", async () => {
  const agent = newAgent({ cacheControl: "max-age=0" });
  const etag = (await read(agent)).headers.get("etag") ?? "";
  const same = await read(agent, { "if-none-match": `"other", ${etag}` });
  agent.rotateCard(withDescription("other"));
  const changed = await read(agent, { "if-none-match": etag });
  expect([
    same.status,
    same.headers.get("etag"),
    same.headers.get("cache-control"),
    await same.text(),
  ]).toEqual([304, etag, "max-age=0", ""]);
  expect([changed.status, (await changed.json()).description]).toEqual([200, "other"]);
});

test("a weak ETag from the version stays when only the content changes", async () => {
  const agent = newAgent({ etag: "weak-version" });
  agent.rotateCard(withDescription("other"));
  const response = await read(agent, { "if-none-match": 'W/"1.0.0"' });
  expect([response.status, response.headers.get("etag")]).toEqual([304, 'W/"1.0.0"']);
});

test("without validators every read is answered in full", async () => {
  const agent = newAgent({ etag: "none" });
  const response = await read(agent, { "if-none-match": '"x"' });
  expect([response.status, response.headers.get("etag"), response.headers.get("last-modified")]).toEqual([
    200,
    null,
    null,
  ]);
});

test("Last-Modified is the moment of the last rotation", async () => {
  const clock = createTestClock({ startMs: 1_767_225_600_000 });
  const agent = newAgent({ clock, etag: "none", lastModified: true });
  await clock.advance(40_500);
  agent.rotateCard(withDescription("other"));
  const lastModified = (await read(agent)).headers.get("last-modified") ?? "";
  const same = await read(agent, { "if-modified-since": lastModified });
  const older = await read(agent, { "if-modified-since": "Thu, 01 Jan 2026 00:00:39 GMT" });
  expect([lastModified, same.status, older.status]).toEqual(["Thu, 01 Jan 2026 00:00:40 GMT", 304, 200]);
});

test("an agent that lies says 304 to every conditional read, and the truth to a full one", async () => {
  const agent = newAgent({ liesWith304: true });
  const etag = (await read(agent)).headers.get("etag") ?? "";
  agent.rotateCard(withDescription("other"));
  const lie = await read(agent, { "if-none-match": etag });
  const truth = await agent.fetch(agent.url + path, { headers: { "cache-control": "no-cache" } });
  expect([lie.status, lie.headers.get("etag"), (await truth.json()).description]).toEqual([
    304,
    etag,
    "other",
  ]);
});

test("Cache-Control: no-cache is answered in full, also beside a validator, as Express does", async () => {
  const agent = newAgent();
  const etag = (await read(agent)).headers.get("etag") ?? "";
  const response = await read(agent, { "if-none-match": etag, "cache-control": "no-cache" });
  expect(response.status).toBe(200);
});

test("settings can be changed in the middle, and unknown ones are refused by name", async () => {
  const agent = newAgent();
  agent.configure({ ageSeconds: 7, cardHeaders: { vary: "A2A-Version" }, indent: 2 });
  const response = await read(agent);
  expect([response.headers.get("age"), response.headers.get("vary"), await response.text()]).toEqual([
    "7",
    "A2A-Version",
    JSON.stringify(createTestCard(), null, 2),
  ]);
  expect(() => agent.configure({ maxAge: 1 } as object)).toThrow("maxAge: is no option here");
});

test("card reads can ask for a token of their own", async () => {
  const agent = newAgent({ cardBearer: "secret" });
  const refused = await read(agent);
  const taken = await read(agent, { authorization: "Bearer secret" });
  const called = await post(agent, "SendMessage", text("a"));
  expect([refused.status, refused.headers.get("www-authenticate"), taken.status, called.status]).toEqual([
    401,
    'Bearer realm="agent"',
    200,
    200,
  ]);
});

test("a card is rotated before the request that was named, counted from the scripting", async () => {
  const agent = newAgent();
  await read(agent);
  agent.rotateCard(withDescription("second"), { before: "card", nth: 2 });
  agent.rotateCard(withDescription("third"), { before: "SendMessage" });
  const seen = async () => (await (await read(agent)).json()).description;
  const before = [await seen(), await seen()];
  await rpc(agent, "GetTask", { id: "x" });
  const between = await seen();
  await rpc(agent, "SendMessage", text("a"));
  expect([...before, between, await seen()]).toEqual([
    "Summarizes what it is given",
    "second",
    "second",
    "third",
  ]);
});

test("a card is rotated at a time without an open timer", async () => {
  const clock = createTestClock({ startMs: 1000 });
  const agent = newAgent({ clock });
  agent.rotateCard(withDescription("at"), { atMs: 41_000 });
  agent.rotateCard(withDescription("after"), { afterMs: 50_000 });
  const seen: unknown[] = [clock.pendingCount];
  for (const ms of [39_999, 1, 9999, 1]) {
    await clock.advance(ms);
    seen.push(agent.card.description);
  }
  expect(seen).toEqual([0, "Summarizes what it is given", "at", "at", "after"]);
});

test("of two rotations that came due unseen the later one wins, and names its own moment", async () => {
  const clock = createTestClock({ startMs: 0 });
  const agent = newAgent({ clock, lastModified: true });
  agent.rotateCard(withDescription("late"), { atMs: 50_000 });
  agent.rotateCard(withDescription("early"), { atMs: 40_000 });
  await clock.advance(60_000);
  const response = await read(agent);
  expect([(await response.json()).description, response.headers.get("last-modified")]).toEqual([
    "late",
    "Thu, 01 Jan 1970 00:00:50 GMT",
  ]);
});

test("card reads take scripts in order, and then the truth", async () => {
  const agent = newAgent();
  agent.once(
    "card",
    ...answer.repeat(2, answer.http(503, "", { "Retry-After": "30" })),
    answer.http(200, "<html>login</html>", { "content-type": "text/html" }),
  );
  const seen = [];
  for (let at = 0; at < 4; at++) {
    const response = await read(agent);
    seen.push([response.status, response.headers.get("retry-after"), response.headers.get("content-type")]);
  }
  expect(seen).toEqual([
    [503, "30", null],
    [503, "30", null],
    [200, null, "text/html"],
    [200, null, "application/json"],
  ]);
});

test("a handler decides by the request, serves other cards with validators, or leaves it to the agent", async () => {
  const agent = newAgent();
  const other = createTestCard({ version: "2.0.0" });
  agent.on("card", ({ nth, headers }) => {
    if (headers["a2a-version"] === undefined) return answer.json({ url: "old" });
    return nth % 2 === 0 ? answer.card(other) : undefined;
  });
  const headers = { "a2a-version": "1.0" };
  const versions = [];
  for (let at = 0; at < 3; at++) versions.push((await (await read(agent, headers)).json()).version);
  expect([versions, await (await read(agent)).json()]).toEqual([["1.0.0", "2.0.0", "1.0.0"], { url: "old" }]);
});

test("a script also answers where there is no card", async () => {
  const agent = newAgent();
  agent.on("card", ({ path: at }) => (at === "/moved" ? answer.redirect(agent.url + path) : undefined));
  const followed = await agent.fetch(`${agent.url}/moved`);
  const manual = await agent.fetch(`${agent.url}/moved`, { redirect: "manual" });
  expect([followed.status, followed.redirected, followed.url]).toEqual([200, true, agent.url + path]);
  expect([manual.status, manual.headers.get("location")]).toEqual([302, agent.url + path]);
});
