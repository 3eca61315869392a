import { createScriptedAgent, createTestClock, type TestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { discoverCard } from "../../src/card/discover.ts";
import { snapshotCard } from "../../src/card/snapshot.ts";
import { type CardSource, createCardSource, createStaticCardSource } from "../../src/card/source.ts";
import { baseCard, endpoint, rejectionOf } from "./cards.ts";
import { type Answer, createReader, createWeb, json, silence, status } from "./reader.ts";

const url = "https://agent.example/card.json";
const snapshotOf = (card: object) =>
  snapshotCard(new TextEncoder().encode(JSON.stringify(card)), { url, maxDepth: 64 });
const other = baseCard({ capabilities: { streaming: false } });

/** A source whose first card was read with a tag, and whose next reads are answered as told. */
function createSource(answers: readonly Answer[], options: { clock?: TestClock; validators?: object } = {}) {
  const clock = options.clock ?? createTestClock();
  const web = createWeb({ [url]: answers });
  const source = createCardSource({
    ...{ url, clock, maxDepth: 64, fullCheckEveryMs: 60_000 },
    read: createReader(web, { clock }),
    initial: {
      snapshot: snapshotOf(baseCard()),
      validators: options.validators ?? { etag: '"v1"' },
      freshForMs: 0,
    },
  });
  return { source, clock, web };
}

/** Which kind of read each request was. */
const kindsOf = (web: ReturnType<typeof createWeb>) =>
  web.asked.map(({ headers }) => {
    if (headers["if-none-match"] !== undefined) return "if-none-match";
    return headers["if-modified-since"] === undefined ? "full" : "if-modified-since";
  });
const seen = (reading: Awaited<ReturnType<CardSource["check"]>>) =>
  reading.kind === "card"
    ? [reading.via, reading.snapshot.card.capabilities.streaming]
    : [reading.kind, reading.kind === "withdrawn" ? reading.status : undefined];

describe("an ordinary check", () => {
  test("asks whether the card changed, and 304 renews it (B1)", async () => {
    const { source, web, clock } = createSource([status(304, { etag: '"v1"', age: "9" })]);
    await clock.advance(5_000);
    const before = source.current;
    const reading = await source.check("ordinary");
    expect(reading).toMatchObject({
      kind: "card",
      via: "not-modified",
      ageSeconds: 9,
      at: { monotonicMs: 5_000 },
    });
    expect([source.current === before, source.checkedAt?.monotonicMs, kindsOf(web)]).toEqual([
      true,
      5_000,
      ["if-none-match"],
    ]);
  });

  test("reads in full where there is no validator, and compares (B2)", async () => {
    const { source, web } = createSource([json(baseCard()), json(other)], { validators: {} });
    expect([seen(await source.check("ordinary")), seen(await source.check("ordinary"))]).toEqual([
      ["full", true],
      ["full", false],
    ]);
    expect(kindsOf(web)).toEqual(["full", "full"]);
  });

  test("goes on with the validator of the last full read", async () => {
    const { source, web } = createSource([json(other, { "last-modified": "now" }), status(304)]);
    await source.check("ordinary");
    expect(seen(await source.check("ordinary"))).toEqual(["not-modified", false]);
    expect([kindsOf(web), web.asked[1]?.headers["if-modified-since"]]).toEqual([
      ["if-none-match", "if-modified-since"],
      "now",
    ]);
  });

  test.each([
    ["no validator", { etag: '"v1"' }, {}],
    ["the stored tag", { etag: '"v1"' }, { etag: '"v1"' }],
    ["the stored tag, called weak", { etag: '"v1"' }, { etag: 'W/"v1"' }],
    [
      "the stored tag beside another date",
      { etag: '"v1"', lastModified: "then" },
      { etag: '"v1"', "last-modified": "now" },
    ],
    ["the stored date", { lastModified: "then" }, { "last-modified": "then" }],
  ])("is renewed by a 304 with %s", async (_what, validators, headers) => {
    const { source, web } = createSource([status(304, headers)], { validators });
    expect([seen(await source.check("ordinary")), web.asked.length]).toEqual([["not-modified", true], 1]);
  });

  test.each([
    ["another tag", { etag: '"v1"' }, { etag: '"v2"' }],
    ["a tag where none is stored", { lastModified: "then" }, { etag: '"v2"' }],
    ["another date", { lastModified: "then" }, { "last-modified": "now" }],
    ["another date and no tag", { etag: '"v1"', lastModified: "then" }, { "last-modified": "now" }],
  ])("reads in full after a 304 with %s", async (_what, validators, headers) => {
    const { source, web } = createSource([status(304, headers), json(other)], { validators });
    expect([seen(await source.check("ordinary")), web.asked.length, kindsOf(web)[1]]).toEqual([
      ["full", false],
      2,
      "full",
    ]);
  });

  test("finds a lying 304 out once the full check is due", async () => {
    const { source, clock, web } = createSource([
      status(304),
      status(304),
      json(other, { etag: '"v2"' }),
      status(304),
    ]);
    await source.check("ordinary");
    await clock.advance(59_999);
    expect(seen(await source.check("ordinary"))).toEqual(["not-modified", true]);
    await clock.advance(1);
    expect(seen(await source.check("ordinary"))).toEqual(["full", false]);
    await clock.advance(59_999);
    await source.check("ordinary");
    expect(kindsOf(web)).toEqual(["if-none-match", "if-none-match", "full", "if-none-match"]);
  });

  test("counts the wall clock too towards the full check, as after a sleep of the machine", async () => {
    const { source, clock, web } = createSource([json(baseCard())]);
    clock.setWall(clock.now() + 60_000);
    await source.check("ordinary");
    expect(kindsOf(web)).toEqual(["full"]);
  });
});

describe("a forced check", () => {
  test("is a full read past every cache", async () => {
    const { source, web } = createSource([json(other)]);
    expect(seen(await source.check("forced"))).toEqual(["full", false]);
    expect(web.asked).toEqual([
      {
        url,
        headers: { accept: "application/json", "a2a-version": "1.0", "cache-control": "no-cache" },
        cache: "no-store",
      },
    ]);
  });

  test("finds a lying 304 out at once", async () => {
    const clock = createTestClock();
    const agent = createScriptedAgent({ clock, liesWith304: true });
    const read = createReader({ fetch: agent.fetch }, { clock });
    const { signal } = new AbortController();
    const initial = await discoverCard(agent.url, { read, maxDepth: 64, signal });
    const source = createCardSource({
      url: initial.url,
      read,
      clock,
      maxDepth: 64,
      fullCheckEveryMs: 60_000,
      initial,
    });
    agent.rotateCard((card) => ({ ...card, capabilities: { streaming: false } }));
    expect(seen(await source.check("ordinary"))).toEqual(["not-modified", true]);
    expect(seen(await source.check("forced"))).toEqual(["full", false]);
    expect(agent.cardReads().map(({ fullRead }) => fullRead)).toEqual([true, false, true]);
  });
});

describe("a card that is gone", () => {
  test.each([404, 410])("is withdrawn when %s is confirmed by one more read", async (code) => {
    const { source, web } = createSource([status(code)]);
    const before = source.current;
    expect(seen(await source.check("ordinary"))).toEqual(["withdrawn", code]);
    expect([kindsOf(web), source.current]).toEqual([["if-none-match", "full"], before]);
  });

  test("for a moment is not withdrawn", async () => {
    const { source, web } = createSource([status(404), json(baseCard())]);
    expect([seen(await source.check("ordinary")), web.asked.length]).toEqual([["full", true], 2]);
  });

  test("is not what 405 says", async () => {
    const { source } = createSource([status(405)]);
    expect(await rejectionOf(source.check("ordinary"))).toMatchObject({
      name: "CardUnreachableError",
      status: 405,
    });
  });
});

describe("a live card that is refused", () => {
  const internal = baseCard({ supportedInterfaces: [endpoint({ url: "http://internal.example:8080/rpc" })] });
  test.each<[string, Answer, string]>([
    ["an empty object (A9)", json({}), "CardInvalidError"],
    ["a wrong type (A9)", json(baseCard({ capabilities: { streaming: "yes" } })), "CardInvalidError"],
    ["an interface that nobody can call (B4)", json(internal), "CardInvalidError"],
    [
      "a card of an older protocol",
      json({ name: "T", url: "u", protocolVersion: "0.3.0" }),
      "ProtocolVersionError",
    ],
    ["a page", new Response("<html>", { headers: { "content-type": "text/html" } }), "CardUnreadableError"],
    ["cut JSON", json('{"name":'), "CardUnreadableError"],
    ["too much", json(" ".repeat(1024 * 1024 + 1)), "CardUnreadableError"],
    ["a server error", status(503), "CardUnreachableError"],
    ["a refusal", status(401), "CardAuthError"],
    ["a redirect to elsewhere", status(302, { location: "https://evil.example/" }), "RedirectRefusedError"],
    ["a broken connection", new TypeError("fetch failed"), "ConnectionError"],
  ])("as %s never becomes the current one, however often it is asked for", async (_what, answer, name) => {
    const { source, clock } = createSource([answer]);
    const { current, checkedAt } = source;
    await clock.advance(1_000);
    const errors = [await rejectionOf(source.check("ordinary")), await rejectionOf(source.check("forced"))];
    expect(errors).toEqual([expect.objectContaining({ name }), expect.objectContaining({ name })]);
    expect([source.current, source.checkedAt]).toEqual([current, checkedAt]);
  });

  test("does not change the validators either", async () => {
    const { source, web } = createSource([json({}, { etag: '"v2"' }), status(304)]);
    await rejectionOf(source.check("ordinary"));
    await source.check("ordinary");
    expect(web.asked.map(({ headers }) => headers["if-none-match"])).toEqual(['"v1"', '"v1"']);
  });
});

describe("many checks", () => {
  test("a thousand in one tick cost one GET", async () => {
    const { source, web } = createSource([status(304)]);
    const readings = await Promise.all(Array.from({ length: 1_000 }, () => source.check("ordinary")));
    expect([new Set(readings).size, web.asked.length]).toEqual([1, 1]);
  });

  test("a thousand surprises in one tick cost one GET, beside the one in flight", async () => {
    const { source, web } = createSource([status(304), json(other)]);
    const ordinary = source.check("ordinary");
    const forced = await Promise.all(Array.from({ length: 1_000 }, () => source.check("forced")));
    expect([seen(await ordinary), new Set(forced).size, kindsOf(web)]).toEqual([
      ["not-modified", true],
      1,
      ["if-none-match", "full"],
    ]);
  });

  test("that are given up leave no timer and no request open", async () => {
    const { source, clock } = createSource([silence]);
    const controller = new AbortController();
    const checks = (["ordinary", "forced"] as const).map((kind) =>
      rejectionOf(source.check(kind, controller.signal)),
    );
    await clock.advance(1_000);
    controller.abort("left");
    expect(await Promise.all(checks)).toEqual(["left", "left"]);
    await clock.advance(0);
    expect(clock.pendingCount).toBe(0);
  });
});

test("a card that was handed in and is never checked is always itself", async () => {
  const clock = createTestClock();
  const snapshot = snapshotOf(baseCard());
  const source = createStaticCardSource(snapshot, clock);
  expect([await source.check("ordinary"), await source.check("forced")]).toEqual(
    Array(2).fill({ kind: "card", snapshot, via: "static", at: { wallMs: clock.now(), monotonicMs: 0 } }),
  );
  expect(source.url).toBe(undefined);
});
