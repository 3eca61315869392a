import { LedgerUnavailableError } from "../errors/ledger.ts";
import type { UnreadableRecord } from "../model/ledger.ts";
import type { LedgerEntry, LedgerRecord } from "../model/record.ts";
import { deepFreeze, isRecord } from "../util/freeze.ts";
import { redactText } from "../util/redact.ts";

/** Version of the records that this library reads and writes. */
export const recordSchema = 1;

/** Most bytes of one record, as UTF-8 of its JSON: 128 MiB, twice what an answer of an agent may have. */
const maxRecordBytes = 128 * 1024 * 1024;

/** Every kind of record. */
export const recordKinds: readonly string[] = Object.freeze([
  "task",
  "intent",
  "trust",
  "lease",
  "push",
  "inbox",
] satisfies LedgerRecord["kind"][]);

/**
 * A record as the JSON text that a store keeps. JSON writes NUL and lone surrogates as escapes, so that any store of
 * texts can hold it.
 *
 * @throws LedgerUnavailableError for one of more than 128 MiB.
 */
export function encodeRecord(record: LedgerRecord): string {
  const text = JSON.stringify(record);
  // No character has more than three bytes a code unit.
  const bytes = text.length * 3 <= maxRecordBytes ? text.length : new TextEncoder().encode(text).length;
  if (bytes > maxRecordBytes) {
    const found = `found a record of ${bytes} bytes, wanted ${maxRecordBytes} at most`;
    throw new LedgerUnavailableError("write a record", found, { reason: "too-large" });
  }
  return text;
}

/**
 * Reads what {@link encodeRecord} wrote, and freezes it.
 *
 * @throws LedgerUnavailableError with the reason `schema` or `corrupt`.
 */
function decodeRecord(text: string): LedgerRecord {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw corrupt("found what is no JSON, wanted a record");
  }
  return deepFreeze(checkRecord(value));
}

/**
 * Checks that something is a record that can be gone on with.
 *
 * @throws LedgerUnavailableError with the reason `schema` or `corrupt`.
 */
export function checkRecord(value: unknown): LedgerRecord {
  if (!isRecord(value)) throw corrupt("found no object, wanted a record");
  const { kind, schema } = value;
  if (typeof schema === "number" && schema !== recordSchema) throw wrongSchema(schema);
  if (schema !== recordSchema || !recordKinds.includes(String(kind)) || !hasMembers(value)) {
    throw corrupt("found a record of another shape, wanted one of schema 1");
  }
  return value as unknown as LedgerRecord;
}

/** The error for a record of another schema. */
export function wrongSchema(found: number): LedgerUnavailableError {
  const message = `found a record of schema ${found}, wanted ${recordSchema}: another version of this library wrote it`;
  return new LedgerUnavailableError("use a record", message, {
    reason: "schema",
    foundSchema: found,
    wantedSchema: recordSchema,
  });
}

function corrupt(message: string): LedgerUnavailableError {
  return new LedgerUnavailableError("read a record", message, { reason: "corrupt" });
}

/** What each kind of record can't do without. */
function hasMembers(record: Readonly<Record<string, unknown>>): boolean {
  if (typeof record.updatedAt !== "string") return false;
  if (record.kind === "trust") return typeof record.callee === "string" && Array.isArray(record.history);
  if (record.kind === "lease") return typeof record.cardUrl === "string";
  if (record.kind === "push") return typeof record.fingerprint === "string" && Array.isArray(record.via);
  if (record.kind === "inbox") return Array.isArray(record.observations) && Array.isArray(record.configs);
  const isPinned = isRecord(record.pin) && typeof record.pin.digest === "string";
  if (record.kind === "intent") return isPinned && typeof record.messageId === "string";
  const { memory } = record;
  return (
    isPinned && typeof record.taskId === "string" && isRecord(memory) && Array.isArray(memory.observations)
  );
}

/** One row of a store, as it was read. */
export interface StoredRow {
  /** {@link encodeKey} of the key. */
  readonly key: string;
  readonly revision: number;
  readonly body: string;
}

/** A key as a text without NUL and lone surrogates, which not every store can hold. */
export function encodeKey(key: string): string {
  return JSON.stringify(key).slice(1, -1);
}

/** Reads what {@link encodeKey} wrote. */
function decodeKey(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    throw corrupt("found a key that is no text, wanted one");
  }
}

/** An entry from a row. Throws as {@link decodeRecord} does. */
export function entryOf(key: string, { revision, body }: StoredRow): LedgerEntry {
  if (!Number.isSafeInteger(revision) || revision < 1) throw corrupt(`found revision ${revision}`);
  return Object.freeze({ key, revision, record: decodeRecord(body) });
}

/** Entries from rows; the rows that can't be read are told of beside them. */
export function entriesOf(rows: readonly StoredRow[]): {
  readonly entries: readonly LedgerEntry[];
  readonly unreadable: readonly UnreadableRecord[];
} {
  const entries: LedgerEntry[] = [];
  const unreadable: UnreadableRecord[] = [];
  for (const row of rows) {
    try {
      entries.push(entryOf(decodeKey(row.key), row));
    } catch (error) {
      if (!(error instanceof LedgerUnavailableError)) throw error;
      const { message, foundSchema } = error;
      const about = foundSchema === undefined ? {} : { foundSchema };
      unreadable.push(Object.freeze({ key: redactText(row.key), message, ...about }));
    }
  }
  return { entries: Object.freeze(entries), unreadable: Object.freeze(unreadable) };
}
