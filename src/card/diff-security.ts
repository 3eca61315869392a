import type { AgentCard } from "../model/card.ts";
import type { CardChange } from "../model/drift.ts";
import { own } from "../util/freeze.ts";
import { change, isSameJson } from "./change.ts";
import { requirementsStructure, schemeStructure } from "./structure.ts";

/** Security schemes and requirements that changed. */
export function diffSecurity(before: AgentCard, after: AgentCard): CardChange[] {
  const a = before.securitySchemes ?? {};
  const b = after.securitySchemes ?? {};
  const changes: CardChange[] = [];
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const values = { before: own(a, name), after: own(b, name) };
    const same =
      values.before &&
      values.after &&
      isSameJson(schemeStructure(values.before), schemeStructure(values.after));
    if (!same) changes.push(change(["securitySchemes", name], "security-changed", "security", values));
    else if (!isSameJson(values.before, values.after)) {
      changes.push(change(["securitySchemes", name], "text-changed", "cosmetic", values));
    }
  }
  const was = requirementsStructure(before.securityRequirements);
  const is = requirementsStructure(after.securityRequirements);
  if (!isSameJson(was, is)) {
    changes.push(
      change(["securityRequirements"], "security-changed", "security", {
        before: before.securityRequirements,
        after: after.securityRequirements,
      }),
    );
  }
  return changes;
}

/** Signatures that went. A new signature over the same key is how a card is reissued, and no change by itself. */
export function diffSignatures(before: AgentCard, after: AgentCard): CardChange[] {
  const was = before.signatures ?? [];
  const is = after.signatures ?? [];
  if (was.length === 0 || is.length > 0) return [];
  return [change(["signatures"], "signature-removed", "security", { before: was })];
}
