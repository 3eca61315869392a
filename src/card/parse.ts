import {
  CardInvalidError,
  type CardIssue,
  CardUnreadableError,
  ProtocolVersionError,
} from "../errors/card.ts";
import { type AgentCard, agentCardSchema } from "../model/card.ts";
import { type Deviation, maxDeviations } from "../model/deviation.ts";
import { describeValue, readBySchema } from "../model/issues.ts";
import type { JsonObject } from "../model/schema.ts";
import { caseOf } from "../model/security.ts";
import { deepFreeze, isRecord } from "../util/freeze.ts";
import { sha256Hex } from "../util/hash.ts";
import { type IJsonProblem, inspectIJson } from "../util/i-json.ts";
import { canonicalJson, jsonPath } from "../util/json.ts";
import { copyJson } from "../util/json-copy.ts";
import { cut } from "../util/redact.ts";
import { strikeSecrets } from "../util/strike.ts";
import { protocolVersion } from "../wire/version.ts";

/** A card as a caller may hand it in: an object, JSON text, or bytes. */
export type CardInput = AgentCard | JsonObject | string | Uint8Array;

/** A card read from what was handed in; the typed view is made, and its shape judged, only when it is asked for. */
export interface ReadCardInput {
  /** The card's JSON. */
  readonly json: JsonObject;
  /** The typed view. */
  card(): AgentCard;
}

/** A card's JSON with its typed view, both frozen. */
export interface ShapedCard {
  /** The card's JSON as received. */
  readonly json: JsonObject;
  /** The typed view: nulls dropped, omitted lists empty. */
  readonly card: AgentCard;
  /** What breaks the spec but could be read. */
  readonly deviations: readonly Deviation[];
}

/** Where a card came from and how much of it is taken. */
export interface ParseOptions {
  /** URL of the card, for messages. */
  readonly url?: string | undefined;
  /** Deepest nesting. */
  readonly maxDepth: number;
  /** What no error may quote. @default nothing */
  readonly secrets?: readonly string[];
}

const defaultDepth = 64;

/** How much of a text is looked at for the beginning that an error quotes, so that no secret is cut in half. */
const quotedFrom = 8_192;

/** Reads a card that a caller handed in. */
export function cardFromInput(input: CardInput): ReadCardInput {
  const json = jsonFromInput(input);
  // An object has no bytes to name it by; its canonical form stands for them.
  const digest = () => refusedDigest(bytesOf(isBytesOrText(input) ? input : canonicalJson(json)));
  return { json, card: () => shapeCard(json, digest).card };
}

function jsonFromInput(input: CardInput): JsonObject {
  if (input instanceof Uint8Array) return parseCard(input, { maxDepth: defaultDepth });
  if (typeof input === "string") {
    return parseText(input, { maxDepth: defaultDepth }, () => refusedDigest(bytesOf(input)));
  }
  if (!isRecord(input)) throw new TypeError(`card: found ${describeValue(input)}, wanted an agent card`);
  const { value, tooDeep, problems } = copyJson(input, defaultDepth);
  if (tooDeep) throw new CardUnreadableError(undefined, "too-deep", tooDeepText(defaultDepth));
  if (problems.length > 0)
    throw new CardInvalidError(
      undefined,
      problems.map(describeProblem),
      refusedDigest(bytesOf(JSON.stringify(value))),
    );
  return value as JsonObject;
}

function isBytesOrText(input: CardInput): input is string | Uint8Array {
  return typeof input === "string" || input instanceof Uint8Array;
}

function bytesOf(input: string | Uint8Array): Uint8Array {
  return typeof input === "string" ? new TextEncoder().encode(input) : input;
}

function tooDeepText(maxDepth: number): string {
  return `found more than ${maxDepth} levels`;
}

/** `sha256:` and hex of bytes that were refused as a card. */
export function refusedDigest(bytes: Uint8Array): string {
  return `sha256:${sha256Hex(bytes)}`;
}

/**
 * Reads bytes as the JSON object of a card, under I-JSON (RFC 7493), which RFC 8785 builds on.
 *
 * @throws CardUnreadableError for HTML, for what is no JSON, and for too deep a nesting.
 * @throws CardInvalidError for duplicate names, lone surrogates, numbers that a double can't hold, `__proto__` members.
 */
export function parseCard(bytes: Uint8Array, options: ParseOptions): JsonObject {
  const text = decode(bytes);
  const digest = () => refusedDigest(bytes);
  if (text !== undefined) return parseText(text, options, digest);
  throw new CardUnreadableError(
    options.url,
    "not-json",
    "found bytes that are no UTF-8, wanted JSON",
    digest(),
  );
}

