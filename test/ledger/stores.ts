import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryLedger } from "a2a-lease";
import { createRedisLedger } from "a2a-lease/redis";
import { createPostgresLedger, createSqliteLedger, type SqliteDatabase } from "a2a-lease/sql";
import type { LedgerFactory } from "a2a-lease/testing";
import BetterSqlite from "better-sqlite3";
import Libsql from "libsql";
import pg from "pg";

/** Where the servers are; `.ci/run` starts them and says so. */
export const postgresUrl = process.env.A2A_LEASE_POSTGRES_URL ?? "";
export const redisUrl = process.env.A2A_LEASE_REDIS_URL ?? "";

function findBetterSqliteFault(): string | undefined {
  try {
    new BetterSqlite(":memory:").close();
    return undefined;
  } catch {
    return "its binary was not built";
  }
}

/** Why better-sqlite3 can't be used here, if it can't. */
export const betterSqliteFault = findBetterSqliteFault();

/** One kind of store, and why it can't be tested here. */
export interface StoreKind {
  readonly name: string;
  readonly factory: LedgerFactory;
  /** Why it is left out; absent when it is not. */
  readonly leftOut?: string;
}

let count = 0;
/** A name that no other store of any test process has. */
export const freshName = () => `t${process.pid}x${count++}`;

/** A new folder for the files of a test. */
export const freshFolder = () => mkdtempSync(join(tmpdir(), "a2a-lease-ledger-"));

/** Opens a file of SQLite with the driver whose binary is part of its package. */
export function openSqlite(path: string): SqliteDatabase {
  return new Libsql(path) as unknown as SqliteDatabase;
}

const memory: LedgerFactory = (options) => {
  const ledger = createMemoryLedger(options);
  return { open: () => ledger };
};

const sqlite =
  (where: (path: string) => { path: string } | { database: SqliteDatabase }): LedgerFactory =>
  (options) => {
    const folder = freshFolder();
    return {
      open: () => createSqliteLedger({ ...options, ...where(join(folder, "ledger.db")) }),
      destroy: () => rmSync(folder, { recursive: true, force: true }),
    };
  };

/** Runs statements on the PostgreSQL server. */
export async function onPostgres(...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** The server's URL with another user; one that is in it already would win over options of a pool. */
export const postgresUrlOf = (user: string) =>
  postgresUrl.replace(/([?&]user=)\w+/, `$1${user}`).replace(/\/\/\w+@/, `//${user}@`);

/** A pool of connections that see one schema of the server. */
export const poolOn = (schema: string) =>
  new pg.Pool({ connectionString: postgresUrl, options: `-c search_path=${schema}`, max: 5 });

const postgres: LedgerFactory = async (options) => {
  const schema = freshName();
  await onPostgres(`create schema ${schema}`);
  return {
    open: () => createPostgresLedger({ ...options, pool: poolOn(schema) }),
    destroy: () => onPostgres(`drop schema ${schema} cascade`),
  };
};

const redis: LedgerFactory = (options) => {
  const name = freshName();
  return { open: () => createRedisLedger({ ...options, url: redisUrl, name }) };
};

const leftOut = (reason: string | undefined) => (reason === undefined ? {} : { leftOut: reason });

/** Every kind of store that the library has. */
export const storeKinds: readonly StoreKind[] = [
  { name: "memory", factory: memory },
  { name: "SQLite (libsql)", factory: sqlite((path) => ({ database: openSqlite(path) })) },
  {
    name: "SQLite (better-sqlite3)",
    factory: sqlite((path) => ({ path })),
    ...leftOut(betterSqliteFault),
  },
  {
    name: "PostgreSQL",
    factory: postgres,
    ...leftOut(postgresUrl === "" ? "A2A_LEASE_POSTGRES_URL names no server" : undefined),
  },
  {
    name: "Redis",
    factory: redis,
    ...leftOut(redisUrl === "" ? "A2A_LEASE_REDIS_URL names no server" : undefined),
  },
];
