import { createScriptedAgent, createTestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { discoverCard, readCardAt } from "../../src/card/discover.ts";
import { CardAuthError, CardNotFoundError, CardUnreachableError } from "../../src/errors/card.ts";
import { TimeoutError } from "../../src/errors/transport.ts";
import { baseCard, rejectionOf } from "./cards.ts";
import { type Answer, createReader, createWeb, json, silence, status } from "./reader.ts";

const { signal } = new AbortController();
const current = "/.well-known/agent-card.json";
const legacy = "/.well-known/agent.json";
const card = json(baseCard());

function discover(source: string, answers: Readonly<Record<string, Answer | readonly Answer[]>>) {
  const web = createWeb(answers);
  const found = discoverCard(source, { read: createReader(web), maxDepth: 64, signal });
  return { found, tried: () => web.asked.map(({ url }) => url) };
}

describe("a card is found", () => {
  test.each([
    ["https://agents.example", [`https://agents.example${current}`]],
    ["https://agents.example/", [`https://agents.example${current}`]],
    ["https://agents.example/foo", [`https://agents.example/foo${current}`]],
    ["https://agents.example/foo/bar//", [`https://agents.example/foo/bar${current}`]],
    [
      "https://h.example/cards/agent-card.json?assistant=9",
      ["https://h.example/cards/agent-card.json?assistant=9"],
    ],
    ["https://h.example/?assistant=9", ["https://h.example/?assistant=9"]],
    [
      "https://h.example/not-well-known/agent-card.json",
      ["https://h.example/not-well-known/agent-card.json"],
    ],
    [`https://h.example/x${current}`, [`https://h.example/x${current}`]],
  ])("from %s at %s (A1, A5)", async (source, urls) => {
    const { found, tried } = discover(source, { [urls.at(-1) ?? ""]: card });
    expect(await found).toMatchObject({ url: urls.at(-1), snapshot: { card: baseCard(), deviations: [] } });
    expect(tried()).toEqual(urls);
  });

  test("below a base URL though the platform's catch-all answers at the root (A1)", async () => {
    const { found, tried } = discover("https://agents.example/foo", {
      [`https://agents.example/foo${current}`]: card,
      [`https://agents.example${current}`]: status(405),
    });
    expect((await found).snapshot.card).toEqual(baseCard());
    expect(tried()).toHaveLength(1);
  });

  test("at the origin though the URL is that of the endpoint (A2)", async () => {
    const { found, tried } = discover("https://h.example/a2a", { [`https://h.example${current}`]: card });
    expect((await found).url).toBe(`https://h.example${current}`);
    expect(tried()).toEqual([`https://h.example/a2a${current}`, `https://h.example${current}`]);
  });

  test.each([
    ["https://h.example", [`https://h.example${current}`, `https://h.example${legacy}`]],
    [
      "https://h.example/a",
      [
        `https://h.example/a${current}`,
        `https://h.example${current}`,
        `https://h.example/a${legacy}`,
        `https://h.example${legacy}`,
      ],
    ],
  ])("by the older name, from %s, and says so", async (source, urls) => {
    const { found, tried } = discover(source, { [`https://h.example${legacy}`]: card });
    expect((await found).snapshot.deviations).toEqual([
      {
        kind: "legacy-card-path",
        message: "found the card at /.well-known/agent.json, wanted /.well-known/agent-card.json (8.2)",
      },
    ]);
    expect(tried()).toEqual(urls);
  });

  test("at a path of the vendor's own (A17)", async () => {
    const { found } = discover("https://h.example/v1/card", { "https://h.example/v1/card": card });
    expect(await found).toMatchObject({ url: "https://h.example/v1/card", snapshot: { deviations: [] } });
  });

  test("at exactly one URL where the caller says that it is there", async () => {
    const web = createWeb({ "https://h.example/v1/card": json(baseCard(), { age: "3", etag: '"v1"' }) });
    const found = await readCardAt("https://h.example/v1/card", {
      read: createReader(web),
      maxDepth: 64,
      signal,
    });
    expect(found).toMatchObject({
      url: "https://h.example/v1/card",
      validators: { etag: '"v1"' },
      ageSeconds: 3,
    });
    expect(web.asked).toHaveLength(1);
  });

  test("at a scripted agent", async () => {
    const agent = createScriptedAgent({ clock: createTestClock(), cardPath: "/cards/a?b=1" });
    const found = await discoverCard("https://agent.example/cards/a?b=1", {
      read: createReader({ fetch: agent.fetch }),
      maxDepth: 64,
      signal,
    });
    expect(found.snapshot.card).toEqual(agent.card);
  });
});

describe("no card is found", () => {
  test("when every place says that there is nothing, and all are listed with what they said", async () => {
    const { found } = discover("https://h.example/a2a", {
      [`https://h.example/a2a${current}`]: status(404),
      [`https://h.example${current}`]: status(410),
      [`https://h.example/a2a${legacy}`]: status(405),
      "https://h.example/a2a": new Response("<html>", { headers: { "content-type": "text/html" } }),
    });
    const error = await rejectionOf(found);
    expect(error).toBeInstanceOf(CardNotFoundError);
    expect((error as CardNotFoundError).attempts).toEqual([
      { url: `https://h.example/a2a${current}`, status: 404 },
      { url: `https://h.example${current}`, status: 410 },
      { url: `https://h.example/a2a${legacy}`, status: 405 },
      { url: `https://h.example${legacy}`, status: 404 },
      { url: "https://h.example/a2a", status: 200 },
    ]);
  });

  test.each([400, 406, 415, 422])("when the URL is an endpoint that answers a GET with %s", async (code) => {
    const { found } = discover("https://h.example/rpc", { "https://h.example/rpc": status(code) });
    const { attempts } = (await rejectionOf(found)) as CardNotFoundError;
    expect(attempts.at(-1)).toEqual({ url: "https://h.example/rpc", status: code });
  });

  test("and a card's own URL is the only one that is tried", async () => {
    const { found, tried } = discover("https://h.example/cards/a.json", {
      [`https://h.example${current}`]: card,
    });
    expect(await rejectionOf(found)).toMatchObject({
      name: "CardNotFoundError",
      attempts: [{ url: "https://h.example/cards/a.json", status: 404 }],
    });
    expect(tried()).toHaveLength(1);
  });
});

describe("the search ends", () => {
  test.each([401, 403])("at the first %s, which is never taken for nothing (A3)", async (code) => {
    const { found, tried } = discover("https://h.example/a", {
      [`https://h.example${current}`]: status(code, { "www-authenticate": "Bearer" }),
      [`https://h.example${legacy}`]: card,
    });
    const error = await rejectionOf(found);
    expect(error).toBeInstanceOf(CardAuthError);
    expect(error).toMatchObject({
      url: `https://h.example${current}`,
      status: code,
      challenge: "Bearer",
      attempts: [
        { url: `https://h.example/a${current}`, status: 404 },
        { url: `https://h.example${current}`, status: code },
      ],
    });
    expect(tried()).toHaveLength(2);
  });

  test.each([
    [429, { "retry-after": "7" }, 7_000],
    [503, { "retry-after": "30" }, 30_000],
    [500, {}, undefined],
    [400, {}, undefined],
  ])("at the first %s, since the card may be there", async (code, headers, retryAfterMs) => {
    const { found, tried } = discover("https://h.example/a", {
      [`https://h.example${current}`]: status(code, headers),
      [`https://h.example${legacy}`]: card,
    });
    const error = (await rejectionOf(found)) as CardUnreachableError;
    expect(error).toBeInstanceOf(CardUnreachableError);
    expect([error.status, error.retryAfterMs, error.attempts]).toEqual([
      code,
      retryAfterMs,
      [
        { url: `https://h.example/a${current}`, status: 404 },
        { url: `https://h.example${current}`, status: code },
      ],
    ]);
    expect(tried()).toHaveLength(2);
  });

  test.each([
    ["no card", json({}), "CardInvalidError"],
    ["a 0.3 card", json({ name: "T", url: "u", protocolVersion: "0.3.0" }), "ProtocolVersionError"],
    ["a page", new Response("<html>", { headers: { "content-type": "text/html" } }), "CardUnreadableError"],
    ["a redirect to elsewhere", status(302, { location: "https://evil.example" }), "RedirectRefusedError"],
  ])("at a place that answers with %s", async (_what, answer, name) => {
    const { found, tried } = discover("https://h.example", {
      [`https://h.example${current}`]: answer,
      [`https://h.example${legacy}`]: card,
    });
    expect([await rejectionOf(found), tried().length]).toEqual([expect.objectContaining({ name }), 1]);
  });

  test("at a place that does not answer in time", async () => {
    const clock = createTestClock();
    const web = createWeb({ [`https://h.example${current}`]: silence });
    const found = rejectionOf(
      discoverCard("https://h.example", { read: createReader(web, { clock }), maxDepth: 64, signal }),
    );
    await clock.advance(10_000);
    const error = (await found) as CardUnreachableError;
    expect(error).toBeInstanceOf(CardUnreachableError);
    expect(error.cause).toBeInstanceOf(TimeoutError);
    expect(error.attempts).toEqual([{ url: `https://h.example${current}` }]);
    expect(clock.pendingCount).toBe(0);
  });

  test("at a place that can't be reached", async () => {
    const { found } = discover("https://h.example", {
      [`https://h.example${current}`]: new TypeError("fetch failed"),
    });
    expect(await rejectionOf(found)).toMatchObject({
      name: "CardUnreachableError",
      cause: { name: "ConnectionError" },
      attempts: [{ url: `https://h.example${current}` }],
    });
  });

  test("with the caller's reason, unchanged", async () => {
    const controller = new AbortController();
    const web = createWeb({ [`https://h.example${current}`]: silence });
    const found = rejectionOf(
      discoverCard("https://h.example", { read: createReader(web), maxDepth: 64, signal: controller.signal }),
    );
    controller.abort("left");
    expect(await found).toBe("left");
  });
});