function parseText(given: string, options: ParseOptions, digest: () => string): JsonObject {
  const text = given.replace(/^\uFEFF/, "");
  const unreadable = (reason: "too-deep" | "not-json" | "html", found: string) =>
    new CardUnreadableError(options.url, reason, found, digest());
  if (/^\s*<(?:!doctype|html|head|body|\?xml|!--)/i.test(text)) {
    throw unreadable("html", "found an HTML page, wanted JSON");
  }
  const report = inspectIJson(text, options.maxDepth);
  if (report.tooDeep) throw unreadable("too-deep", tooDeepText(options.maxDepth));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const quoted = strikeSecrets(cut(text, quotedFrom), options.secrets ?? []).slice(0, 40);
    throw unreadable("not-json", `found ${JSON.stringify(quoted)}…, wanted JSON`);
  }
  if (report.problems.length > 0) {
    throw new CardInvalidError(options.url, report.problems.map(describeProblem), digest());
  }
  if (!isRecord(value)) {
    const issue = { path: "$", message: `found ${describeValue(value)}, wanted an agent card` };
    throw new CardInvalidError(options.url, [issue], digest());
  }
  return deepFreeze(value);
}

/**
 * Judges the shape of a card and gives its typed view.
 *
 * @throws ProtocolVersionError for the card of an older protocol: no interfaces, but a root `url` or `protocolVersion`.
 * @throws CardInvalidError with every issue otherwise.
 */
export function shapeCard(json: JsonObject, digest: string | (() => string), url?: string): ShapedCard {
  const { supportedInterfaces: interfaces } = json;
  const hasInterfaces = interfaces != null && !(Array.isArray(interfaces) && interfaces.length === 0);
  if (!hasInterfaces && (typeof json.url === "string" || typeof json.protocolVersion === "string")) {
    const offered = typeof json.protocolVersion === "string" ? [json.protocolVersion] : [];
    throw new ProtocolVersionError(offered, [protocolVersion]);
  }
  const reading = readBySchema(agentCardSchema, json);
  const issues: CardIssue[] = reading.ok ? [] : [...reading.issues];
  if (!hasInterfaces) {
    issues.push({ path: "$.supportedInterfaces", message: "found none, wanted at least one interface" });
  }
  if (!reading.ok || issues.length > 0) {
    throw new CardInvalidError(url, issues, typeof digest === "string" ? digest : digest());
  }
  return Object.freeze({ json, card: deepFreeze(reading.value), deviations: Object.freeze(omissions(json)) });
}

function omissions(json: JsonObject): Deviation[] {
  const lists = ["skills", "defaultInputModes", "defaultOutputModes"].filter((name) => json[name] == null);
  const skills = Array.isArray(json.skills) ? json.skills : [];
  const untagged = skills.flatMap((skill: JsonObject, index) => (skill.tags == null ? [index] : []));
  const schemes = isRecord(json.securitySchemes) ? Object.entries(json.securitySchemes) : [];
  const inner = schemes.filter(([, scheme]) => caseOf(scheme, "scheme"));
  const older = schemes.filter(([, scheme]) => isRecord(scheme) && typeof scheme.type === "string");
  return [
    ...older
      .slice(0, maxDeviations)
      .map(([name]) =>
        olderSecurity(jsonPath(["securitySchemes", name]), "a member such as apiKeySecurityScheme (4.5.1)"),
      ),
    ...(Array.isArray(json.security) ? [olderSecurity("$.security", "securityRequirements (4.4.1)")] : []),
    ...inner.slice(0, maxDeviations).map(([name]) => ({
      kind: "one-of-form",
      path: jsonPath(["securitySchemes", name, "scheme"]),
      message: "found a one-of as { $case, value }, wanted its member (4.5.1); read as that",
    })),
    ...lists.map((name) => missingList(`$.${name}`, name, "4.4.1")),
    ...untagged.slice(0, maxDeviations).map((at) => missingList(`$.skills[${at}].tags`, "tags", "4.4.5")),
  ];
}

/** What says how to authenticate in the words of A2A 0.3 says nothing here, and no credentials would go. */
function olderSecurity(path: string, wanted: string): Deviation {
  return {
    kind: "legacy-security",
    path,
    message: `found the form of A2A 0.3, wanted ${wanted}; not read`,
  };
}

function missingList(path: string, name: string, section: string): Deviation {
  const message = `found no ${name}, wanted a list (REQUIRED, ${section}); read as empty`;
  return { kind: "missing-list", path, message };
}

function describeProblem(problem: IJsonProblem): CardIssue {
  const path = jsonPath(problem.steps);
  switch (problem.kind) {
    case "duplicate-name":
      return { path, message: "found the name twice, wanted it once" };
    case "lone-surrogate":
      return { path, message: "found half of a surrogate pair, wanted Unicode text" };
    case "number-overflow":
      return { path, message: `found the number ${problem.found}, wanted one that a double can hold` };
    case "unsafe-integer":
      return {
        path,
        message: `found the integer ${problem.found}, wanted at most 9007199254740991 either way`,
      };
    case "proto-member":
      return { path, message: "found a member __proto__, wanted none" };
  }
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
