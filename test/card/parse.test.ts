import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { parseCard } from "../../src/card/parse.ts";
import { snapshotCard } from "../../src/card/snapshot.ts";
import { CardUnreadableError } from "../../src/errors/card.ts";
import { baseCard, endpoint, thrownBy } from "./cards.ts";

const url = "https://agent.example/.well-known/agent-card.json";
const bytesOf = (text: string) => new TextEncoder().encode(text);
const digestOf = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const parse = (text: string) => parseCard(bytesOf(text), { url, maxDepth: 64 });
const snapshot = (text: string, mediaType?: string) =>
  snapshotCard(bytesOf(text), { url, maxDepth: 64, ...(mediaType === undefined ? {} : { mediaType }) });
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

describe("bytes are unreadable as a card", () => {
  test.each([
    ["an HTML page", "<html>login</html>", "html", "found an HTML page, wanted JSON"],
    ["a page with a doctype", " \n<!DOCTYPE html><p>", "html", "found an HTML page, wanted JSON"],
    ["nothing", "", "not-json", 'found ""…, wanted JSON'],
    [
      "truncated JSON",
      '{"name":"T","desc',
      "not-json",
      `found ${JSON.stringify('{"name":"T","desc')}…, wanted JSON`,
    ],
    ["JSON with more behind it", "{} {}", "not-json", 'found "{} {}"…, wanted JSON'],
    ["65 levels", nested(65), "too-deep", "found more than 64 levels"],
    ["65 levels without an end", "[".repeat(100_000), "too-deep", "found more than 64 levels"],
  ])("that are %s", (_what, text, reason, found) => {
    const error = thrownBy(() => parse(text));
    expect(error).toBeInstanceOf(CardUnreadableError);
    expect(error).toMatchObject({
      message: `the agent card at ${url} is unreadable (${reason}): ${found}`,
      url,
      reason,
      digest: digestOf(text),
    });
  });
});

test("64 levels are read", () => {
  expect(parse(nested(64))).toEqual(JSON.parse(nested(64)));
});

test("what was parsed is frozen", () => {
  const json = parse('{"a":[{"b":1}]}') as { a: object[] };
  expect([json, json.a, json.a[0]].map(Object.isFrozen)).toEqual([true, true, true]);
});

describe("a snapshot", () => {
  const text = JSON.stringify(baseCard());

  test("has the digests, the typed view and the JSON of a card, and is frozen", () => {
    const made = snapshot(text, "application/json");
    expect(made).toEqual({
      url,
      json: baseCard(),
      card: baseCard(),
      digest: expect.stringMatching(/^sha256:[\da-f]{64}$/),
      structuralDigest: expect.stringMatching(/^sha256-s1:[\da-f]{64}$/),
      bytesDigest: digestOf(text),
      deviations: [],
    });
    expect(Object.isFrozen(made)).toBe(true);
  });

  test("is the one before when the bytes are the same", () => {
    const previous = snapshot(text);
    const options = { url, maxDepth: 64, previous };
    expect(snapshotCard(bytesOf(text), options)).toBe(previous);
    expect(snapshotCard(bytesOf(`${text} `), options)).not.toBe(previous);
  });

  test.each(["application/json", "application/a2a+json", undefined])(
    "of %s has nothing to say of that",
    (type) => {
      expect(snapshot(text, type).deviations).toEqual([]);
    },
  );

  test.each([
    ["text/html", "text/html"],
    ["text/plain", "text/plain"],
    ["", "no media type"],
  ])("of a card served as %j is a card all the same, and says so", (type, found) => {
    expect(snapshot(text, type).deviations).toEqual([
      { kind: "card-media-type", message: `found the card as ${found}, wanted application/json` },
    ]);
  });

  test("of HTML that does not look like it is no card (A9)", () => {
    expect(thrownBy(() => snapshot("Please log in", "text/html"))).toMatchObject({
      name: "CardUnreadableError",
      reason: "html",
      digest: digestOf("Please log in"),
    });
  });

  test.each([
    ["a relative URL (A6)", "/a2a/agent", 'found "/a2a/agent", wanted an absolute URL'],
    [
      "plain http on a card that came by https (B4)",
      "http://internal.example:8080/rpc",
      "found http://internal.example:8080/rpc, wanted https as the card itself came by https",
    ],
  ])("is not made of a card whose only interface has %s", (_what, interfaceUrl, message) => {
    const card = JSON.stringify(baseCard({ supportedInterfaces: [endpoint({ url: interfaceUrl })] }));
    expect(thrownBy(() => snapshot(card))).toMatchObject({
      name: "CardInvalidError",
      url,
      issues: [{ path: "$.supportedInterfaces[0].url", message }],
      digest: digestOf(card),
    });
  });

  test("is made of a card that has one usable interface, bad ones or not", () => {
    const supportedInterfaces = [
      endpoint({ url: "/a" }),
      endpoint({ url: "agent.example:443", protocolBinding: "GRPC" }),
    ];
    expect(snapshot(JSON.stringify(baseCard({ supportedInterfaces }))).card.supportedInterfaces).toHaveLength(
      2,
    );
  });
});

test("what says how to authenticate as A2A 0.3 does is a deviation, and no scheme of 1.0", () => {
  const card = {
    ...baseCard(),
    securitySchemes: { key: { type: "apiKey", in: "header", name: "x-key" } },
    security: [{ key: [] }],
  };
  const { deviations } = snapshot(JSON.stringify(card));
  expect(deviations).toEqual([
    {
      kind: "legacy-security",
      path: "$.securitySchemes.key",
      message: "found the form of A2A 0.3, wanted a member such as apiKeySecurityScheme (4.5.1); not read",
    },
    {
      kind: "legacy-security",
      path: "$.security",
      message: "found the form of A2A 0.3, wanted securityRequirements (4.4.1); not read",
    },
  ]);
});
