import { checkOptions } from "../util/options.ts";
import { codeOf } from "./failures.ts";
import { checkFunctions, checkUrl } from "./given.ts";
import { loadPeer } from "./peer.ts";
import { createSqlLedger, type SqlLedger, type SqlOptions, sqlKinds } from "./sql.ts";

/** A pool of `pg`. */
export interface PostgresPool {
  /** Lends a connection. */
  connect(): Promise<unknown>;
  /** Closes all connections. */
  end(): Promise<unknown>;
  /** Hears of new connections, and of those that break. */
  on(event: "connect" | "error", listener: (what: unknown) => void): unknown;
}

/** Where the database is, or a pool of connections to it; one of the two. */
export interface PostgresLedgerOptions extends SqlOptions {
  /** Connection string: `postgres://user:password@host/database`. Read by `pg`, an optional package. */
  readonly url?: string;
  /** A pool instead, with its own limits. It is ended with the ledger. */
  readonly pool?: PostgresPool;
}

/**
 * Makes a ledger in a PostgreSQL database, for any number of processes on any number of machines. The pool that it
 * makes for a `url` waits 5 s for a connection and 10 s for a statement.
 *
 * @throws LedgerUnavailableError when the database can't be reached; with the reason `refused` where waiting doesn't help:
 * there is no such database or role, the password is wrong, or the role lacks rights; with the reason `peer-missing` where
 * Kysely or pg is not installed.
 * @throws TypeError naming the option for a wrong option, a `url` that is none of PostgreSQL too.
 */
export async function createPostgresLedger(options: PostgresLedgerOptions): Promise<SqlLedger> {
  checkOptions(options, { ...sqlKinds, url: "text", pool: "object" });
  const { url, pool: given, ...more } = options ?? {};
  if ((url === undefined) === (given === undefined)) {
    throw new TypeError("url, pool: wanted exactly one of the two");
  }
  if (given !== undefined) checkFunctions("pool", given, ["connect", "end", "on"], "a pool of pg");
  if (url !== undefined) checkUrl(url, ["postgres://", "postgresql://"], () => true);
  const { PostgresDialect } = await loadPeer("kysely", "~0.28", () => import("kysely"));
  const pool = given ?? (await openPool(url ?? ""));
  // A connection that breaks is replaced, and whoever used it is told; without listeners it would end the process.
  pool.on("error", () => {});
  pool.on("connect", (connection) => (connection as Pick<PostgresPool, "on">).on("error", () => {}));
  return createSqlLedger({
    ...more,
    engine: "postgres",
    dialect: new PostgresDialect({ pool: pool as never }),
  });
}

async function openPool(url: string): Promise<PostgresPool> {
  const { default: pg } = await loadPeer("pg", "^8", () => import("pg"));
  try {
    // Reads the URL and the certificates that it names, and connects to nothing.
    new pg.Client({ connectionString: url });
  } catch (error) {
    // What it says itself may repeat the password.
    const found =
      codeOf(error) === "ENOENT"
        ? "one that names a file that is not there (ENOENT)"
        : "one that can't be read";
    throw new TypeError(`url: found ${found}, wanted postgres://user:password@host/database`);
  }
  return new pg.Pool({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    query_timeout: 10_000,
    statement_timeout: 10_000,
    application_name: "a2a-lease",
  });
}
