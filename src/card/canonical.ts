import type { JsonObject } from "../model/schema.ts";
import type { CardSignatureProfile } from "../model/signature.ts";
import { isRecord, own } from "../util/freeze.ts";
import { canonicalJson } from "../util/json.ts";
import { asciiJson } from "./ascii-json.ts";
import { type MemberType, type MessageName, messageMembers } from "./presence.ts";

/** A card as one form or several write it before it is signed. */
export interface CanonicalText {
  /** The forms that write it so, in their order. */
  readonly profiles: readonly CardSignatureProfile[];
  /** The text. */
  readonly text: string;
}

/** Every profile, the spec's first. */
const allProfiles: readonly CardSignatureProfile[] = ["spec", "a2a-js", "a2a-python", "as-received"];

/**
 * The forms of one card, by the profiles that are asked for, the spec's first and each text once; all of them by default.
 * Each is written when it is first wanted, and once.
 */
export function canonicalWriter(
  json: JsonObject,
): (profiles?: readonly CardSignatureProfile[]) => readonly CanonicalText[] {
  const { signatures: _excluded, ...content } = json;
  const known = once(() => withoutEmpty(pickMessage("AgentCard", content)) ?? {});
  const knownText = once(() => canonicalJson(known()));
  const forms: readonly (readonly [CardSignatureProfile, () => string])[] = [
    ["spec", once(() => canonicalCard(json))],
    ["a2a-js", knownText],
    ["a2a-python", knownText],
    ["a2a-python", once(() => asciiJson(known()))],
    ["as-received", once(() => canonicalJson(content))],
  ];
  return (wanted = allProfiles) => {
    const byText = new Map<string, Set<CardSignatureProfile>>();
    for (const [profile, write] of forms) {
      if (!wanted.includes(profile)) continue;
      const text = write();
      byText.set(text, (byText.get(text) ?? new Set()).add(profile));
    }
    return [...byText].map(([text, profiles]) => ({ text, profiles: [...profiles] }));
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/**
 * The form of a card that the spec signs (8.4.1): RFC 8785 over what was received, without `signatures`. REQUIRED
 * members are written always, those marked `optional` where they are set, all others where they differ from their
 * default; `null` is what is not set (5.7). Members that the spec does not have stay as they are: leaving them out would
 * let anybody add to a signed card.
 */
export function canonicalCard(json: JsonObject): string {
  const { signatures: _excluded, ...content } = json;
  return canonicalJson(presentMessage("AgentCard", content));
}

/** A message with the members that 8.4.1 wants, and those that the spec does not have. */
function presentMessage(message: MessageName, value: unknown): unknown {
  if (!isRecord(value)) return value;
  const members = messageMembers[message];
  const written = Object.entries(value).flatMap(([name, member]) => {
    const facts = own(members, name);
    if (!facts) return [[name, member] as const];
    if (member === null) return [];
    const present = mapMessages(facts.type, member, presentMessage);
    return facts.presence === "implicit" && isDefault(present) ? [] : [[name, present] as const];
  });
  const missing = Object.entries(members)
    .filter(([name, { presence }]) => presence === "required" && (value[name] ?? null) === null)
    .map(([name, { type }]) => [name, defaultOf(type)] as const);
  return Object.fromEntries([...written, ...missing]);
}

/** A message with the members that the spec has and that differ from their default, as the SDKs read it. */
function pickMessage(message: MessageName, value: unknown): unknown {
  if (!isRecord(value)) return value;
  const members = messageMembers[message];
  const picked = Object.entries(value).flatMap(([name, member]) => {
    const facts = own(members, name);
    if (!facts || member === null) return [];
    const present = mapMessages(facts.type, member, pickMessage);
    return facts.presence === "implicit" && isDefault(present) ? [] : [[name, present] as const];
  });
  return Object.fromEntries(picked);
}

/** Applies `map` to the messages that a member holds. */
function mapMessages(
  type: MemberType,
  value: unknown,
  map: (message: MessageName, value: unknown) => unknown,
): unknown {
  if (type.kind === "message") return map(type.message, value);
  if (type.kind === "messages" && Array.isArray(value)) return value.map((item) => map(type.message, item));
  if (type.kind === "message-map" && isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, map(type.message, item)]));
  }
  return value;
}

function isDefault(value: unknown): boolean {
  if (value === false || value === "") return true;
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
}

function defaultOf({ kind }: MemberType): unknown {
  switch (kind) {
    case "text":
      return "";
    case "flag":
      return false;
    case "texts":
    case "messages":
      return [];
    default:
      return {};
  }
}

/** A value without empty texts, lists and objects, and without what becomes empty by that; `undefined` for nothing. */
function withoutEmpty(value: unknown): unknown {
  if (value === null || value === "") return undefined;
  if (Array.isArray(value)) {
    const kept = value.map(withoutEmpty).filter((item) => item !== undefined);
    return kept.length > 0 ? kept : undefined;
  }
  if (!isRecord(value)) return value;
  const kept = Object.entries(value)
    .map(([name, member]) => [name, withoutEmpty(member)] as const)
    .filter(([, member]) => member !== undefined);
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

/** First position where two texts part; `undefined` where they are the same. */
export function firstDifference(a: string, b: string): number | undefined {
  if (a === b) return undefined;
  const shorter = Math.min(a.length, b.length);
  for (let at = 0; at < shorter; at++) if (a.charCodeAt(at) !== b.charCodeAt(at)) return at;
  return shorter;
}
