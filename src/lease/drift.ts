import type { CardChange, CardDrift, DriftReason } from "../model/drift.ts";
import type { UnmetRequirement } from "../model/requirements.ts";
import type { JsonObject } from "../model/schema.ts";
import { redactJson } from "../util/redact.ts";

/** What a reason is found from. */
export interface DriftFindings {
  readonly changes: readonly CardChange[];
  readonly breaks: readonly UnmetRequirement[];
  /** What became of the pinned interface. */
  readonly moved: "moved" | "version" | undefined;
  readonly withdrawn: boolean;
  readonly rolledBack: boolean;
}

/** The reasons in order of precedence, each with what makes it apply. */
const reasons: readonly (readonly [DriftReason, (found: DriftFindings) => boolean])[] = Object.freeze([
  ["signer-changed", (found) => hasChange(found, "signer-changed")],
  ["signature-removed", (found) => hasChange(found, "signature-removed")],
  ["rolled-back", (found) => found.rolledBack],
  ["interface-moved", (found) => found.moved === "moved"],
  ["security-changed", (found) => hasChange(found, "security-changed")],
  ["protocol-version-changed", (found) => found.moved === "version"],
  ["skill-withdrawn", (found) => breaks(found, "skills")],
  ["streaming-disabled", (found) => breaks(found, "streaming")],
  ["push-disabled", (found) => breaks(found, "pushNotifications")],
  ["mode-withdrawn", (found) => breaks(found, "inputModes") || breaks(found, "outputModes")],
  ["extension-required", (found) => breaks(found, "requiredExtension")],
  ["card-withdrawn", (found) => found.withdrawn],
]);

/** Why a difference ends a lease: the first reason that applies, else that the content changed. */
export function driftReason(found: DriftFindings): DriftReason {
  return reasons.find(([, applies]) => applies(found))?.[0] ?? "content-changed";
}

/** Makes the frozen difference. Its JSON leaves the two cards out: something that a planner or a model can read. */
export function createDrift(facts: Omit<CardDrift, "toJSON">): CardDrift {
  const drift = {
    ...facts,
    changes: Object.freeze([...facts.changes]),
    breaks: Object.freeze([...facts.breaks]),
    phase: Object.freeze(facts.phase),
  };
  Object.defineProperty(drift, "toJSON", { value: () => driftJson(facts) });
  return Object.freeze(drift) as CardDrift;
}

/** Most changes in a difference's JSON; a reader is told how many more there are. */
const maxListed = 50;

function driftJson(facts: Omit<CardDrift, "toJSON">): JsonObject {
  const { pinned, live } = facts;
  const listed = facts.changes.slice(0, maxListed).map((item) => ({
    ...item,
    before: shown(item.before),
    after: shown(item.after),
  }));
  return {
    reason: facts.reason,
    pinned: { digest: pinned.digest, structuralDigest: pinned.structuralDigest, version: pinned.version },
    live: live && { digest: live.digest, structuralDigest: live.structuralDigest, version: live.version },
    changes: listed,
    ...(facts.changes.length > maxListed ? { moreChanges: facts.changes.length - maxListed } : {}),
    breaks: redactJson(facts.breaks, { maxText: 300, maxTotal: 4096 }),
    flapping: facts.flapping,
    at: facts.at,
    phase: facts.phase,
  };
}

/** A value before or after, short: the planner wants to know what moved, not to read the card again. */
function shown(value: unknown): unknown {
  return redactJson(value, { maxText: 300, maxTotal: 600 });
}

function hasChange(found: DriftFindings, kind: CardChange["kind"]): boolean {
  return found.changes.some((item) => item.kind === kind);
}

function breaks(found: DriftFindings, requirement: UnmetRequirement["requirement"]): boolean {
  return found.breaks.some((item) => item.requirement === requirement);
}
