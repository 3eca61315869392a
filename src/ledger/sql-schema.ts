import type { Kysely, RawBuilder, sql as Sql } from "kysely";
import { wrongSchema } from "./codec.ts";

/** Which database it is, where that matters. */
export type SqlEngine = "sqlite" | "postgres";

/** A database without typed tables: every statement of a ledger is written out. */
export type Database = Kysely<unknown>;

/** What a ledger needs of Kysely's module. */
export interface SqlTools {
  readonly sql: typeof Sql;
  readonly database: Database;
  readonly engine: SqlEngine;
}

/** Any number that no other program is likely to lock. */
const lockNumber = 4_202_611;

/** What each version of the tables adds to the one before. Every statement may run twice. */
const migrations: readonly (readonly string[])[] = [
  [
    `create table if not exists a2a_lease_records (
      id varchar(64) primary key,
      record_key text not null,
      revision bigint not null,
      record_schema integer not null,
      kind text not null,
      agent text not null,
      principal text not null,
      context text not null,
      state text not null,
      updated_ms bigint not null,
      drops_ms bigint,
      body text not null
    )`,
    "create index if not exists a2a_lease_by_kind on a2a_lease_records (kind, id)",
    "create index if not exists a2a_lease_by_agent on a2a_lease_records (kind, agent, id)",
    "create index if not exists a2a_lease_by_drop on a2a_lease_records (drops_ms)",
  ],
];

/**
 * Brings the tables up to date. Idempotent, and safe when several processes start at once. Tables that are up to date are
 * only read: who uses them need not be one who may make them.
 *
 * @throws LedgerUnavailableError with the reason `schema` when a newer version of this library made them.
 */
export async function migrateTables(tools: SqlTools): Promise<void> {
  const { sql, database, engine } = tools;
  if ((await findVersion(tools)) === migrations.length) return;
  if (engine === "sqlite") return migrateWithin(tools, database);
  await database.transaction().execute(async (transaction) => {
    // PostgreSQL's "if not exists" fails when two do it at once.
    await sql`select pg_advisory_xact_lock(${sql.lit(lockNumber)})`.execute(transaction);
    await migrateWithin(tools, transaction);
  });
}

/** The version of the tables, `undefined` where there are none. Looks before it asks, since asking would fail. */
async function findVersion({ sql, database, engine }: SqlTools): Promise<number | undefined> {
  const look =
    engine === "sqlite"
      ? sql`select 1 from sqlite_master where type = 'table' and name = 'a2a_lease_schema'`
      : sql`select 1 where to_regclass('a2a_lease_schema') is not null`;
  const { rows } = await look.execute(database);
  return rows.length === 0 ? undefined : readVersion(sql, database);
}

async function readVersion(sql: SqlTools["sql"], database: Database): Promise<number> {
  const { rows } = await sql<{
    version: number;
  }>`select version from a2a_lease_schema where id = 1`.execute(database);
  const version = Number(rows[0]?.version ?? 0);
  if (version > migrations.length) throw wrongSchema(version);
  return version;
}

async function migrateWithin({ sql }: SqlTools, database: Database): Promise<void> {
  const run = (statement: RawBuilder<unknown>) => statement.execute(database);
  await run(
    sql`create table if not exists a2a_lease_schema (id integer primary key, version integer not null)`,
  );
  await run(sql`insert into a2a_lease_schema (id, version) values (1, 0) on conflict (id) do nothing`);
  const version = await readVersion(sql, database);
  for (const statement of migrations.slice(version).flat()) await run(sql.raw(statement));
  await run(
    sql`update a2a_lease_schema set version = ${sql.lit(migrations.length)}
      where id = 1 and version < ${sql.lit(migrations.length)}`,
  );
}
