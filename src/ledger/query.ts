import type { LedgerQuery } from "../model/ledger.ts";
import { parseTime } from "../util/clock.ts";
import { sha256HexOfText } from "../util/hash.ts";
import { checkKind, checkOptions, type OptionKinds } from "../util/options.ts";
import { encodeKey, recordKinds } from "./codec.ts";
import type { LedgerFacets } from "./facets.ts";

/** A query whose members were checked. */
export interface ResolvedQuery {
  readonly kind: string;
  readonly cardUrl: string | undefined;
  readonly principal: string | undefined;
  readonly contextId: string | undefined;
  readonly states: readonly string[] | undefined;
  readonly fromMs: number;
  readonly beforeMs: number;
  readonly pageSize: number;
  readonly pageToken: string | undefined;
}

/** Names a record by the hash of its key: as long as any other, without odd characters, and an order to list by. */
export function recordId(key: string): string {
  // UTF-8 has no form for a lone surrogate; the escapes of JSON keep two such keys apart.
  return sha256HexOfText(encodeKey(key));
}

/** A text to compare by, as long as any other; `""` stays as it is. */
export function hashedText(text: string): string {
  return text === "" ? "" : recordId(text).slice(0, 32);
}

const maxPageSize = 1_000;
const maxStates = 50;

/** What is looked into below is `any`. A member that is misspelt would not filter. */
const kinds: OptionKinds<LedgerQuery> = Object.freeze({
  ...{ kind: "any", cardUrl: "any", principal: "any", contextId: "any", states: "any" },
  ...{ updatedAfter: "text", updatedBefore: "text", pageSize: "any", pageToken: "any" },
} as const);

/**
 * Checks a query, but for the form of its token, which is the ledger's own.
 *
 * @throws TypeError that names the member.
 */
export function checkQuery(query: LedgerQuery): void {
  checkOptions(query, kinds, "query");
  const { kind, cardUrl, principal, contextId, states, pageSize = 100, pageToken } = query;
  for (const [name, value] of Object.entries({ kind, cardUrl, principal, contextId, pageToken })) {
    if (typeof value === "string" || (value === undefined && name !== "kind")) continue;
    throw new TypeError(`${name}: found ${typeof value}, wanted a text`);
  }
  checkKind("kind", kind, recordKinds);
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > maxPageSize) {
    throw new TypeError(`pageSize: found ${pageSize}, wanted a whole number from 1 to ${maxPageSize}`);
  }
  const isText = (state: unknown) => typeof state === "string";
  if (
    states !== undefined &&
    (!Array.isArray(states) || states.length > maxStates || !states.every(isText))
  ) {
    throw new TypeError(`states: wanted a list of at most ${maxStates} texts`);
  }
  timeOf("updatedAfter", query.updatedAfter);
  timeOf("updatedBefore", query.updatedBefore);
}

/**
 * Checks a query and fills in what was left out.
 *
 * @throws TypeError that names the member.
 */
export function resolveQuery(query: LedgerQuery): ResolvedQuery {
  checkQuery(query);
  const { kind, cardUrl, principal, contextId, states, pageSize = 100, pageToken } = query;
  if (pageToken !== undefined && !/^[\da-f]{64}$/.test(pageToken)) {
    throw new TypeError("pageToken: found another text, wanted the nextPageToken of the page before");
  }
  return {
    ...{ kind, cardUrl, principal, contextId, pageSize, pageToken },
    states: states === undefined ? undefined : [...states],
    fromMs: timeOf("updatedAfter", query.updatedAfter) ?? Number.MIN_SAFE_INTEGER,
    beforeMs: timeOf("updatedBefore", query.updatedBefore) ?? Number.MAX_SAFE_INTEGER,
  };
}

function timeOf(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const time = parseTime(value);
  if (time === undefined) throw new TypeError(`${name}: found ${value}, wanted an RFC 3339 time`);
  return time;
}

/** Whether a record belongs to a query. */
export function matchesQuery(query: ResolvedQuery, facets: LedgerFacets): boolean {
  const { kind, cardUrl, principal, contextId, states, fromMs, beforeMs } = query;
  const isSame = (wanted: string | undefined, found: string) => wanted === undefined || wanted === found;
  return (
    facets.kind === kind &&
    isSame(cardUrl, facets.cardUrl) &&
    isSame(principal, facets.principal) &&
    isSame(contextId, facets.contextId) &&
    (states === undefined || states.includes(facets.state)) &&
    facets.updatedMs >= fromMs &&
    facets.updatedMs < beforeMs
  );
}
