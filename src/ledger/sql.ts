import { checkOptions, type OptionKinds } from "../util/options.ts";
import { checkFunctions } from "./given.ts";
import { createGuard, guardLedger } from "./guard.ts";
import type { Ledger } from "./ledger.ts";
import { loadPeer } from "./peer.ts";
import { resolveLedgerOptions, type SharedLedgerOptions, sharedLedgerKinds } from "./retention.ts";
import { diagnosePostgres, diagnoseSqlite } from "./sql-failures.ts";
import { migrateTables, type SqlEngine, type SqlTools } from "./sql-schema.ts";
import { createSqlStore } from "./sql-store.ts";

/** What the options of all SQL ledgers have in common. */
export interface SqlOptions extends SharedLedgerOptions {
  /**
   * Whether the tables are brought up to date when the ledger is made. Tables that are up to date are only read for that.
   * Where there are none yet and the role may not make them, call `migrate()` once with one that may.
   *
   * @default true
   */
  readonly migrate?: boolean;
}

/** What each option of any SQL ledger has to be. */
export const sqlKinds: OptionKinds<SqlOptions> = Object.freeze({ ...sharedLedgerKinds, migrate: "flag" });

/** A dialect of Kysely, as `new SqliteDialect(…)` or `new PostgresDialect(…)` make one. */
export interface SqlDialect {
  /** Makes what differs between databases. */
  createAdapter(): unknown;
  /** Makes what speaks to the database. */
  createDriver(): unknown;
  /** Makes what writes statements. */
  createQueryCompiler(): unknown;
  /** Makes what reads the tables' definitions. */
  createIntrospector(database: never): unknown;
}

/** Where the records are. */
export interface SqlLedgerOptions extends SqlOptions {
  /** Kysely's way to the database. Its connections are closed with the ledger. */
  readonly dialect: SqlDialect;
  /** Which database it is. */
  readonly engine: SqlEngine;
}

/** A ledger in an SQL database. */
export interface SqlLedger extends Ledger {
  /** Brings the tables up to date. Idempotent, and safe when several processes do it at once. */
  migrate(): Promise<void>;
  /** Lets go of connections and files. */
  close(): Promise<void>;
}

/**
 * Makes a ledger from one of Kysely's dialects; `createSqliteLedger` and `createPostgresLedger` are the short way.
 *
 * @throws LedgerUnavailableError when the database can't be reached, with the reason `refused` where it never will be, or
 * Kysely is not installed.
 * @throws TypeError naming the option for a wrong option.
 */
export async function createSqlLedger(options: SqlLedgerOptions): Promise<SqlLedger> {
  checkOptions(options, { ...sqlKinds, dialect: "object", engine: "any" });
  const { dialect, engine, migrate = true } = options ?? {};
  if (dialect === undefined) throw new TypeError("dialect: found undefined, wanted a dialect of Kysely");
  if (engine !== "sqlite" && engine !== "postgres") {
    throw new TypeError(`engine: found ${engine}, wanted sqlite or postgres`);
  }
  const makers = ["createAdapter", "createDriver", "createQueryCompiler", "createIntrospector"];
  checkFunctions("dialect", dialect, makers, "a dialect of Kysely");
  const resolved = resolveLedgerOptions(options);
  const { Kysely, sql } = await loadPeer("kysely", "~0.28", () => import("kysely"));
  const database = new Kysely<unknown>({ dialect: dialect as never });
  const tools: SqlTools = { sql, database, engine };
  const guard = createGuard(engine === "sqlite" ? diagnoseSqlite : diagnosePostgres);
  const ledger: SqlLedger = {
    ...guardLedger(createSqlStore(tools, resolved), guard),
    shared: true,
    migrate: () => guard.run("bring its tables up to date", () => migrateTables(tools)),
  };
  try {
    if (migrate) await ledger.migrate();
  } catch (error) {
    await ledger.close().catch(() => {});
    throw error;
  }
  return ledger;
}
