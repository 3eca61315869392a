import { describe, expect, test } from "vitest";
import { cardDigest, cardStructureDigest } from "../../src/card/digest.ts";
import { pinCard } from "../../src/lease/pin.ts";
import { baseCard, endpoint, skill, thrownBy } from "../card/cards.ts";

const atMs = Date.UTC(2026, 0, 1);
const card = baseCard({
  version: "1.2.3",
  capabilities: {
    streaming: true,
    pushNotifications: false,
    extensions: [{ uri: "urn:a" }, { uri: "urn:b" }],
  },
  supportedInterfaces: [
    endpoint({ protocolBinding: "GRPC", url: "h:1" }),
    endpoint({ protocolVersion: "1.0.4", tenant: "t" }),
  ],
  skills: [skill("b"), skill("a")],
  securitySchemes: {
    z: { mtlsSecurityScheme: {} },
    a: { httpAuthSecurityScheme: { scheme: "Bearer" } },
    m: { x: 1 },
  },
});

describe("a pin", () => {
  test("holds both digests and what a plan depends on", () => {
    expect(pinCard(card, { pinnedAtMs: atMs })).toEqual({
      digest: cardDigest(card),
      structuralDigest: cardStructureDigest(card),
      version: "1.2.3",
      protocolVersion: "1.0",
      interface: endpoint({ protocolVersion: "1.0.4", tenant: "t" }),
      skills: ["b", "a"],
      capabilities: {
        streaming: true,
        pushNotifications: false,
        extendedAgentCard: false,
        extensions: ["urn:a", "urn:b"],
      },
      inputModes: ["text/plain"],
      outputModes: ["text/plain"],
      securitySchemes: [
        { name: "a", kind: "http" },
        { name: "m", kind: "unknown" },
        { name: "z", kind: "mutualTLS" },
      ],
      pinnedAt: "2026-01-01T00:00:00.000Z",
      card,
    });
  });

  test("is frozen, and the card that it was taken of is not", () => {
    const given = baseCard({ "x-list": [1] });
    const pin = pinCard(given);
    expect([pin, pin.card, pin.card["x-list"], pin.capabilities, pin.interface].map(Object.isFrozen)).toEqual(
      Array(5).fill(true),
    );
    expect([given, given["x-list"], given.skills].map(Object.isFrozen)).toEqual([false, false, false]);
    Object.assign(given, { name: "changed" });
    expect(pin.card.name).toBe("T");
  });

  test("is the same of an object, of text and of bytes, and survives JSON", () => {
    const text = JSON.stringify(card);
    const pins = [card, text, new TextEncoder().encode(text)].map((input) =>
      pinCard(input, { pinnedAtMs: atMs }),
    );
    expect([pins[1], pins[2], JSON.parse(JSON.stringify(pins[0]))]).toEqual(Array(3).fill(pins[0]));
  });

  test("is taken of the interface whose binding is asked for", () => {
    const pin = pinCard(card, { bindings: ["GRPC"] });
    expect(pin.interface.url).toBe("h:1");
  });

  test.each([
    ["no card at all", "<html>", {}, "CardUnreadableError"],
    ["a broken one", {}, {}, "CardInvalidError"],
    ["an older one", { url: "u", protocolVersion: "0.3.0" }, {}, "ProtocolVersionError"],
    ["one without a binding that is there", card, { bindings: ["X"] }, "NoSupportedInterfaceError"],
    [
      "one whose interface is a downgrade",
      baseCard({ supportedInterfaces: [endpoint({ url: "http://h/" })] }),
      { cardUrl: "https://h/" },
      "CardInvalidError",
    ],
  ])("is not taken of %s", (_what, input, options, name) => {
    expect(thrownBy(() => pinCard(input, options))).toMatchObject({ name });
  });

  test("is not taken at what is no time", () => {
    expect(thrownBy(() => pinCard(card, { pinnedAtMs: Number.NaN }))).toBeInstanceOf(TypeError);
  });
});
