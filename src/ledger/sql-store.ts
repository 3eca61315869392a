import { LedgerConflictError } from "../errors/ledger.ts";
import type { LedgerRecord } from "../model/record.ts";
import { deepFreeze } from "../util/freeze.ts";
import { encodeKey, encodeRecord, entriesOf, entryOf, recordSchema, wrongSchema } from "./codec.ts";
import { ledgerFacets } from "./facets.ts";
import type { LedgerStore } from "./guard.ts";
import { hashedText, type ResolvedQuery, recordId } from "./query.ts";
import { createSweeper, dropsAtMs, firstRevision, type ResolvedLedgerOptions } from "./retention.ts";
import type { SqlTools } from "./sql-schema.ts";

interface Row {
  readonly id: string;
  readonly record_key: string;
  /** PostgreSQL gives a bigint as a text. */
  readonly revision: number | string;
  readonly body: string;
}

/** Most records that one statement drops. */
const pruneBatch = 500;

/** A ledger's statements. Each call is one of them, or one that changes and one that tells why nothing changed. */
export function createSqlStore({ sql, database }: SqlTools, options: ResolvedLedgerOptions): LedgerStore {
  const { retentionMs, clock, random } = options;
  const table = sql.raw("a2a_lease_records");
  const stored = (row: Row) => ({ key: row.record_key, revision: Number(row.revision), body: row.body });

  async function prune(): Promise<number> {
    let dropped = 0;
    for (;;) {
      const { numAffectedRows } = await sql`
        delete from ${table} where id in (
          select id from ${table} where drops_ms <= ${clock.now()} limit ${sql.lit(pruneBatch)}
        )`.execute(database);
      dropped += Number(numAffectedRows ?? 0);
      if (Number(numAffectedRows ?? 0) < pruneBatch) return dropped;
    }
  }
  const sweep = createSweeper(clock, prune);

  /** Writes in one statement; gives the new revision, or nothing when the record is not as it was expected. */
  async function put(key: string, record: LedgerRecord, expected: number): Promise<number | undefined> {
    const facets = ledgerFacets(record);
    const agent = hashedText(facets.cardUrl);
    const principal = hashedText(facets.principal);
    const context = hashedText(facets.contextId);
    const drops = dropsAtMs(facets, retentionMs) ?? null;
    const state = encodeKey(facets.state);
    const body = encodeRecord(record);
    const { kind, updatedMs } = facets;
    const id = recordId(key);
    const { rows } = await (expected === 0
      ? sql<Row>`
          insert into ${table} (id, record_key, revision, record_schema, kind, agent, principal, context, state,
            updated_ms, drops_ms, body)
          values (${id}, ${encodeKey(key)}, ${firstRevision(random)}, ${record.schema}, ${kind}, ${agent},
            ${principal}, ${context}, ${state}, ${updatedMs}, ${drops}, ${body})
          on conflict (id) do nothing returning revision`
      : sql<Row>`
          update ${table} set revision = revision + 1, record_schema = ${record.schema}, kind = ${kind},
            agent = ${agent}, principal = ${principal}, context = ${context}, state = ${state},
            updated_ms = ${updatedMs}, drops_ms = ${drops}, body = ${body}
          where id = ${id} and revision = ${expected} and record_schema <= ${sql.lit(recordSchema)}
          returning revision`
    ).execute(database);
    return rows[0] === undefined ? undefined : Number(rows[0].revision);
  }

  /** Tells why a record was not as it was expected. */
  async function refusal(key: string, expected: number): Promise<Error> {
    const { rows } = await sql<Pick<Row, "revision"> & { record_schema: number }>`
      select revision, record_schema from ${table} where id = ${recordId(key)}`.execute(database);
    const schema = Number(rows[0]?.record_schema ?? recordSchema);
    if (schema > recordSchema) return wrongSchema(schema);
    return new LedgerConflictError(key, `found revision ${rows[0]?.revision ?? 0}, wanted ${expected}`);
  }

  function conditionsOf(query: ResolvedQuery) {
    const { kind, cardUrl, principal, contextId, states, fromMs, beforeMs, pageToken } = query;
    const conditions = [sql`kind = ${kind}`, sql`updated_ms >= ${fromMs}`, sql`updated_ms < ${beforeMs}`];
    if (cardUrl !== undefined) conditions.push(sql`agent = ${hashedText(cardUrl)}`);
    if (principal !== undefined) conditions.push(sql`principal = ${hashedText(principal)}`);
    if (contextId !== undefined) conditions.push(sql`context = ${hashedText(contextId)}`);
    if (pageToken !== undefined) conditions.push(sql`id > ${pageToken}`);
    const wanted = states?.map((state) => sql`${encodeKey(state)}`);
    if (wanted) conditions.push(wanted.length === 0 ? sql`1 = 0` : sql`state in (${sql.join(wanted)})`);
    return sql.join(conditions, sql` and `);
  }

  return {
    async read(key) {
      const { rows } = await sql<Row>`
        select id, record_key, revision, body from ${table} where id = ${recordId(key)}`.execute(database);
      return rows[0] === undefined ? undefined : entryOf(key, stored(rows[0]));
    },
    async write(key, record, expectedRevision) {
      const revision = await put(key, record, expectedRevision);
      if (revision === undefined) throw await refusal(key, expectedRevision);
      await sweep();
      return Object.freeze({ key, revision, record: deepFreeze(record) });
    },
    async remove(key) {
      await sql`delete from ${table} where id = ${recordId(key)}`.execute(database);
    },
    async list(query) {
      const { pageSize } = query;
      const { rows } = await sql<Row>`
        select id, record_key, revision, body from ${table}
        where ${conditionsOf(query)} order by id limit ${sql.lit(pageSize + 1)}`.execute(database);
      const last = rows.length > pageSize ? rows[pageSize - 1]?.id : undefined;
      const page = entriesOf(rows.slice(0, pageSize).map(stored));
      return Object.freeze({ ...page, ...(last === undefined ? {} : { nextPageToken: last }) });
    },
    prune,
    close: () => database.destroy(),
  };
}
