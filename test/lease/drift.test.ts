import { describe, expect, test } from "vitest";
import { judgeCard } from "../../src/lease/judge.ts";
import { pinCard } from "../../src/lease/pin.ts";
import type { CardDrift } from "../../src/model/drift.ts";
import type { JsonObject } from "../../src/model/schema.ts";
import { baseCard, skill } from "../card/cards.ts";

const atMs = Date.UTC(2026, 0, 1);
const pin = pinCard(baseCard({ skills: [skill("s")], "x-secret": { token: "s3cr3t" } }), {
  pinnedAtMs: atMs,
});

function driftTo(card: JsonObject | undefined, requires = {}): CardDrift {
  const verdict = judgeCard(pin, card, requires, { atMs });
  if (verdict.outcome !== "drift") throw new TypeError("outcome: found same, wanted drift");
  return verdict.drift;
}

describe("a drift as JSON", () => {
  test("has what a planner needs, and neither card", () => {
    const drift = driftTo(
      baseCard({ capabilities: {}, skills: [skill("s")], "x-secret": { token: "s3cr3t" } }),
      {
        streaming: true,
      },
    );
    expect(JSON.parse(JSON.stringify(drift))).toEqual({
      reason: "streaming-disabled",
      pinned: { digest: pin.digest, structuralDigest: pin.structuralDigest, version: "1" },
      live: { digest: drift.live?.digest, structuralDigest: drift.live?.structuralDigest, version: "1" },
      changes: [
        { pointer: "/capabilities/streaming", kind: "capability-lost", before: true, impact: "breaking" },
      ],
      breaks: [{ requirement: "streaming", wanted: true, offered: false }],
      flapping: false,
      at: "2026-01-01T00:00:00.000Z",
      phase: { operation: "revalidate", check: "before" },
    });
  });

  test("has nothing live when the card is gone", () => {
    expect(JSON.parse(JSON.stringify(driftTo(undefined)))).not.toHaveProperty("live");
  });

  test("has no secret", () => {
    const card = baseCard({
      "x-secret": { token: "s3cr3t-2", authorization: "Bearer s3cr3t-3" },
      description: "call me with Bearer s3cr3t-4 at https://u:s3cr3t@h.example/?api_key=s3cr3t",
    });
    const text = JSON.stringify(driftTo(card));
    expect(text).toContain("/x-secret");
    expect(text).not.toContain("s3cr3t");
  });

  test("is short, however much changed", () => {
    const skills = Array.from({ length: 1_000 }, (_, index) =>
      skill(`s${index}`, { description: "d".repeat(1_000) }),
    );
    const drift = driftTo(
      baseCard({ skills, "x-big": { list: Array.from({ length: 10_000 }, () => "x".repeat(50)) } }),
      {
        skills: Array.from({ length: 1_000 }, (_, index) => `wanted${index}`),
      },
    );
    const json = drift.toJSON();
    expect(json.changes).toHaveLength(50);
    expect(json.moreChanges).toBe(drift.changes.length - 50);
    expect(JSON.stringify(json).length).toBeLessThan(64 * 1024);
  });
});

test("a drift is frozen, and so are the lists in it", () => {
  const drift = driftTo(baseCard({ capabilities: {} }), { streaming: true });
  expect(
    [drift, drift.changes, drift.changes[0], drift.breaks, drift.phase, drift.live].map(Object.isFrozen),
  ).toEqual(Array(6).fill(true));
});
