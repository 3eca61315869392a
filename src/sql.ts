/**
 * `a2a-lease/sql`: ledgers that processes share in SQLite or PostgreSQL, through Kysely.
 *
 * @packageDocumentation
 */
export { createPostgresLedger, type PostgresLedgerOptions, type PostgresPool } from "./ledger/postgres.ts";
export type { SharedLedgerOptions } from "./ledger/retention.ts";
export {
  createSqlLedger,
  type SqlDialect,
  type SqlLedger,
  type SqlLedgerOptions,
  type SqlOptions,
} from "./ledger/sql.ts";
export type { SqlEngine } from "./ledger/sql-schema.ts";
export { createSqliteLedger, type SqliteDatabase, type SqliteLedgerOptions } from "./ledger/sqlite.ts";
