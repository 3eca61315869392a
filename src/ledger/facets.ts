import type { LedgerRecord } from "../model/record.ts";
import { isTerminalState } from "../model/states.ts";
import { parseTime } from "../util/clock.ts";

/** What a ledger needs to know of a record to list it and to let it go. */
export interface LedgerFacets {
  /** Kind of the record. */
  readonly kind: LedgerRecord["kind"];
  /** Agent, `""` for none. */
  readonly cardUrl: string;
  /** On whose behalf, `""` for none. */
  readonly principal: string;
  /** Context, `""` for none. */
  readonly contextId: string;
  /** State of the task or intent, or level of trust; `""` for none. */
  readonly state: string;
  /** When it was last written, in milliseconds since the Unix epoch. */
  readonly updatedMs: number;
  /** Whether it may be dropped once it was kept long enough. */
  readonly isSettled: boolean;
}

const text = (value: unknown) => (typeof value === "string" ? value : "");

/** Says what a record is listed by, and whether it may be dropped one day: all that a ledger has to know of it. */
export function ledgerFacets(record: LedgerRecord): LedgerFacets {
  // Kinds share their members' names, and not every kind has every member.
  const members = record as unknown as Readonly<Record<string, unknown>>;
  return {
    kind: record.kind,
    cardUrl: text(members.cardUrl),
    principal: text(members.principal),
    contextId: text(members.contextId),
    state: stateOf(record),
    updatedMs: parseTime(record.updatedAt) ?? 0,
    isSettled: isSettled(record),
  };
}

function stateOf(record: LedgerRecord): string {
  switch (record.kind) {
    case "task":
      return record.task?.status.state ?? "";
    case "intent":
      return record.state;
    case "trust":
      return record.level;
    default:
      return "";
  }
}

function isSettled(record: LedgerRecord): boolean {
  switch (record.kind) {
    case "task":
      return record.task !== undefined && isTerminalState(record.task.status.state);
    case "intent":
      return record.state === "answered" || record.state === "refused";
    case "push":
      return record.isOver === true;
    case "inbox":
      return record.observations.some(({ state }) => isTerminalState(state));
    // Nobody takes a lease for as long as records are kept.
    case "lease":
      return true;
    default:
      return false;
  }
}
