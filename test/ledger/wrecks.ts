import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Ledger } from "a2a-lease";
import { createPostgresLedger, createSqliteLedger } from "a2a-lease/sql";
import BetterSqlite from "better-sqlite3";
import Libsql from "libsql";
import pg from "pg";
import { vi } from "vitest";
import { recordId } from "../../src/ledger/query.ts";
import { intentRecord } from "../../src/testing/ledger-records.ts";
import { startRedis } from "./redis-server.ts";
import {
  betterSqliteFault,
  freshFolder,
  freshName,
  onPostgres,
  postgresUrl,
  postgresUrlOf,
  redisUrl,
  type StoreKind,
} from "./stores.ts";

/** An open file, as both drivers have it. */
interface SqliteFile {
  prepare(statement: string): {
    readonly reader: boolean;
    get(...given: unknown[]): unknown;
    run(...given: unknown[]): unknown;
  };
  exec(statement: string): unknown;
  close(): unknown;
}

const openLibsql = (path: string) => new Libsql(path) as unknown as SqliteFile;

/** One way for a store to go wrong, and back. */
export interface Fault {
  breakIt(): Promise<void>;
  mend(): Promise<void>;
}

/** A store that can be broken. */
export interface Wreck {
  readonly ledger: Ledger;
  readonly faults: Readonly<Record<string, Fault>>;
  /** Opens the store once more. */
  reopen(): Promise<Ledger>;
  /** Replaces what is kept of a record, behind the ledger's back. */
  tamper(key: string, body: string, schema: number): Promise<void>;
  /** What is kept of a record, as it lies there. */
  body(key: string): Promise<string | undefined>;
  destroy(): Promise<void>;
}

/** A kind of store that can be broken. */
export interface WreckKind extends Pick<StoreKind, "name" | "leftOut"> {
  readonly faults: readonly string[];
  make(): Promise<Wreck>;
}

async function fill(ledger: Ledger): Promise<void> {
  // First what is large, then what is small, until not even a small record has room.
  for (const size of [20_000, 2_000, 0]) {
    for (let index = 0; index < 10_000; index++) {
      try {
        await ledger.write(`filler ${size} ${index}`, intentRecord("x".repeat(size)), 0);
      } catch {
        break;
      }
    }
  }
}

