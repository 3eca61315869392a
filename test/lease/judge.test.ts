import { describe, expect, test } from "vitest";
import { cardDigest, cardStructureDigest } from "../../src/card/digest.ts";
import { type JudgeOptions, judgeCard } from "../../src/lease/judge.ts";
import { pinCard } from "../../src/lease/pin.ts";
import type { CardDrift, DriftReason } from "../../src/model/drift.ts";
import type { CardPin } from "../../src/model/pin.ts";
import type { CardRequirements } from "../../src/model/requirements.ts";
import type { JsonObject } from "../../src/model/schema.ts";
import { baseCard, endpoint, skill, thrownBy } from "../card/cards.ts";

const atMs = Date.UTC(2026, 0, 1);
const signature = { protected: "p", signature: "s" };
const plan: CardRequirements = {
  skills: ["summarize"],
  streaming: true,
  pushNotifications: true,
  inputModes: ["text/plain"],
  outputModes: ["text/plain"],
};
const pinned = baseCard({
  capabilities: { streaming: true, pushNotifications: true },
  skills: [skill("summarize"), skill("translate")],
  securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
  signatures: [signature],
});
const pin = pinCard(pinned, { pinnedAtMs: atMs });

/** Changes to the live card, each with the reason that it is by itself. */
const moved = { supportedInterfaces: [endpoint({ url: "https://agent.example/other" })] };
const preferred = { supportedInterfaces: [endpoint({ url: "https://agent.example/new" }), endpoint()] };
const secured = { securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: "Basic" } } } };
const versioned = { supportedInterfaces: [endpoint({ protocolVersion: "1.1" })] };
const unskilled = { skills: [skill("translate")] };
const silent = { capabilities: { streaming: false, pushNotifications: true } };
const pushless = { capabilities: { streaming: true } };
const modeless = { defaultInputModes: ["image/png"] };
const outputless = { defaultOutputModes: ["image/png"] };
const demanding = {
  capabilities: { streaming: true, pushNotifications: true, extensions: [{ uri: "urn:x", required: true }] },
};
const unsigned = { signatures: undefined };

const live = (...members: readonly JsonObject[]) => baseCard(Object.assign({}, pinned, ...members));
const judge = (card: JsonObject | undefined, options: JudgeOptions = {}, from: CardPin = pin): CardDrift => {
  const verdict = judgeCard(from, card, plan, { atMs, ...options });
  if (verdict.outcome !== "drift") throw new TypeError("outcome: found same, wanted drift");
  return verdict.drift;
};

describe("the reason of a drift is the first that applies", () => {
  const signed: CardPin = { ...pin, signer: "key-1" };
  test.each<[DriftReason, string, JsonObject | undefined, JudgeOptions, CardPin?]>([
    ["signer-changed", "at an equal digest", live(), { signers: ["key-2"] }, signed],
    [
      "signer-changed",
      "before a rollback and a move",
      live(moved, secured),
      { signers: ["key-2"], rolledBack: true },
      signed,
    ],
    ["signature-removed", "at an equal digest", live(unsigned), {}, signed],
    [
      "signature-removed",
      "before a rollback and a move",
      live(unsigned, moved),
      { rolledBack: true },
      signed,
    ],
    [
      "signature-removed",
      "also where no signer was pinned",
      live(unsigned, { description: "u" }),
      { rolledBack: true },
    ],
    ["rolled-back", "before a move", live(moved, secured, unskilled), { rolledBack: true }],
    ["interface-moved", "since the pinned one is gone, before security", live(moved, secured), {}],
    ["interface-moved", "since another one would be chosen now (B8)", live(preferred), {}],
    [
      "interface-moved",
      "though a version changed too",
      live({
        supportedInterfaces: [
          endpoint({ protocolVersion: "1.1" }),
          endpoint({ url: "https://agent.example/b" }),
        ],
      }),
      {},
    ],
    [
      "interface-moved",
      "since its URL can't be called any more",
      live({ supportedInterfaces: [endpoint({ url: "http://agent.example/rpc" })] }),
      { cardUrl: "https://agent.example/card" },
    ],
    ["security-changed", "before the version", live(secured, versioned), {}],
    [
      "security-changed",
      "of a skill, before that a skill is gone",
      live({ skills: [skill("translate", { securityRequirements: [{ bearer: [] }] })] }),
      {},
    ],
    ["protocol-version-changed", "before that a skill is gone (B13)", live(versioned, unskilled), {}],
    ["skill-withdrawn", "before streaming", live(unskilled, silent), {}],
    ["streaming-disabled", "before push and modes", live({ capabilities: {} }, modeless), {}],
    ["push-disabled", "before modes", live(pushless, modeless), {}],
    ["mode-withdrawn", "of the input, before an extension", live(demanding, modeless), {}],
    ["mode-withdrawn", "of the output", live(outputless), {}],
    ["extension-required", "before any other content", live(demanding, { description: "u" }), {}],
    [
      "card-withdrawn",
      "of a card that is gone, whatever else was known",
      undefined,
      { rolledBack: true },
      signed,
    ],
    ["content-changed", "of a text", live({ description: "u" }), {}],
    ["content-changed", "of what the plan does not need", live({ skills: [skill("summarize")] }), {}],
    ["content-changed", "of an extension that is declared", live(demanding), { extensions: ["urn:x"] }],
    ["content-changed", "of an unknown member", live({ "x-future": 1 }), {}],
    [
      "content-changed",
      "of an interface behind the pinned one",
      live({ supportedInterfaces: [endpoint(), endpoint({ url: "https://b.example" })] }),
      {},
    ],
  ])("%s %s", (reason, _what, card, options, from) => {
    expect(judge(card, options, from).reason).toBe(reason);
  });
});

