import type { AgentInterface } from "../../../src/model/card.ts";
import type { CardChangeImpact, CardChangeKind, DriftReason } from "../../../src/model/drift.ts";
import type { CardJson } from "./cards.ts";
import type { Case } from "./row.ts";

/** What applies to a row, by the row's own data and two cards: none of it comes from the code under test. */
const facts: Record<DriftReason, (item: Case) => boolean> = {
  "signer-changed": (item) => hasKind(item, "signer-changed"),
  "signature-removed": (item) => hasKind(item, "signature-removed"),
  "rolled-back": ({ row, live }) => row.rolledBack === true && live !== undefined,
  "interface-moved": (item) => interfaceFate(item) === "moved",
  "security-changed": (item) => hasKind(item, "security-changed"),
  "protocol-version-changed": (item) => interfaceFate(item) === "other version",
  "skill-withdrawn": (item) => hasBreak(item, "skills"),
  "streaming-disabled": (item) => hasBreak(item, "streaming"),
  "push-disabled": (item) => hasBreak(item, "pushNotifications"),
  "mode-withdrawn": (item) => hasBreak(item, "inputModes") || hasBreak(item, "outputModes"),
  "extension-required": (item) => hasBreak(item, "requiredExtension"),
  "card-withdrawn": ({ live }) => live === undefined,
  "content-changed": () => true,
};

/** All reasons, as the type has them. */
export const allReasons = Object.keys(facts) as DriftReason[];

/** Reasons that apply to a row that drifts, whichever of them is named. */
export function applyingReasons(item: Case): DriftReason[] {
  return item.row.result === "same" ? [] : allReasons.filter((reason) => facts[reason](item));
}

/** What a change of some kind, or a flag, makes a hasty reader think of. */
const lures: Partial<Record<DriftReason, (item: Case) => boolean>> = {
  "rolled-back": ({ row }) => row.rolledBack === true || hasKind({ row }, "version-changed"),
  "interface-moved": (item) => hasKind(item, "interface-moved") || hasKind(item, "interface-removed"),
  "protocol-version-changed": (item) => hasKind(item, "version-changed"),
  "skill-withdrawn": (item) => hasKind(item, "skill-removed"),
  "streaming-disabled": ({ row }) => isChanged(row, "/capabilities/streaming"),
  "push-disabled": ({ row }) => isChanged(row, "/capabilities/pushNotifications"),
  "mode-withdrawn": (item) => hasKind(item, "mode-removed") || hasKind(item, "skill-changed"),
  "extension-required": (item) => hasKind(item, "extension-required"),
  "signature-removed": ({ row, live }) => row.keys !== undefined && live?.signatures === undefined,
};

/** Reasons that one could take for the one that is named and that do not apply. */
export function temptingReasons(item: Case): DriftReason[] {
  if (item.row.result === "same") return [];
  return allReasons.filter((reason) => lures[reason]?.(item) && !facts[reason](item));
}

const kinds: Record<CardChangeKind, true> = {
  "skill-added": true,
  "skill-removed": true,
  "skill-changed": true,
  "capability-lost": true,
  "capability-gained": true,
  "mode-added": true,
  "mode-removed": true,
  "security-changed": true,
  "interface-moved": true,
  "interface-removed": true,
  "version-changed": true,
  "signer-changed": true,
  "signature-removed": true,
  "extension-required": true,
  "text-changed": true,
  "unknown-changed": true,
};

const impacts: Record<CardChangeImpact, true> = {
  security: true,
  breaking: true,
  additive: true,
  cosmetic: true,
};

/** All kinds of a change, as the type has them. */
export const allKinds = Object.keys(kinds);

/** All impacts of a change, as the type has them. */
export const allImpacts = Object.keys(impacts);

function hasKind({ row }: Pick<Case, "row">, kind: CardChangeKind): boolean {
  return (row.changes ?? []).some((item) => item.startsWith(`${kind} `));
}

function isChanged({ changes = [] }: Case["row"], pointer: string): boolean {
  return changes.some((item) => item.endsWith(` ${pointer}`));
}

function hasBreak({ row }: Case, requirement: string): boolean {
  return (row.breaks ?? []).some((item) => item.startsWith(`${requirement}:`));
}

function interfaceFate({ row, pinned, live }: Case): "same" | "moved" | "other version" {
  if (!live) return "same";
  const bindings = row.bindings ?? ["JSONRPC"];
  const was = calledInterface(pinned, bindings);
  const is = calledInterface(live, bindings);
  if (was && is) return isSameAddress(was, is) ? "same" : "moved";
  const isThere = live.supportedInterfaces.some(
    (entry) => was && isSameAddress(was, entry) && !isOurVersion(entry),
  );
  return isThere ? "other version" : "moved";
}

function calledInterface(card: CardJson, bindings: readonly string[]): AgentInterface | undefined {
  return card.supportedInterfaces.find(
    (entry) =>
      bindings.includes(entry.protocolBinding) && isOurVersion(entry) && entry.url.startsWith("https:"),
  );
}

function isOurVersion({ protocolVersion }: AgentInterface): boolean {
  return protocolVersion === "1.0" || protocolVersion.startsWith("1.0.");
}

function isSameAddress(a: AgentInterface, b: AgentInterface): boolean {
  return a.url === b.url && a.protocolBinding === b.protocolBinding && (a.tenant ?? "") === (b.tenant ?? "");
}