async function wreckSqlite(openFile: (path: string) => SqliteFile): Promise<Wreck> {
  const folder = freshFolder();
  const path = join(folder, "ledger.db");
  const database = openFile(path);
  const ledger = await createSqliteLedger({ database, busyTimeoutMs: 20 });
  const other = openFile(path);
  const pragma = (text: string) => {
    const statement = database.prepare(`pragma ${text}`) as {
      reader: boolean;
      get(): unknown;
      run(): unknown;
    };
    return statement.reader ? statement.get() : statement.run();
  };
  return {
    ledger,
    reopen: () => createSqliteLedger({ database: openFile(path) }),
    faults: {
      full: {
        async breakIt() {
          const { page_count: pages } = pragma("page_count") as { page_count: number };
          pragma(`max_page_count = ${pages + 4}`);
          await fill(ledger);
        },
        mend: async () => void pragma("max_page_count = 1000000"),
      },
      "read-only": {
        breakIt: async () => void pragma("query_only = 1"),
        mend: async () => void pragma("query_only = 0"),
      },
      "locked by another": {
        breakIt: async () => void other.exec("begin immediate"),
        mend: async () => void other.exec("rollback"),
      },
    },
    async tamper(key, body, schema) {
      other
        .prepare("update a2a_lease_records set body = ?, record_schema = ? where id = ?")
        .run(body, schema, recordId(key));
    },
    async body(key) {
      const row = other.prepare("select body from a2a_lease_records where id = ?").get(recordId(key));
      return (row as { body: string } | undefined)?.body;
    },
    async destroy() {
      other.close();
      await ledger.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function wreckPostgres(): Promise<Wreck> {
  const name = freshName();
  await onPostgres(`create role ${name} login`, `create schema ${name} authorization ${name}`);
  const admin = new pg.Client({ connectionString: postgresUrl });
  await admin.connect();
  const open = () => {
    const connectionString = postgresUrlOf(name);
    const pool = new pg.Pool({ connectionString, options: `-c search_path=${name}`, max: 2 });
    return createPostgresLedger({ pool });
  };
  const ledger = await open();
  const hangUp = async () => {
    await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where usename = $1", [name]);
    // What is known to be broken is taken out of the pool a moment later.
    await ledger.read("k").catch(() => {});
    await ledger.read("k").catch(() => {});
  };
  const alter = async (how: string) => {
    await admin.query(`alter role ${name} ${how}`);
    await hangUp();
  };
  const table = `${name}.a2a_lease_records`;
  return {
    ledger,
    reopen: open,
    faults: {
      full: {
        async breakIt() {
          await admin.query(`create function ${name}.full() returns trigger language plpgsql as
            $$ begin raise exception using errcode = '53100', message = 'could not extend file: No space left'; end $$`);
          await admin.query(
            `create trigger f before insert or update on ${table} execute function ${name}.full()`,
          );
        },
        mend: async () => void (await admin.query(`drop trigger f on ${table}`)),
      },
      "read-only": {
        breakIt: () => alter("set default_transaction_read_only = on"),
        mend: () => alter("reset default_transaction_read_only"),
      },
      unreachable: { breakIt: () => alter("nologin"), mend: () => alter("login") },
      slow: {
        async breakIt() {
          await admin.query("begin");
          await admin.query(`lock table ${table} in access exclusive mode`);
        },
        mend: async () => void (await admin.query("rollback")),
      },
    },
    async tamper(key, body, schema) {
      await admin.query(`update ${table} set body = $1, record_schema = $2 where id = $3`, [
        body,
        schema,
        recordId(key),
      ]);
    },
    async body(key) {
      const { rows } = await admin.query(`select body from ${table} where id = $1`, [recordId(key)]);
      return rows[0]?.body;
    },
    async destroy() {
      await ledger.close?.();
      await admin.query(`drop schema ${name} cascade`);
      await admin.query(`drop role ${name}`);
      await admin.end();
    },
  };
}

async function wreckRedis(): Promise<Wreck> {
  const server = await startRedis();
  const name = "a2a-lease";
  const place = (key: string) => `{${name}}:record:${recordId(key)}`;
  const ledger = await server.open();
  return {
    ledger,
    reopen: server.open,
    faults: {
      full: {
        breakIt: () => server.tell("CONFIG", "SET", "maxmemory", "1"),
        mend: () => server.tell("CONFIG", "SET", "maxmemory", "0"),
      },
      "read-only": {
        breakIt: () => server.tell("REPLICAOF", "127.0.0.1", "1"),
        mend: () => server.tell("REPLICAOF", "NO", "ONE"),
      },
      slow: {
        breakIt: () => server.tell("CLIENT", "PAUSE", "60000", "WRITE"),
        mend: () => server.tell("CLIENT", "UNPAUSE"),
      },
      unreachable: {
        breakIt: () => server.kill(),
        async mend() {
          await server.restart();
          // The ledger's own connection comes back by itself. A command fails at once until then: who asks again
          // without a pause leaves the event loop no turn to connect in.
          await vi.waitFor(() => ledger.read("k"), { timeout: 15_000, interval: 20 });
        },
      },
    },
    tamper: (key, body, schema) => server.tell("HSET", place(key), "body", body, "schema", `${schema}`),
    body: (key) => server.ask("HGET", place(key), "body"),
    async destroy() {
      await ledger.close?.();
      await server.stop();
    },
  };
}

const leftOut = (isThere: boolean, variable: string) =>
  isThere ? {} : { leftOut: `${variable} names no server` };

/** Every kind of store that can be broken. */
export const wreckKinds: readonly WreckKind[] = [
  // After a statement that found the file locked, libsql keeps the lock itself.
  { name: "SQLite (libsql)", faults: ["full", "read-only"], make: () => wreckSqlite(openLibsql) },
  {
    name: "SQLite (better-sqlite3)",
    faults: ["full", "read-only", "locked by another"],
    make: () => wreckSqlite((path) => new BetterSqlite(path) as unknown as SqliteFile),
    ...(betterSqliteFault === undefined ? {} : { leftOut: betterSqliteFault }),
  },
  {
    name: "PostgreSQL",
    faults: ["full", "read-only", "unreachable", "slow"],
    make: wreckPostgres,
    ...leftOut(postgresUrl !== "", "A2A_LEASE_POSTGRES_URL"),
  },
  {
    name: "Redis",
    faults: ["full", "read-only", "unreachable", "slow"],
    make: wreckRedis,
    ...leftOut(redisUrl !== "", "A2A_LEASE_REDIS_URL"),
  },
];