describe("a drift", () => {
  test("says what was pinned, what is live, what changed, what broke, when and where it was seen", () => {
    const card = live(silent);
    const drift = judge(card, { phase: { operation: "SendMessage", check: "forced" }, flapping: true });
    expect({ ...drift }).toEqual({
      pinned: pin,
      live: { digest: cardDigest(card), structuralDigest: cardStructureDigest(card), version: "1", card },
      reason: "streaming-disabled",
      changes: [
        {
          pointer: "/capabilities/streaming",
          kind: "capability-lost",
          impact: "breaking",
          before: true,
          after: false,
        },
      ],
      breaks: [{ requirement: "streaming", wanted: true, offered: false }],
      flapping: true,
      at: "2026-01-01T00:00:00.000Z",
      phase: { operation: "SendMessage", check: "forced" },
    });
  });

  test("of a card that is gone has nothing live and nothing to compare", () => {
    expect({ ...judge(undefined) }).toEqual({
      pinned: pin,
      live: undefined,
      reason: "card-withdrawn",
      changes: [],
      breaks: [],
      flapping: false,
      at: "2026-01-01T00:00:00.000Z",
      phase: { operation: "revalidate", check: "before" },
    });
  });

  test("names what became of the signer once", () => {
    const drift = judge(live(unsigned, { description: "u" }), {}, { ...pin, signer: "key-1" });
    expect(drift.changes.map(({ pointer, kind, before, after }) => [pointer, kind, before, after])).toEqual([
      ["/signatures", "signature-removed", "key-1", undefined],
      ["/description", "text-changed", "t", "u"],
    ]);
  });

  test("does not change with the object that it was made of", () => {
    const card = live(silent) as { description: string };
    const drift = judge(card as unknown as JsonObject);
    card.description = "changed later";
    expect(drift.live?.card.description).toBe("t");
  });
});

describe("a card is the same", () => {
  test("with the pinned content, whatever its signatures", () => {
    const cards = [
      live(),
      JSON.stringify(live(), null, 2),
      live({ signatures: [{ ...signature, signature: "t" }] }),
      live(unsigned),
    ];
    expect(cards.map((card) => judgeCard(pin, card, plan))).toEqual(
      Array(4).fill({ outcome: "same", changes: [] }),
    );
  });

  test("signed by the pinned key, by that alone or among others", () => {
    const signed = { ...pin, signer: "key-1" };
    expect(judgeCard(signed, live(), plan, { signers: ["key-2", "key-1"] })).toEqual({
      outcome: "same",
      changes: [],
    });
  });

  test("with the pinned structure, where that decides, and what does not count is told (B10)", () => {
    const card = live({ description: "Index of 1548 items", "x-a": 1 });
    expect(judgeCard(pin, card, plan, { compare: "structure" })).toEqual({
      outcome: "same",
      changes: [
        {
          pointer: "/description",
          kind: "text-changed",
          impact: "cosmetic",
          before: "t",
          after: "Index of 1548 items",
        },
        { pointer: "/x-a", kind: "unknown-changed", impact: "cosmetic", before: undefined, after: 1 },
      ],
    });
    expect(judgeCard(pin, live(silent), plan, { compare: "structure" }).outcome).toBe("drift");
    expect(judgeCard(pin, card, plan, { compare: "content" }).outcome).toBe("drift");
  });
});

describe("a judgement", () => {
  test("goes by the binding of the pin where no other is named", () => {
    const card = baseCard({
      supportedInterfaces: [
        endpoint(),
        endpoint({ protocolBinding: "HTTP+JSON", url: "https://agent.example/h" }),
      ],
    });
    const other = pinCard(card, { bindings: ["HTTP+JSON"] });
    const changed = { ...card, description: "u" };
    expect(judgeCard(other, changed)).toMatchObject({ drift: { reason: "content-changed" } });
  });

  test("is the same again for the same cards, and leaves them as they were", () => {
    const card = live(moved, secured);
    const before = JSON.stringify(card);
    expect(judge(card)).toEqual(judge(card));
    expect([JSON.stringify(card), Object.isFrozen(card)]).toEqual([before, false]);
  });

  test("takes a pin that went through JSON, as one from a ledger does", () => {
    expect({ ...judge(live(silent), {}, JSON.parse(JSON.stringify(pin))) }).toEqual({
      ...judge(live(silent)),
    });
  });

  test.each([
    [{}, "CardInvalidError"],
    ["<html>", "CardUnreadableError"],
    [{ url: "u", protocolVersion: "0.3.0" }, "ProtocolVersionError"],
  ])("is refused for a live card that is none: %j", (card, name) => {
    expect(thrownBy(() => judgeCard(pin, card))).toMatchObject({ name });
  });
});
