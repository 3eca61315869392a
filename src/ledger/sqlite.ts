import type { LedgerUnavailableError } from "../errors/ledger.ts";
import { checkOptions } from "../util/options.ts";
import { ledgerFailure } from "./failures.ts";
import { checkFunctions } from "./given.ts";
import { loadPeer } from "./peer.ts";
import { createSqlLedger, type SqlLedger, type SqlOptions, sqlKinds } from "./sql.ts";
import { diagnoseSqlite } from "./sql-failures.ts";

/** An open database of `better-sqlite3`, or of a package that speaks like it. */
export interface SqliteDatabase {
  /** Prepares a statement. */
  prepare(statement: string): unknown;
  /** Closes the file. */
  close(): unknown;
}

/** Where the file is, or an open database; one of the two. */
export interface SqliteLedgerOptions extends SqlOptions {
  /** Path of the file, which is made where there is none. Opened by `better-sqlite3`, an optional package. */
  readonly path?: string;
  /** An open database instead. It is closed with the ledger. */
  readonly database?: SqliteDatabase;
  /**
   * How long a statement waits for another process that is writing, in milliseconds. The thread stands still meanwhile.
   *
   * @default 5000
   */
  readonly busyTimeoutMs?: number;
}

/**
 * Makes a ledger in a file of SQLite, which several processes of one machine may share. It is in WAL mode, and what was
 * written is on the disk when `write` resolves.
 *
 * @throws LedgerUnavailableError when the file can't be opened; with the reason `path` where it never will be: the folder
 * is not there, the path is that of a folder or of another kind of file, or nobody may write; with the reason `closed`
 * for a `database` that is not open; with the reason `peer-missing` where Kysely or better-sqlite3 is not installed.
 * @throws TypeError naming the option for a wrong option.
 */
export async function createSqliteLedger(options: SqliteLedgerOptions): Promise<SqlLedger> {
  checkOptions(options, { ...sqlKinds, path: "any", database: "object", busyTimeoutMs: "any" });
  const { path, database: given, busyTimeoutMs = 5_000, ...more } = options ?? {};
  if ((path === undefined) === (given === undefined)) {
    throw new TypeError("path, database: wanted exactly one of the two");
  }
  if (given !== undefined) {
    checkFunctions("database", given, ["prepare", "close"], "an open database of better-sqlite3");
  }
  if (path !== undefined && (typeof path !== "string" || path === "")) {
    // An empty path is a database that is gone with its connection.
    throw new TypeError(`path: found ${JSON.stringify(path)}, wanted the path of a file`);
  }
  if (!Number.isInteger(busyTimeoutMs) || busyTimeoutMs < 0) {
    throw new TypeError(`busyTimeoutMs: found ${busyTimeoutMs}, wanted a whole number of at least 0`);
  }
  const { SqliteDialect } = await loadPeer("kysely", "~0.28", () => import("kysely"));
  const database = given ?? (await openFile(path ?? ""));
  try {
    for (const setting of [
      `busy_timeout = ${busyTimeoutMs}`,
      "journal_mode = WAL",
      // An intent is worth nothing if a power cut takes it back.
      "synchronous = FULL",
    ]) {
      const statement = database.prepare(`pragma ${setting}`) as {
        get(): unknown;
        run(): unknown;
        reader: boolean;
      };
      if (statement.reader) statement.get();
      else statement.run();
    }
  } catch (error) {
    if (given === undefined) database.close();
    throw openFailure(given === undefined ? "file" : "database", error);
  }
  return createSqlLedger({
    ...more,
    engine: "sqlite",
    dialect: new SqliteDialect({ database: database as never }),
  });
}

async function openFile(path: string): Promise<SqliteDatabase> {
  const { default: Database } = await loadPeer("better-sqlite3", "~12", async () => {
    const peer = await import("better-sqlite3");
    // Its binary is looked for when a database is opened, and not when the package is.
    new peer.default(":memory:").close();
    return peer;
  });
  try {
    return new Database(path);
  } catch (error) {
    throw openFailure("file", error);
  }
}

/** The error for a file that can't be opened, or for what was handed in open. */
function openFailure(what: string, error: unknown): LedgerUnavailableError {
  return ledgerFailure(`open its ${what}`, error, (thrown) => {
    // Without a code: better-sqlite3 looks for the folder itself.
    const isFolderMissing = what === "file" && thrown instanceof TypeError;
    return diagnoseSqlite(isFolderMissing ? { code: "SQLITE_CANTOPEN" } : thrown);
  });
}
