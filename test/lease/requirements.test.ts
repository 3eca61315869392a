import { describe, expect, test } from "vitest";
import { shapeCard } from "../../src/card/parse.ts";
import { joinRequirements, matchesMode, unmetRequirements } from "../../src/lease/requirements.ts";
import type { CardRequirements } from "../../src/model/requirements.ts";
import type { JsonObject } from "../../src/model/schema.ts";
import { baseCard, skill } from "../card/cards.ts";

const unmet = (card: JsonObject, requirements: CardRequirements, declared?: readonly string[]) =>
  unmetRequirements(shapeCard(baseCard(card), "").card, requirements, declared).map((item) => [
    item.requirement,
    item.wanted,
    item.offered,
  ]);
const two = {
  skills: [
    skill("read", { inputModes: ["image/*"], outputModes: ["text/plain; charset=utf-8"] }),
    skill("write", { inputModes: [] }),
  ],
};

describe("a requirement is unmet", () => {
  test.each<[string, JsonObject, CardRequirements, readonly unknown[][]]>([
    [
      "for a skill that is not there",
      two,
      { skills: ["write", "sing"] },
      [["skills", "sing", ["read", "write"]]],
    ],
    ["for a skill where there are none", {}, { skills: ["sing"] }, [["skills", "sing", []]]],
    [
      "for streaming",
      { capabilities: { streaming: false } },
      { streaming: true },
      [["streaming", true, false]],
    ],
    ["for push notifications", {}, { pushNotifications: true }, [["pushNotifications", true, false]]],
    [
      "for a mode that the defaults lack",
      {},
      { inputModes: ["image/png"] },
      [["inputModes", "image/png", ["text/plain"]]],
    ],
    [
      "for a mode that a required skill lacks, though the defaults have it",
      two,
      { skills: ["read"], inputModes: ["text/plain"] },
      [["inputModes", "text/plain", ["image/*"]]],
    ],
    [
      "for a mode that one of two required skills lacks",
      two,
      { skills: ["read", "write"], inputModes: ["image/png"] },
      [["inputModes", "image/png", ["text/plain"]]],
    ],
    [
      "for an output mode",
      {},
      { outputModes: ["audio/wav"] },
      [["outputModes", "audio/wav", ["text/plain"]]],
    ],
    [
      "for an extension",
      { capabilities: { extensions: [{ uri: "urn:a" }] } },
      { extensions: ["urn:b"] },
      [["extensions", "urn:b", ["urn:a"]]],
    ],
    [
      "for a security scheme",
      { securitySchemes: { a: { mtlsSecurityScheme: {} } } },
      { securitySchemes: ["b", "constructor"] },
      [
        ["securitySchemes", "b", ["a"]],
        ["securitySchemes", "constructor", ["a"]],
      ],
    ],
    [
      "for what the agent demands and the caller does not declare (I5)",
      { capabilities: { extensions: [{ uri: "urn:ex:sign", required: true }, { uri: "urn:o" }] } },
      {},
      [["requiredExtension", "urn:ex:sign", []]],
    ],
    [
      "for each one that is",
      { capabilities: {} },
      { skills: ["s"], streaming: true, pushNotifications: true },
      [
        ["skills", "s", []],
        ["streaming", true, false],
        ["pushNotifications", true, false],
      ],
    ],
  ])("%s", (_what, card, requirements, expected) => {
    expect(unmet(card, requirements)).toEqual(expected);
  });
});

describe("a requirement is met", () => {
  test.each<[string, JsonObject, CardRequirements]>([
    [
      "that asks for nothing",
      { capabilities: {} },
      { streaming: false, pushNotifications: false, skills: [], inputModes: [] },
    ],
    [
      "by a skill, by streaming, by a scheme",
      { ...two, securitySchemes: { a: { mtlsSecurityScheme: {} } } },
      { skills: ["read"], streaming: true, securitySchemes: ["a"] },
    ],
    [
      "by a skill's own modes",
      two,
      { skills: ["read"], inputModes: ["image/png"], outputModes: ["text/plain"] },
    ],
    [
      "by the default modes of a skill that names none",
      two,
      { skills: ["write"], inputModes: ["text/plain"] },
    ],
    ["by modes that the card leaves open", { defaultInputModes: [] }, { inputModes: ["image/png"] }],
    ["by an extension", { capabilities: { extensions: [{ uri: "urn:a" }] } }, { extensions: ["urn:a"] }],
  ])("%s", (_what, card, requirements) => {
    expect(unmet(card, requirements)).toEqual([]);
  });

  test("by declaring what the agent demands, on the call or on the client", () => {
    const card = { capabilities: { extensions: [{ uri: "urn:a", required: true }] } };
    expect([
      unmet(card, { extensions: ["urn:a"] }),
      unmet(card, {}, ["urn:a"]),
      unmet(card, {}, ["urn:b"]),
    ]).toEqual([[], [], [["requiredExtension", "urn:a", ["urn:b"]]]]);
  });
});

test.each([
  ["text/plain", "text/plain", true],
  ["text/plain", "TEXT/Plain; charset=utf-8", true],
  ["text/plain; charset=utf-8", "text/plain", true],
  ["text/plain", "text/html", false],
  ["text/plain", "image/plain", false],
  ["text/*", "text/html", true],
  ["text/*", "image/png", false],
  ["*/*", "image/png", true],
  ["*", "image/png", true],
  ["text", "text/html", true],
  ["text", "image/png", false],
  ["text/html", "text", true],
  ["text/html", "text/*", true],
  ["image/png", "text/*", false],
  ["image/png", "*/*", true],
  ["", "text/plain", false],
  ["application/json", "application/json+x", false],
])("the mode %j covers %j: %s", (range, mode, covers) => {
  expect(matchesMode(range, mode)).toBe(covers);
});

test("two sets of requirements together are what either needs, once, and frozen", () => {
  const joined = joinRequirements(
    { skills: ["a", "b"], streaming: true, inputModes: [] },
    { skills: ["b", "c"], streaming: false, outputModes: ["text/plain"], pushNotifications: true },
  );
  expect(joined).toEqual({
    skills: ["a", "b", "c"],
    streaming: true,
    pushNotifications: true,
    outputModes: ["text/plain"],
  });
  expect([Object.isFrozen(joined), Object.isFrozen(joined.skills), joinRequirements({}, {})]).toEqual([
    true,
    true,
    {},
  ]);
});
