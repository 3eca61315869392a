import type { AgentCard, AgentExtension } from "../model/card.ts";
import type { CardChange } from "../model/drift.ts";
import { change, diffUnknown, isSameJson } from "./change.ts";

const flags = ["streaming", "pushNotifications", "extendedAgentCard"] as const;

/** Capabilities and extensions that came, went or changed. */
export function diffCapabilities(before: AgentCard, after: AgentCard): CardChange[] {
  const a = before.capabilities;
  const b = after.capabilities;
  const changes: CardChange[] = [];
  for (const flag of flags) {
    if ((a[flag] ?? false) === (b[flag] ?? false)) continue;
    const steps = ["capabilities", flag];
    const values = { before: a[flag], after: b[flag] };
    changes.push(
      a[flag]
        ? change(steps, "capability-lost", "breaking", values)
        : change(steps, "capability-gained", "additive", values),
    );
  }
  changes.push(...diffExtensions(a.extensions ?? [], b.extensions ?? []));
  const values = { before: a, after: b };
  return [...changes, ...diffUnknown(["capabilities"], [...flags, "extensions"], values)];
}

function diffExtensions(before: readonly AgentExtension[], after: readonly AgentExtension[]): CardChange[] {
  const changes: CardChange[] = [];
  const olds = new Map(before.map((extension) => [extension.uri, extension]));
  const uris = new Set(after.map((extension) => extension.uri));
  before.forEach((old, index) => {
    if (uris.has(old.uri)) return;
    changes.push(
      change(["capabilities", "extensions", index], "capability-lost", "breaking", { before: old }),
    );
  });
  after.forEach((extension, index) => {
    const steps = ["capabilities", "extensions", index];
    const old = olds.get(extension.uri);
    const values = { before: old, after: extension };
    if (extension.required && !old?.required) {
      changes.push(change(steps, "extension-required", "breaking", values));
    } else if (!old || (old.required && !extension.required)) {
      changes.push(change(steps, "capability-gained", "additive", values));
    } else if (!isSameJson(old.params, extension.params)) {
      changes.push(
        extension.required
          ? change(steps, "extension-required", "breaking", values)
          : change(steps, "unknown-changed", "cosmetic", values),
      );
    } else if (!isSameJson(old, extension)) {
      changes.push(change(steps, "text-changed", "cosmetic", values));
    }
  });
  return changes;
}
